"""Whether the libraries that calibration needs are there."""

import importlib.util

import typer

NEEDED = ("pydantic", "scipy", "sklearn", "matplotlib", "jinja2")


def check_installed() -> None:
    """End with a line that says what to install where a library is absent."""
    absent = [module for module in NEEDED if importlib.util.find_spec(module) is None]
    if absent:
        typer.echo(f"error: calibration needs {', '.join(absent)}: pip install 'demur[calibration]'", err=True)
        raise typer.Exit(1)
