"""`demur model`: make the embedded model."""

from pathlib import Path
from typing import Annotated

import typer

from demur.model.folder import CannotPrepare
from demur.model.folder import prepare as prepare_folder
from demur.model.progress import progress_bar
from demur.model.smollm2 import SourceError

app = typer.Typer(help="The embedded model: a small one that needs no download.", no_args_is_help=True)


@app.callback()
def model() -> None:
    """The embedded model: a small one that needs no download."""


@app.command()
def prepare(
    to: Annotated[
        Path | None, typer.Option(help="Folder to make; by default one in the user's cache directory.")
    ] = None,
    base: Annotated[bool, typer.Option("--base", help="The model as it was before it was calibrated.")] = False,
) -> None:
    """Make the calibrated SmolLM2-135M-Instruct out of installed packages, or check and repair it. Prints its folder.

    Needs no network and 540 MB of disk (270 MB with --base), twice that while it repairs. Running it again is quick.
    """
    try:
        with progress_bar("embedded model") as report:
            folder = prepare_folder(to, report, "base" if base else "calibrated")
    except (CannotPrepare, SourceError) as error:
        typer.echo(f"demur: {error}", err=True)
        raise typer.Exit(1) from None
    typer.echo(folder)
