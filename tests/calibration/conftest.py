"""Files of graded rows, and the command as a person runs it."""

import json

import pytest
from typer.testing import CliRunner

from demur.cli import main


@pytest.fixture
def rows(tmp_path):
    """Write records as JSON lines; the path."""

    def write(lines, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def demur():
    """Run a command of demur."""

    def run(*arguments, stdin=None):
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)

    return run
