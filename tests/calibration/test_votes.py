"""Votes calibrated out of samples asked one by one: the same answers, and the same conditions, as a server's votes."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from demur.api.app import create_app
from demur.calibration.calibrator_file import read
from demur.calibration.graded_source import read_source
from demur.calibration.store import CalibratorStore
from demur.calibration.votes import Voting
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving

DRAWN = 4
RNG = random.Random(11)
MANIFEST = Manifest(name="adder", contracts=("response",))


def sample_of(k: int, ability: float) -> str:
    right, stated = RNG.random() < ability, RNG.choice(["0.4", "0.62", "0.9", "0.97"])
    if RNG.random() < 0.05:
        return "I would rather not say"
    return f"So.\nAnswer: {2 * k if right else 2 * k + RNG.randint(1, 2)}\nConfidence: {stated}"


SAMPLES = {k: [sample_of(k, ability) for _ in range(DRAWN)] for k, ability in enumerate([0.95, 0.8, 0.3] * 70)}
"""Of each question, which are drawn in turn again and again."""


@contextmanager
def served(*files: Any) -> Iterator[str]:
    asked = Counter[int]()

    def reply(messages: Any) -> str:
        k = int(messages[-1]["content"].rpartition("sum ")[2].split("?")[0])
        asked[k] += 1
        return SAMPLES[k][asked[k] % DRAWN]

    store = CalibratorStore(files, "files:adder")
    app = create_app(
        ScriptedEngine(reply), MANIFEST, Settings(force_contract="never"), calibrators=store, fingerprint="files:adder"
    )
    with serving(app) as url:
        yield url


@pytest.fixture(scope="module")
def runs(demur, tmp_path_factory):
    """A run of single samples, and one in which the server votes on as many."""
    folder = tmp_path_factory.mktemp("votes")
    questions = folder / "questions.jsonl"
    lines = [{"id": f"q{k}", "question": f"What is sum {k}?", "answer": str(2 * k)} for k in SAMPLES]
    questions.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with served() as url:
        for name, options in (
            ("single", []),
            ("voted", ["--selection", "majconf", "--include-signals", "verbalized,agreement"]),
        ):
            done = demur(
                "evaluate", questions, "--base-url", url, "--out", folder / name, "--samples", DRAWN,
                "--confidence-source", "verbalized", *options,
            )  # fmt: skip
            assert done.exit_code == 0, done.output
    return folder


def test_replayed_votes_are_what_the_server_answers(runs) -> None:
    theirs, ours = read_source(runs / "voted", None), read_source(runs / "single", None, Voting(DRAWN, "majconf"))
    assert len(ours.rows.rows) == len(SAMPLES)

    def told(source: Any) -> dict[Any, Any]:
        return {
            row.problem: (row.correct, row.signals["verbalized"], row.signals["agreement"]) for row in source.rows.rows
        }

    assert told(ours) == told(theirs)
    assert ours.asked == theirs.asked
    assert ours.model == theirs.model


def test_a_calibrator_of_replayed_votes_serves_requests_for_as_many_samples(demur, runs, tmp_path) -> None:
    out = tmp_path / "votes.json"
    made = demur(
        "calibrate", runs / "single", "--samples", DRAWN, "--out", out, "--raw", "agreement", "--max-error", "0.3"
    )
    assert made.exit_code == 0, made.output
    assert read(out).guarantees[0].threshold is not None
    with served(out) as url:
        body = {"question": "What is sum 3?", "max_error": 0.3}
        found = httpx.post(f"{url}/v1/answers", json=body | {"samples": DRAWN})
        assert (found.status_code, found.json()["guarantee"]["max_error"]) == (200, 0.3)
        for other in ({"samples": 3}, {}, {"samples": DRAWN, "stopping": "decided"}):
            assert httpx.post(f"{url}/v1/answers", json=body | other).status_code == 409
    tested = demur("calibrators", "test", out, runs / "single")
    assert tested.exit_code == 0, tested.output
    assert f"of {len(SAMPLES)}" in tested.output or str(len(SAMPLES)) in tested.output


@pytest.mark.parametrize(
    ("run", "options", "told"),
    [
        ("voted", ["--samples", "4"], "chosen among these samples already"),
        ("single", ["--samples", "5"], "210 of 210 questions have fewer than 5 samples"),
        ("single", ["--samples", "4", "--level", "claims"], "leave out --level claims"),
        ("single/rows.jsonl", ["--samples", "4"], "needs the folder of a run"),
        ("single", ["--samples", "1"], "--samples"),
        ("single", ["--samples", "4", "--selection", "best"], "majconf"),
    ],
)
def test_what_cannot_be_voted_on_is_named(demur, runs, tmp_path, run, options, told) -> None:
    done = demur("calibrate", runs / run, *options, "--out", tmp_path / "c.json")
    assert done.exit_code != 0
    assert told in done.output + done.stderr
