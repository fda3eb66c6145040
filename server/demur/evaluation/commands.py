"""Options and endings that the commands share."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from demur.core.metrics import Missing, RowsError
from demur.evaluation.errors import EvaluationError
from demur.evaluation.rows import Level

MissingOption = Annotated[
    Missing,
    typer.Option(help="Rows without a confidence: left out of all but accuracy, or scored as confidence 0."),
]
LevelOption = Annotated[Level | None, typer.Option(help="Which rows, where a file holds both kinds.")]
SeedOption = Annotated[int, typer.Option(help="Seed of the bootstrap.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
RowsArgument = Annotated[Path, typer.Argument(help='File of rows; "-" reads standard input.')]

WIDE = 110


def console() -> Console:
    """Standard output; wide enough for the tables where it is no terminal."""
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDE)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End with exit code 1 and one line on standard error where the caller can put something right."""
    try:
        yield
    except (EvaluationError, RowsError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None


def needs(module: str, what: str) -> None:
    """End with a line that says what to install, where an optional library is absent."""
    try:
        __import__(module)
    except ImportError:
        typer.echo(f"error: {what} needs {module}: pip install 'demur[evaluation]'", err=True)
        raise typer.Exit(1) from None
