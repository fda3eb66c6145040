"""The commands say what is wrong and what to do."""

import pytest
from typer.testing import CliRunner

from demur_training.embedded.cli import app
from demur_training.embedded.plan import Plan
from demur_training.embedded.stages import Workshop
from demur_training.errors import DataError


@pytest.mark.parametrize("command", [["measure", "--split", "validation"], ["export", "--to", "artefact"]])
def test_a_folder_without_a_run_is_named(tmp_path, command):
    result = CliRunner().invoke(app, [*command, "--out", str(tmp_path), "--base", str(tmp_path)])
    assert isinstance(result.exception, DataError)
    assert f"{tmp_path} holds no run" in str(result.exception)


def test_an_unknown_split_lists_the_known_ones(tmp_path):
    result = CliRunner().invoke(app, ["measure", "--out", str(tmp_path), "--split", "exam"])
    assert result.exit_code == 2
    assert "transfer" in result.output


def test_a_run_that_was_not_measured_ships_nothing(tmp_path):
    Workshop(tmp_path, tmp_path / "run", Plan())
    result = CliRunner().invoke(app, ["export", "--out", str(tmp_path / "run"), "--to", "x", "--base", str(tmp_path)])
    assert isinstance(result.exception, DataError)
    assert "not been measured" in str(result.exception)
