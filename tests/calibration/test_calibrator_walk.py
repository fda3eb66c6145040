"""From a server to its promise, by the commands of the docs: evaluate, calibrate, serve again, ask."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from demur.api.app import create_app
from demur.calibration.calibrator_file import read
from demur.calibration.store import CalibratorStore
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving

RNG = random.Random(7)
STATED = {k: round(RNG.choice([0.55, 0.7, 0.85, 0.95]) + RNG.uniform(-0.04, 0.04), 2) for k in range(400)}
RIGHT = {k: RNG.random() < STATED[k] ** 0.5 for k in STATED}
MANIFEST = Manifest(name="adder", contracts=("response",))


def reply(messages: Any) -> str:
    k = int(messages[-1]["content"].rpartition("sum ")[2].split("?")[0])
    return f"So.\nAnswer: {2 * k if RIGHT[k] else 2 * k + 1}\nConfidence: {STATED[k]}"


@contextmanager
def served(*files: Any, **settings: Any) -> Iterator[str]:
    store = CalibratorStore(files, "files:adder")
    options = Settings(force_contract="never", **settings)
    app = create_app(ScriptedEngine(reply), MANIFEST, options, calibrators=store, fingerprint="files:adder")
    with serving(app) as url:
        yield url


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.jsonl"
    lines = [{"id": f"q{k}", "question": f"What is sum {k}?", "answer": str(2 * k)} for k in STATED]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_evaluate_calibrate_serve_and_ask(demur, questions, tmp_path) -> None:
    run, out = tmp_path / "run", tmp_path / "calibrator.json"
    with served() as url:
        done = demur("evaluate", questions, "--base-url", url, "--out", run, "--limit", 300)
        assert done.exit_code == 0, done.output
    card = json.loads((run / "run.json").read_text())
    assert card["served"]["fingerprint"] == "files:adder"
    assert (card["decided_by"], card["conditions"]["max_tokens"]) == ("verbalized", 1024)
    made = demur("calibrate", run, "--out", out, "--resamples", 100, "--questions", "sums of two")
    assert made.exit_code == 0, made.output
    level = next(g for g in read(out).guarantees if g.threshold is not None)
    with served(out) as url:
        body = {"question": "What is sum 3?", "max_error": level.max_error}
        found = httpx.post(f"{url}/v1/answers", json=body).json()
        assert (found["confidence_source"], found["guarantee"]["threshold"]) == ("calibrated", level.threshold)
        assert found["guarantee"]["calibration"]["questions"] == "sums of two"
        again = tmp_path / "again"
        asked = demur("evaluate", questions, "--base-url", url, "--out", again, "--max-error", level.max_error)
        assert asked.exit_code == 0, asked.output
    promise = json.loads((again / "metrics.json").read_text())["guarantee"]
    answered = promise["answered"]
    assert (promise["asked"], promise["questions"]) == (level.max_error, 400)
    assert 0 < answered < 400
    assert promise["error"]["value"] == promise["wrong"] / answered
    assert promise["error"]["low"] < promise["error"]["value"] < promise["error"]["high"]
    assert f"Answered {answered} of 400 questions" in asked.output
    assert f"Answered {answered} of 400 questions" in (again / "report.html").read_text()
    twice = demur("calibrate", again, "--out", tmp_path / "twice.json", "--resamples", 100)
    assert twice.exit_code == 1
    assert "calibrated already" in twice.stderr


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"decided_by": None}, "have several sources"),
        ({"decided_by": "calibrated"}, "calibrated already"),
        ({"failures": 3}, "3 questions got no answer"),
    ],
)
def test_a_run_that_no_promise_can_be_made_of(demur, questions, tmp_path, changes, told) -> None:
    run = tmp_path / "run"
    with served() as url:
        assert demur("evaluate", questions, "--base-url", url, "--out", run, "--limit", 60).exit_code == 0
    card = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(card | changes))
    refused = demur("calibrate", run, "--out", tmp_path / "c.json", "--resamples", 100)
    assert (refused.exit_code, told in refused.stderr) == (1, True)


def test_a_calibrator_that_changed_while_a_run_was_asked_is_told(demur, questions, tmp_path) -> None:
    run, out, again = tmp_path / "run", tmp_path / "c.json", tmp_path / "again"
    with served() as url:
        assert demur("evaluate", questions, "--base-url", url, "--out", run, "--limit", 300).exit_code == 0
    rate = 0
    for name, options in ((out, []), (tmp_path / "other.json", ["--seed", 5])):
        assert demur("calibrate", run, "--out", name, "--resamples", 100, *options).exit_code == 0
        rate = max(rate, next(g.max_error for g in read(name).guarantees if g.threshold is not None))
    for path, limit in ((out, 30), (tmp_path / "other.json", 60)):
        with served(path) as url:
            asked = demur(
                "evaluate", questions, "--base-url", url, "--out", again, "--max-error", rate, "--limit", limit
            )
            assert asked.exit_code == 0, asked.output
    assert "calibrator changed meanwhile" in asked.output
    promise = json.loads((again / "metrics.json").read_text())["guarantee"]
    assert [each.split()[0] for each in promise["mixed"]] == [read(out).id, read(tmp_path / "other.json").id]


def test_asking_first_is_one_command_that_goes_on(demur, questions, tmp_path) -> None:
    out = tmp_path / "c.json"
    with served() as url:
        first = demur("calibrate", "--ask", questions, "--base-url", url, "--out", out, "--resamples", 100)
        assert first.exit_code == 0, first.output
        responses = tmp_path / "c.run" / "responses.jsonl.gz"
        before = responses.read_bytes()
    # The answers are there: the second time nothing is asked, so the server may be gone.
    again = demur("calibrate", "--ask", questions, "--base-url", url, "--out", out, "--resamples", 100)
    assert again.exit_code == 0, again.output
    assert responses.read_bytes() == before
    assert read(out).model is not None
    assert read(out).rows == 400


def test_asking_on_a_calibrated_server_is_for_its_raw_number(demur, questions, tmp_path) -> None:
    out = tmp_path / "c.json"
    with served() as url:
        assert (
            demur("calibrate", "--ask", questions, "--base-url", url, "--out", out, "--resamples", 100).exit_code == 0
        )
    with served(out) as url:
        fresh = tmp_path / "d.json"
        assert (
            demur("calibrate", "--ask", questions, "--base-url", url, "--out", fresh, "--resamples", 100).exit_code == 0
        )
    assert read(fresh).before == read(out).before


def test_rows_or_questions_and_not_both(demur, questions, tmp_path) -> None:
    both = demur("calibrate", questions, "--ask", questions, "--out", tmp_path / "c.json")
    neither = demur("calibrate", "--out", tmp_path / "c.json")
    assert (both.exit_code, neither.exit_code) == (2, 2)
    assert "not both" in both.stderr
    assert "--ask" in neither.stderr


def test_signals_of_a_run_are_noted_and_calibrated_on(demur, questions, tmp_path) -> None:
    run, out = tmp_path / "run", tmp_path / "calibrator.json"
    with served() as url:
        options = ("--base-url", url, "--out", run, "--limit", 120, "--samples", 3, "--selection", "majority")
        done = demur("evaluate", questions, *options, "--include-signals", "agreement")
        assert done.exit_code == 0, done.output
    row = json.loads((run / "rows.jsonl").read_text().splitlines()[0])
    assert row["signals"] == {"verbalized": row["confidence"], "agreement": 1.0}
    made = demur("calibrate", run, "--out", out, "--resamples", 100)
    assert made.exit_code == 0, made.output
    assert read(out).sampling["selection"] == "majority"


def test_claims_of_a_run_are_matched_as_claims(tmp_path) -> None:
    from demur.calibration.graded_source import _asked

    conditions = {
        "contract": "claims",
        "granularity": "response",
        "aggregation": "min",
        "prompt": "p",
        "source": "verbalized",
    }
    asked = _asked({"conditions": conditions}, {}, "claims")
    assert (asked["granularity"], asked["aggregation"], asked["sampling"]) == ("claims", None, {"source": "verbalized"})
