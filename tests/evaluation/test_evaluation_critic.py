"""`demur evaluate --confidence-source critic` against the real app: rows, and the panel over the number of samples."""

import json
import re

import pytest

from demur.api.app import create_app
from demur.engine.scripted import Script, ScriptedEngine
from demur.engine.scripted_critic import ScriptedCritic
from demur.evaluation.row_files import read_rows
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving

# The model is as sure of the wrong answer as the critic is of the right one.
OUTPUTS = ["right\nAnswer: {0}\nConfidence: 0.2", "wrong\nAnswer: {0}1\nConfidence: 0.9"]
VALUES = {"right": 0.9, "wrong": 0.2}


def answers(messages) -> Script:
    """Right to even questions, wrong to odd ones."""
    found = re.search(r"What is (\d+) plus", messages[-1]["content"])
    assert found is not None
    return Script([OUTPUTS[int(found[1]) % 2].format(2 * int(found[1]))])


def alternately(messages) -> Script:
    """Sample by sample, right and wrong."""
    found = re.search(r"What is (\d+) plus", messages[-1]["content"])
    assert found is not None
    return Script([output.format(2 * int(found[1])) for output in OUTPUTS])


@pytest.fixture
def evaluate(demur, sums, tmp_path):
    def run(source, *options):
        critic = ScriptedCritic(VALUES)
        manifest = Manifest.model_validate({"name": "m", "calibrated": True, "critic": {"path": "critic"}})
        with serving(create_app(ScriptedEngine(source), manifest, Settings(), critic=critic)) as url:
            where = ("--base-url", url, "--out", tmp_path / "run", "--grader", "maths")
            result = demur("evaluate", sums(4), *where, "--confidence-source", "critic", *options)
        assert result.exit_code == 0, result.output
        return read_rows(tmp_path / "run" / "rows.jsonl").rows, tmp_path / "run"

    return run


def test_the_rows_have_the_critics_confidences_and_both_sources_get_curves(evaluate) -> None:
    rows, folder = evaluate(answers, "--samples", "2", "--seed", "0")
    assert len(rows) == 8
    assert [(row.correct, row.confidence) for row in rows] == [(True, 0.9), (False, 0.2)] * 4
    scaling = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["scaling"]
    assert set(scaling["curves"]) == {"verbalized", "critic"}


def test_the_server_chooses_among_samples_by_their_values(evaluate) -> None:
    rows, _ = evaluate(alternately, "--samples", "2", "--selection", "maxconf")
    assert [(row.correct, row.confidence) for row in rows] == [(True, 0.9)] * 4
