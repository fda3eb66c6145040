"""Sub-commands that are imported when they are called, and the one line that ends a command that cannot go on."""

import importlib
from typing import Any, NoReturn

import typer

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


def fail(message: str, status: int = 1) -> NoReturn:
    """Say what went wrong in one line on standard error and exit with `status`."""
    typer.echo(f"demur: {message}", err=True)
    raise typer.Exit(status)


def load(target: str, extra: str | None) -> Any:
    """Import `module:name` now. Exits with one clear line, which names the pip extra, where a package is absent."""
    module, name = target.split(":")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "demur":
            raise
        package = f'"demur[{extra}]"' if extra else "demur"
        fail(f"this command needs {error.name}: pip install {package}")


def add_lazily(app: typer.Typer, name: str, target: str, extra: str | None, help_line: str) -> None:
    """Add a sub-command to `app` that is imported only when it is called, and then parses its own arguments."""

    def run(context: typer.Context) -> None:
        found = load(target, extra)
        if not isinstance(found, typer.Typer):
            function, found = found, typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)
            found.command(name)(function)
        found(args=context.args, prog_name=context.command_path)

    app.command(name, help=help_line, context_settings=PASSED_ON, add_help_option=False)(run)
