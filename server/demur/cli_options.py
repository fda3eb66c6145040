"""Command-line options whose value is a key of a registry, such as a contract's name."""

from collections.abc import Mapping
from typing import Any

import typer


def key_option(registry: Mapping[str, object], **described: Any) -> Any:
    """`typer.Option` that takes one of the registry's keys, and names them in the help and in its error."""

    def check(name: str | None) -> str | None:
        if name is not None and name not in registry:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, registry))}")
        return name

    return typer.Option(metavar=f"[{'|'.join(registry)}]", callback=check, **described)
