"""The commands say what is wrong and what to do, and are called as they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from demur_smol_lab.cli import app
from demur_smol_lab.pipeline import Pipeline
from demur_smol_lab.plan import Plan
from demur_training.errors import DataError

ROOT = Path(__file__).parents[3]
LAB = str(ROOT / "examples" / "demur-smol")


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
    Pipeline(tmp_path, tmp_path / "run", Plan())
    result = CliRunner().invoke(app, ["export", "--out", str(tmp_path / "run"), "--to", "x", "--base", str(tmp_path)])
    assert isinstance(result.exception, DataError)
    assert "not been measured" in str(result.exception)


def test_a_mistake_is_one_line_and_status_two(tmp_path):
    command = [sys.executable, "-m", "demur_smol_lab", "merge", "--out", tmp_path, "--stage", "finish"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": LAB})
    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [f"error: {tmp_path} holds no run: demur-smol-lab run --out {tmp_path}"]
