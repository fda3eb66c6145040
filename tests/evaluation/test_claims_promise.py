"""An error rate of claims by the commands of the docs: evaluate with a judge, calibrate, serve again, evaluate."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from demur.api.app import create_app
from demur.calibration.calibrator_file import read
from demur.calibration.store import CalibratorStore
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving

DRAW = random.Random(5)
STATED = {k: [round(DRAW.betavariate(6, 1), 2) for _ in range(3)] if k % 5 else [0.1, 0.2, 0.3] for k in range(400)}
RIGHT = {k: [p > 0.6 and DRAW.random() < p + 0.05 for p in stated] for k, stated in STATED.items()}
"""A claim below 0.6 is wrong, and one question in five has no other."""


def reply(messages: Any) -> str:
    """Three steps with a confidence each; a step says itself whether it is right, which the judge reads."""
    k = int(messages[-1]["content"].rpartition("What is ")[2].split()[0])
    steps = [
        f'<Confidence value={p} text="sum">{"so" if right else "wrong"} {i}</Confidence>'
        for i, (p, right) in enumerate(zip(STATED[k], RIGHT[k], strict=True))
    ]
    return "\n".join(["Solution:", *steps, f"Answer: {2 * k}"])


@contextmanager
def served(*files: Any) -> Iterator[str]:
    store = CalibratorStore(files, "files:adder")
    manifest = Manifest(name="adder", contracts=("claims",))
    settings = Settings(force_contract="never")
    app = create_app(ScriptedEngine(reply), manifest, settings, calibrators=store, fingerprint="files:adder")
    with serving(app) as url:
        yield url


def test_the_error_of_asserted_claims_is_reported_beside_the_promise(demur, host, sums, tmp_path) -> None:
    questions, run, again, out = sums(400), tmp_path / "run", tmp_path / "again", tmp_path / "claims.json"
    judged = ("--contract", "claims", "--granularity", "claims", "--judge-model", "judge", "--judge-base-url", host.url)
    with served() as url:
        done = demur("evaluate", questions, "--base-url", url, "--out", run, *judged)
        assert done.exit_code == 0, done.output
    made = demur("calibrate", run, "--level", "claims", "--out", out, "--max-error", "0.1,0.2", "--resamples", 100)
    assert made.exit_code == 0, made.output
    level = next(g for g in read(out).guarantees if g.threshold is not None)
    with served(out) as url:
        asked = demur("evaluate", questions, "--base-url", url, "--out", again, *judged, "--max-error", 0.2)
        assert asked.exit_code == 0, asked.output
    promise = json.loads((again / "metrics.json").read_text())["guarantee"]
    assert (promise["level"], promise["questions"], promise["ungraded"]) == ("claims", 400, 0)
    assert level.max_error <= promise["max_error"] <= 0.2
    rows = [json.loads(line) for line in (again / "claims.jsonl").read_text().splitlines()]
    threshold = next(g.threshold for g in read(out).guarantees if g.max_error == promise["max_error"])
    asserted = defaultdict[str, list[bool]](list)
    for row in rows:
        if row["confidence"] >= threshold:
            asserted[row["problem"]].append(row["correct"])
    assert promise["answered"] == len(asserted)
    assert 200 < promise["answered"] <= 320
    all_wrong, one_wrong = (sum(not test(some) for some in asserted.values()) for test in (any, all))
    assert all_wrong <= promise["wrong"] <= one_wrong
    assert one_wrong < sum(not all(RIGHT[k]) for k in RIGHT)  # of all claims, whatever is asserted
    assert promise["error"]["value"] == pytest.approx(promise["wrong"] / promise["answered"])
    assert 0 < promise["error"]["value"] < 0.2
    assert f"Asserted a claim for {promise['answered']} of 400 questions" in asked.output
    assert f"A claim drawn from each was wrong for {promise['wrong']}" in asked.output


def test_drawn_claims_without_a_verdict_are_counted_apart(demur, host, sums, tmp_path) -> None:
    questions, run, again, out = sums(300), tmp_path / "run", tmp_path / "again", tmp_path / "claims.json"
    judged = ("--contract", "claims", "--granularity", "claims", "--judge-model", "judge", "--judge-base-url", host.url)
    with served() as url:
        assert demur("evaluate", questions, "--base-url", url, "--out", run, *judged).exit_code == 0
    made = demur("calibrate", run, "--level", "claims", "--out", out, "--max-error", "0.2", "--resamples", 100)
    assert made.exit_code == 0, made.output
    sensible = host.verdict
    host.verdict = lambda told, count: "hm" if "so 0" in told["steps"][0]["text"] else sensible(told, count)
    with served(out) as url:
        asked = demur("evaluate", questions, "--base-url", url, "--out", again, *judged, "--max-error", 0.2)
        assert asked.exit_code == 0, asked.output
    promise = json.loads((again / "metrics.json").read_text())["guarantee"]
    assert 0 < promise["ungraded"] < promise["answered"]
    graded = promise["answered"] - promise["ungraded"]
    assert promise["error"]["value"] == pytest.approx(promise["wrong"] / graded)
    assert f"{promise['ungraded']} of the drawn claims could not be graded" in asked.output
