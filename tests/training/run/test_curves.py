"""Pictures of runs."""

import pytest
from typer.testing import CliRunner

from demur_training.cli import app
from demur_training.errors import DataError
from demur_training.run import curves
from demur_training.run.training_metrics import RunLog


def test_a_line_a_run_and_a_panel_a_figure(tmp_path):
    for name, slope in (("steep", 0.02), ("flat", 0.0)):
        log = RunLog(tmp_path / name / "metrics.jsonl")
        for step in range(1, 9):
            log.append(step, {"critic/score/mean": slope * step, "critic/vf_loss": 1 / step})
    picture = tmp_path / "pictures" / "runs.svg"
    figures = ["--figure", "critic/score/mean", "--figure", "critic/vf_loss"]
    result = CliRunner().invoke(
        app, ["curves", str(tmp_path / "steep"), str(tmp_path / "flat"), *figures, "--to", str(picture)]
    )
    assert result.exit_code == 0, result.output
    assert picture.read_text().count('id="axes_') == 2


def test_smoothing_looks_back_only():
    assert curves.smooth([0, 0, 3, 0], width=3) == [0, 0, 1, 1]


def test_a_run_without_the_figure_is_named(tmp_path):
    with pytest.raises(DataError, match="has logged no loss"):
        curves.read(tmp_path, "loss")
