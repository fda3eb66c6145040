"""Marks on the fields of a configuration: what becomes of each besides the command line."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, get_type_hints

from demur.dataclass_options import marks_of


class Mark(Enum):
    """What a field is for. Without a mark it is recorded, and may not change when a run goes on."""

    UNRECORDED = "not recorded: it decides no answer, is secret, or is recorded as what it was resolved to"
    GROWS = "may be another when a run goes on"
    SENT = "goes into every request, under its own name, where it has a value"
    SENT_TO_DEMUR = "goes into every request to a demur server"


UNRECORDED, GROWS, SENT, SENT_TO_DEMUR = Mark.UNRECORDED, Mark.GROWS, Mark.SENT, Mark.SENT_TO_DEMUR


@dataclass(frozen=True, slots=True)
class RecordedAs:
    """The name of a field where it is recorded, and its value there, made from the whole configuration."""

    name: str
    value: Callable[[Any], Any] | None = None


def recorded(config: Any) -> dict[str, Any]:
    """What is to be recorded of a configuration, by name."""
    record: dict[str, Any] = {}
    for name, marks in _marked(type(config)):
        if UNRECORDED not in marks:
            form = _form(name, marks)
            record[form.name] = getattr(config, name) if form.value is None else form.value(config)
    return record


def growing(kind: type) -> frozenset[str]:
    """Names of the recorded settings that may change when a run is resumed."""
    return frozenset(_form(name, marks).name for name, marks in _marked(kind) if GROWS in marks)


def sent(config: Any, *kinds: Mark) -> dict[str, Any]:
    """The fields with one of these marks that have a value."""
    chosen = {name: getattr(config, name) for name, marks in _marked(type(config)) if set(kinds) & set(marks)}
    return {name: value for name, value in chosen.items() if value is not None}


def _marked(kind: type) -> Iterator[tuple[str, list[Mark | RecordedAs]]]:
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        yield field.name, [mark for mark in marks_of(hints[field.name]) if isinstance(mark, Mark | RecordedAs)]


def _form(name: str, marks: list[Mark | RecordedAs]) -> RecordedAs:
    return next((mark for mark in marks if isinstance(mark, RecordedAs)), RecordedAs(name))
