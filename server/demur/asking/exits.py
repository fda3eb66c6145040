"""The exit statuses of `demur ask`."""

from typing import NoReturn

import typer

ANSWERED, FAILED, ABSTAINED = 0, 1, 3
"""2 is a wrong command line."""
INTERRUPTED = 130


def fail(message: str) -> NoReturn:
    """Print what went wrong in one line and exit with FAILED."""
    typer.echo(f"demur: {message}", err=True)
    raise typer.Exit(FAILED)
