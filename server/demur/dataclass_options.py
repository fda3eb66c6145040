"""Command-line options out of dataclasses: a field is an option, its annotation says how."""

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from typer.models import ParameterInfo

Result = TypeVar("Result")


def with_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Let a command take dataclasses: each such parameter becomes one option for every annotated field.

    A field is an option when its annotation carries `typer.Option` or `typer.Argument`; another keeps its default.
    Typer sees one flat signature, in the order of parameters and fields, and the command gets the built dataclasses.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters = inspect.signature(command).parameters
    built = {name: hints[name] for name in parameters if dataclasses.is_dataclass(hints[name])}

    @wraps(command)
    def run(**given: Any) -> Result:
        for name, kind in built.items():
            given[name] = kind(**{option.name: given.pop(option.name) for option in _options(kind)})
        return command(**given)

    flat: list[inspect.Parameter] = []
    for name, parameter in parameters.items():
        flat += _options(built[name]) if name in built else [parameter.replace(annotation=hints[name])]
    run.__signature__ = inspect.Signature(  # pyright: ignore[reportAttributeAccessIssue]  inspect and typer look here
        [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in flat]
    )
    run.__annotations__ = {one.name: one.annotation for one in flat}
    return run


def _options(kind: type) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        if any(isinstance(mark, ParameterInfo) for mark in marks_of(hints[field.name])):
            default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
            yield inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
            )


def marks_of(hint: Any) -> tuple[Any, ...]:
    """What `Annotated` adds to a type."""
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()
