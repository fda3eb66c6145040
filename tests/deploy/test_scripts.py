"""Shell scripts and image recipes, read by the tools that know their traps."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
IMAGES = [ROOT / "Dockerfile", *sorted((ROOT / "deploy").rglob("Dockerfile"))]


def is_shell(path: Path) -> bool:
    return path.is_file() and path.read_bytes().startswith((b"#!/usr/bin/env bash", b"#!/bin/sh", b"#!/bin/bash"))


SCRIPTS = sorted(
    path for room in ("scripts", "deploy", "training", ".ci") for path in (ROOT / room).rglob("*") if is_shell(path)
)


def test_there_are_scripts_to_check() -> None:
    assert {"setup", "setup-operations", "serve.slurm", "train.slurm"} <= {path.name for path in SCRIPTS}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_shell_scripts(path: Path) -> None:
    result = subprocess.run([TOOLS / "shellcheck", path], capture_output=True, text=True, cwd=ROOT, check=False)
    assert result.returncode == 0, result.stdout
    assert path.stat().st_mode & 0o111
    assert "set -euo pipefail" in path.read_text()


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.parent.name)
def test_image_recipes(path: Path) -> None:
    result = subprocess.run([TOOLS / "hadolint", path], capture_output=True, text=True, cwd=ROOT, check=False)
    assert result.returncode == 0, result.stdout
    assert result.stdout == ""


def test_the_serving_image_runs_as_the_user_that_the_manifests_name() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert "USER 10001:10001" in lines


def test_the_slurm_script_says_how_it_is_called() -> None:
    script = ROOT / "deploy" / "slurm" / "serve.slurm"
    refused = subprocess.run(["bash", script], capture_output=True, text=True, check=False, env={})
    assert refused.returncode != 0
    assert "usage: sbatch serve.slurm MODEL" in refused.stderr
