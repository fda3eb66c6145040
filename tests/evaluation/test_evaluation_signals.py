"""`demur evaluate --include-signals` against the real app: rows with several signals, which `demur calibrate` reads."""

import json
import re
from math import log

import pytest

from demur import prompts
from demur.api.app import create_app
from demur.calibration.rows import read_signal_rows
from demur.engine.scripted import Script, ScriptedEngine
from demur.evaluation.grades_file import read_graded
from demur.evaluation.row_files import read_rows
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving


def answers(messages) -> Script:
    """Every third answer is without a confidence; the model takes an even answer for right."""
    if prompts.asks_if_right(messages):
        even = "even" in messages[-2]["content"]
        return Script(["Yes"], alternatives={"Yes": log(0.75 if even else 0.25), "No": log(0.25 if even else 0.75)})
    found = re.search(r"What is (\d+) plus", messages[-1]["content"])
    assert found is not None
    k = int(found[1])
    stated = "" if k % 3 == 0 else "\nConfidence: 0.9"
    return Script([f"{'odd' if k % 2 else 'even'}\nAnswer: {2 * k}{stated}"], logprobs={str(2 * k): log(0.5)})


@pytest.fixture
def evaluate(demur, sums, tmp_path):
    def run(*options, source=answers, status=0):
        with serving(create_app(ScriptedEngine(source), Manifest(name="m"), Settings())) as url:
            where = ("--base-url", url, "--out", tmp_path / "run", "--grader", "maths")
            result = demur("evaluate", sums(6), *where, *options)
        assert result.exit_code == status, result.output
        return result.output if status else tmp_path / "run"

    return run


def test_rows_have_the_signals_that_were_asked_for_and_the_one_that_decided(evaluate) -> None:
    folder = evaluate("--include-signals", "answer_logprob, p_true,critic")
    rows = read_signal_rows(folder / "rows.jsonl")
    assert rows.signals == ("verbalized", "answer_logprob", "p_true")
    for row in rows.rows:
        k = int(str(row.problem).split("-")[-1])
        stated = None if k % 3 == 0 else 0.9
        p_true = pytest.approx(0.25 if k % 2 else 0.75)
        assert row.signals == {
            "verbalized": stated,
            "answer_logprob": pytest.approx(0.5),
            "p_true": p_true,
            "critic": None,
        }
    assert json.loads((folder / "run.json").read_text())["plan"]["include_signals"] == [
        "answer_logprob",
        "p_true",
        "critic",
    ]


def test_another_source_decides_and_what_was_stated_is_kept(evaluate) -> None:
    folder = evaluate("--confidence-source", "p_true", "--include-signals", "verbalized")
    rows = read_signal_rows(folder / "rows.jsonl")
    assert rows.signals == ("verbalized", "p_true")
    assert [row.signals["p_true"] for row in rows.rows] == [row.record["confidence"] for row in rows.rows]
    assert {one.output.stated for one in read_graded(folder)} == {None, 0.9}
    assert {one.output.source for one in read_graded(folder)} == {"p_true"}


def test_rows_of_a_run_without_signals_are_as_before(evaluate) -> None:
    folder = evaluate()
    assert all("signals" not in json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines())
    assert read_rows(folder / "rows.jsonl").rows


def test_agreement_is_of_samples_that_the_server_draws(evaluate) -> None:
    folder = evaluate("--samples", "3", "--selection", "majority", "--include-signals", "agreement")
    assert [row.signals["agreement"] for row in read_signal_rows(folder / "rows.jsonl").rows] == [1.0] * 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--include-signals", "agreement"], "--selection"),
        (["--include-signals", "agreement", "--samples", "3"], "--selection"),
        (["--confidence-source", "agreement"], "--selection"),
        (["--include-signals", "p_true", "--api", "chat", "--model", "m"], "--api answers"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_asked(evaluate, options, words) -> None:
    assert words in evaluate(*options, status=1)
