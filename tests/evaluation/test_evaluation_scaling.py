"""Choosing among samples, and what it brings over k."""

import json

import pytest

from demur.evaluation.asking.base import Output, RequestId
from demur.evaluation.datasets import Question
from demur.evaluation.grade import Graded
from demur.evaluation.judging.graders import Verdict
from demur.evaluation.row_files import read_rows
from demur.evaluation.rows import Row
from demur.evaluation.scaling import chosen_rows, scale


def sample(problem, number, answer, stated, gold="1", critic=None):
    confidence = stated if critic is None else critic
    output = Output(answer, confidence, "missing" if confidence is None else "value", "", stated=stated)
    correct = None if gold is None else answer == gold
    question = Question(problem, "?", (gold or "",))
    return Graded(RequestId(problem, number, None), question, output, Verdict(correct), group=answer)


THREE = [sample("a", 0, "1", 0.9), sample("a", 1, "2", 0.6), sample("a", 2, "2", 0.7)]


@pytest.mark.parametrize(("rule", "correct", "confidence"), [("maxconf", True, 0.9), ("majconf", False, 0.7)])
def test_the_chosen_sample_becomes_the_row(rule, correct, confidence):
    assert chosen_rows(THREE, rule) == [Row("a", 0, confidence, correct)]


def test_samples_without_an_answer_choose_nothing():
    nothing = [sample("a", 0, None, None), sample("a", 1, None, None)]
    assert chosen_rows(nothing, "majconf") == [Row("a", 0, None, False, state="missing")]


def test_curves_are_expected_values_over_subsets():
    scaling = scale([*THREE, *(sample("b", k, "1", 0.5) for k in range(3))])
    assert (scaling.k, scaling.problems, scaling.left_out, scaling.exact) == ((1, 2, 3), 2, 0, True)
    curves = scaling.curves["verbalized"]
    assert curves["Mean@k"].value == pytest.approx([(1 / 3 + 1) / 2] * 3)
    assert curves["Best@k"].value == pytest.approx([(1 / 3 + 1) / 2, (2 / 3 + 1) / 2, 1])
    assert curves["Maxconf@k"].value == pytest.approx([(1 / 3 + 1) / 2, (2 / 3 + 1) / 2, 1])
    assert curves["Majority@k"].value[-1] == pytest.approx(0.5)
    assert set(scaling.curves) == {"verbalized"}
    assert all((band.low <= band.value).all() and (band.value <= band.high).all() for band in curves.values())


def test_a_critic_gets_curves_of_its_own():
    critic = [sample("a", 0, "1", 0.1, critic=0.9), sample("a", 1, "2", 0.8, critic=0.2)]
    scaling = scale(critic)
    assert scaling.curves["verbalized"]["Maxconf@k"].value[-1] == 0
    assert scaling.curves["critic"]["Maxconf@k"].value[-1] == 1


def test_problems_without_all_samples_or_grades_are_left_out():
    scaling = scale([*THREE, sample("b", 0, "1", 0.5), *(sample("c", k, "1", 0.5, gold=None) for k in range(3))])
    assert (scaling.problems, scaling.left_out) == (1, 2)
    assert scale([sample("a", 0, "1", 0.5)]) is None
    assert scale([]) is None


@pytest.fixture
def evaluate(demur, host, sums, tmp_path):
    def answer(k, body):
        wrong = (k + body["seed"]) % 3 == 0
        return f"Answer: {2 * k + (body['seed'] if wrong else 0)}\nConfidence: {0.2 if wrong else 0.9}"

    host.answer = answer

    def run(*options):
        where = ("--base-url", host.url, "--out", tmp_path / "run", "--seed", "1", "--grader", "maths")
        return demur("evaluate", sums(9), "--api", "chat", "--model", "m", *where, *options)

    return run


def test_a_run_with_samples_reports_scaling(evaluate, tmp_path):
    result = evaluate("--samples", "4")
    assert result.exit_code == 0, result.output
    assert "Majconf@k" in result.output
    scaling = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))["scaling"]
    assert scaling["k"] == [1, 2, 4]
    assert scaling["curves"]["verbalized"]["Maxconf@k"][-1]["value"] == 1
    assert "Test-time scaling" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_selection_scores_one_answer_a_question(evaluate, tmp_path):
    result = evaluate("--samples", "3", "--selection", "majconf")
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "run" / "rows.jsonl").rows
    assert len(rows) == 9
    assert all(row.correct and row.confidence == 0.9 for row in rows)
