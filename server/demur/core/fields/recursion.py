"""Which definitions of a schema refer to themselves, and how deep documents of them may go."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from demur.core.fields.schema import Definitions, Schema

DEEPEST_RECURSION = 10
"""How often a definition that refers to itself is followed on the way to one value. Deeper down, what could only go on
is left out: optional properties, items, branches of a union."""


class Endless(Exception):
    """A place that could only be filled by going on for ever."""


def recursive_references(root: Schema, definitions: Definitions) -> frozenset[str]:
    """The references that lead back to themselves. Raises SchemaError for one that leads nowhere."""
    leads: dict[str, frozenset[str]] = {}
    waiting = list(_references(root))
    while waiting:
        one = waiting.pop()
        if one not in leads:
            leads[one] = frozenset(_references(definitions.find(one)))
            waiting += leads[one]
    return frozenset(one for one in leads if one in _reached(one, leads))


def _reached(start: str, leads: Mapping[str, frozenset[str]]) -> set[str]:
    found, waiting = set[str](), list(leads[start])
    while waiting:
        if (one := waiting.pop()) not in found:
            found.add(one)
            waiting += leads[one]
    return found


def _references(schema: Any) -> Iterator[str]:
    """Those in a schema, but for what stands in its `$defs`: that counts where it is referred to."""
    waiting = [schema]
    while waiting:
        place = waiting.pop()
        if isinstance(place, Mapping):
            described = cast("Mapping[str, Any]", place)
            if isinstance(reference := described.get("$ref"), str):
                yield reference
            waiting += [inner for name, value in described.items() for inner in _inner(name, value)]


def _inner(keyword: str, value: Any) -> list[Any]:
    """The schemas that stand behind a keyword."""
    if keyword == "properties" and isinstance(value, Mapping):
        return list(cast("Mapping[str, Any]", value).values())
    if keyword in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
        return cast("list[Any]", value)
    return [value] if keyword in ("items", "additionalProperties") else []
