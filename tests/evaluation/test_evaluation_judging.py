"""Judges and graders: what they are told, what they may answer, and what happens when they do not."""

import asyncio
import json

import pytest

from demur.core.answers import Claim
from demur.evaluation.asking.base import Output
from demur.evaluation.asking.store import Store, read_records
from demur.evaluation.datasets import Question
from demur.evaluation.judging import claims, simpleqa
from demur.evaluation.judging.formulas import Formulas
from demur.evaluation.judging.graders import Aliases, Maths
from demur.evaluation.judging.judge import Malformed
from demur.evaluation.judging.labels import agreement
from demur.evaluation.row_files import read_rows
from demur.evaluation.rows import Row


@pytest.mark.parametrize(
    ("content", "grade"),
    [
        ("CORRECT", "CORRECT"),
        ("incorrect.", "INCORRECT"),
        ("**NOT_ATTEMPTED**", "NOT_ATTEMPTED"),
        ("The grade is not attempted", "NOT_ATTEMPTED"),
        ("### Grade\nCORRECT", "CORRECT"),
        ("**Grade:** CORRECT", "CORRECT"),
        ('{"grade": "NOT_ATTEMPTED"}', "NOT_ATTEMPTED"),
        ("It could be CORRECT or INCORRECT.\n\nGrade: INCORRECT\n", "INCORRECT"),
    ],
)
def test_grades_are_read(content, grade):
    assert simpleqa.parse(content) == grade


@pytest.mark.parametrize(
    "content",
    [
        "",
        "I cannot help with that.",
        "A",
        "CORRECT or INCORRECT",
        "CORRECT\nINCORRECT",
        "uncorrected",
        "I'm sorry, I cannot determine whether this is correct.",
        "This is not correct.",
        "The answer isn't correct",
        "The answer is not correct",
        "Not correct",
        "Correct?",
    ],
)
def test_what_is_no_grade_is_malformed(content):
    with pytest.raises(Malformed):
        simpleqa.parse(content)


STEPS = [Claim("1+1=2", (0, 5), 0.9, "sure"), Claim("so 3", (6, 10), 0.2, "a guess")]


def test_the_claim_judge_does_not_see_confidences_unless_asked():
    hidden, shown = (claims.case("Why?", STEPS, "3", False, with_confidence=seen) for seen in (False, True))
    assert "0.9" not in hidden.messages[-1]["content"]
    assert "sure" not in hidden.messages[-1]["content"]
    told = json.loads(hidden.messages[-1]["content"])
    assert [step["text"] for step in told["steps"]] == ["1+1=2", "so 3"]
    assert (told["problem"], told["final_answer"], told["final_answer_is_right"]) == ("Why?", "3", False)
    assert json.loads(shown.messages[-1]["content"])["steps"][0]["stated_confidence"] == 0.9


def test_claim_verdicts_are_read_out_of_a_fence():
    verdicts = {"steps": [{"step": 1, "correct": True, "why": "{x}"}, {"step": 2, "correct": 0}]}
    assert claims.parse(f"Here:\n```json\n{json.dumps(verdicts)}\n```", 2) == [True, False]


@pytest.mark.parametrize(
    "content",
    [
        "I will not.",
        '{"steps": [{"step": 1, "correct": true}]}',
        '{"steps": [{"step": 2, "correct": true}, {"step": 1, "correct": true}]}',
        '{"steps": [{"step": 1, "correct": "yes"}, {"step": 2, "correct": true}]}',
        '{"steps": {"step": 1}}',
        '{"verdicts": []}',
    ],
)
def test_what_judges_not_every_step_is_malformed(content):
    with pytest.raises(Malformed):
        claims.parse(content, 2)


def graded(grader_class, answer, *gold):
    with Formulas() as formulas:
        output = Output(answer, 0.5, "value", "")
        return asyncio.run(grader_class(formulas).grade(Question("q", "?", gold), output)).correct


def test_maths_compares_by_value():
    assert graded(Maths, "1,000", "1000")
    assert graded(Maths, r"\frac{1}{2}", "0.5")
    assert graded(Maths, r"\frac{\sqrt{8}}{2}", r"\sqrt{2}")
    assert not graded(Maths, "12", "13")
    assert graded(Maths, None, "13") is False


def test_aliases_accept_any_spelling():
    assert graded(Aliases, "The Beatles!", "Fab Four", "Beatles")
    assert graded(Aliases, "a rolling stone", "Rolling Stone")
    assert not graded(Aliases, "Rolling Stones", "Beatles")
    assert graded(Aliases, "1960", "one thousand, nine hundred and sixty", "1960")
    assert graded(Aliases, "The 39 Steps", "39 steps")
    assert graded(Aliases, "“1984”", "1984")
    assert graded(Aliases, "Beyonce", "Beyoncé")


def test_signs_that_make_another_answer_are_kept():
    assert not graded(Aliases, "C++", "C")
    assert not graded(Aliases, "C#", "C")
    assert not graded(Aliases, "3-2", "32")
    assert not graded(Aliases, "Windows 3.1", "Windows 31")


@pytest.fixture
def evaluate(demur, host, sums, tmp_path):
    def run(*options):
        where = ("--api", "chat", "--model", "m", "--base-url", host.url, "--out", tmp_path / "run")
        return demur("evaluate", sums(9), *where, "--judge-model", "judge", *options)

    return run


def test_a_judge_grades_and_is_asked_once(evaluate, host, tmp_path):
    result = evaluate("--grader", "simpleqa")
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "run" / "rows.jsonl").rows
    assert [row.correct for row in rows] == [k % 3 > 0 for k in range(9)]
    assert host.judgements == 9
    (tmp_path / "run" / "rows.jsonl").unlink()
    assert evaluate("--grader", "simpleqa").exit_code == 0
    assert host.judgements == 9


def test_malformed_verdicts_are_asked_for_again_and_then_counted(evaluate, host, tmp_path):
    def verdict(told, count):
        if told["candidate"] == "2":
            return "I would rather not say."
        return "hm" if count == 1 else host.judged(told, count)

    host.verdict = verdict
    result = evaluate("--grader", "simpleqa", "--judge-concurrency", "1")
    assert result.exit_code == 0, result.output
    assert "the judge gave no verdict on 1 cases (1 unreadable, 0 without a reply" in result.output
    assert "1 rows could not be graded" in result.output
    rows = read_rows(tmp_path / "run" / "rows.jsonl").rows
    assert [row.correct for row in rows] == [False, None, True, False, True, True, False, True, True]
    assert host.judgements == 9 + 1 + 2
    host.verdict = host.judged
    assert evaluate("--grader", "simpleqa").exit_code == 0
    assert host.judgements == 13
    assert None not in [row.correct for row in read_rows(tmp_path / "run" / "rows.jsonl").rows]


def claims_of(k, body):
    steps = (
        f'<Confidence value=0.9 text="sum">{k} + {k}</Confidence><Confidence value=0.3 text="guess">{{}}</Confidence>'
    )
    return "Solution:\n" + steps.format("wrong" if k % 3 == 0 else "fine") + f"\nAnswer:{2 * k if k % 3 else 2 * k + 1}"


def test_claims_are_judged_and_scored(evaluate, host, tmp_path):
    host.answer = claims_of
    labels = tmp_path / "labels.jsonl"
    human = [Row(f"sum-{k}", 0, None, correct=k != 4, claim=1, state="missing") for k in range(1, 6, 3)]
    labels.write_text(
        "".join(
            json.dumps({"problem": r.problem, "sample": 0, "claim": 1, "correct": r.correct}) + "\n" for r in human
        ),
        encoding="utf-8",
    )
    options = ("--contract", "claims", "--granularity", "claims", "--grader", "maths", "--labels", labels)
    result = evaluate(*options, "--beside", "claims")
    assert result.exit_code == 0, result.output
    assert "Single claims" in result.output
    rows = read_rows(tmp_path / "run" / "claims.jsonl").rows
    assert len(rows) == 18
    assert [row.correct for row in rows if row.claim == 1] == [k % 3 > 0 for k in range(9)]
    assert all(row.confidence == (0.9, 0.3)[row.claim] for row in rows)
    answers = read_rows(tmp_path / "run" / "rows.jsonl").rows
    assert {row.confidence for row in answers} == {0.3}
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["claims"]["accuracy"]["value"] == pytest.approx(15 / 18)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Claim verdicts against people: 2 rows with a human label" in page
    assert "BeyondAIME, single claims" in page


def test_a_judge_that_cannot_be_reached_ends_the_run_and_keeps_the_answers(evaluate, host, tmp_path):
    result = evaluate("--grader", "simpleqa", "--judge-base-url", host.url + "/nowhere")
    assert result.exit_code == 1
    assert "answers 404" in result.output
    assert evaluate("--grader", "simpleqa").exit_code == 0
    assert sum(host.asked.values()) == 9


def test_agreement_with_people():
    verdicts = [Row(k, 0, 0.5, correct) for k, correct in enumerate([True, True, False, False, None])]
    labels = [Row(k, 0, None, correct) for k, correct in enumerate([True, False, False, False, True, True])]
    both = agreement(verdicts, labels)
    assert (both.rows, both.unmatched, both.accuracy) == (4, 2, 0.75)
    assert both.kappa == pytest.approx(0.5)
    assert agreement(verdicts, []).reason == "no label is about a graded row"
    same = agreement(verdicts[:2], labels[:1])
    assert (same.accuracy, same.kappa) == (1.0, None)
    assert same.reason == "one side says the same of every row"


def test_a_judge_that_goes_down_ends_the_run_and_loses_nothing(evaluate, host, tmp_path):
    host.judge_lasts = 2
    options = ("--grader", "simpleqa", "--judge-concurrency", "1", "--retries", "0", "--samples", "2")
    result = evaluate(*options)
    assert result.exit_code == 1
    assert "gave no reply on 8 cases in a row" in result.output
    assert "the same command goes on" in result.output
    assert host.judgements == 2 + 8
    host.judge_lasts = None
    assert evaluate(*options).exit_code == 0
    assert sum(host.asked.values()) == 18
    assert len(read_rows(tmp_path / "run" / "rows.jsonl").rows) == 18


def test_a_kept_verdict_that_no_longer_passes_for_one_is_asked_for_again(evaluate, host, tmp_path):
    assert evaluate("--grader", "simpleqa").exit_code == 0
    path = tmp_path / "run" / "verdicts.jsonl.gz"
    kept = list(read_records(path))
    path.unlink()
    with Store(path) as store:
        for i, record in enumerate(kept):
            store.append(record if i else {**record, "content": "This is not correct."})
    assert evaluate("--grader", "simpleqa").exit_code == 0
    assert host.judgements == 9 + 1
