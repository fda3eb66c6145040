"""A document in the forced form -> the caller's JSON and its fields."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

from demur.core.answers import FieldValue

Json = Any
"""What `json.loads` gives."""
_WHOLE = 2**53
"""Below it every whole number is its own float."""
Path = tuple[str | int, ...]


class Unreadable(ValueError):
    """An output that is no whole document in the forced form."""


def pointer(path: Sequence[str | int]) -> str:
    """A JSON Pointer: "" is the whole document."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def read_document(text: str) -> tuple[Json, tuple[FieldValue, ...]]:
    """The caller's JSON, and its plain values in the order of the text. Raises Unreadable."""
    try:
        document = json.loads(text, parse_constant=_no_number)
        fields: list[FieldValue] = []
        return _unpaired(document, (), fields), tuple(fields)
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)[:200]) from None


def canonical(text: str) -> str:
    """JSON in the one spelling that equal documents share: names sorted, 3.0 as 3."""
    return json.dumps(json.loads(text, parse_float=_as_short), sort_keys=True, separators=(",", ":"))


def _as_short(number: str) -> int | float:
    value = float(number)
    return int(value) if value.is_integer() and abs(value) < _WHOLE else value


def with_nulls(document: Json, paths: Sequence[str]) -> Json:
    """The document with null at these JSON Pointers; the rest is shared with it."""
    wanted = frozenset(paths)
    return _nulled(document, (), wanted) if wanted else document


def _nulled(value: Json, path: Path, wanted: frozenset[str]) -> Json:
    if isinstance(value, dict):
        return {name: _nulled(each, (*path, name), wanted) for name, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_nulled(each, (*path, i), wanted) for i, each in enumerate(cast("list[Any]", value))]
    return None if pointer(path) in wanted else value


def _unpaired(value: Json, path: Path, fields: list[FieldValue]) -> Json:
    if isinstance(value, dict):
        return {name: _unpaired(each, (*path, name), fields) for name, each in cast("dict[str, Any]", value).items()}
    if not isinstance(value, list):
        raise Unreadable(f"{pointer(path) or 'the document'} has no percentage")
    listed = cast("list[Any]", value)
    if not listed or isinstance(listed[0], (dict, list)):
        return [_unpaired(each, (*path, i), fields) for i, each in enumerate(listed)]
    fields.append(_field(listed, path))
    return listed[0]


def _field(pair: list[Any], path: Path) -> FieldValue:
    value, *rest = pair
    if isinstance(value, float) and not math.isfinite(value):
        raise Unreadable(f"{pointer(path)} is beyond any number")
    stated = next(_percentages(rest), None)
    reason = next((each for each in rest if isinstance(each, str)), "")
    return FieldValue(pointer(path), value, stated, reason)


def _percentages(members: list[Any]) -> Iterator[float]:
    for each in members:
        if isinstance(each, (int, float)) and not isinstance(each, bool) and 0 <= each <= 100:
            yield each / 100


def _no_number(name: str) -> Json:
    raise Unreadable(f"{name} is no JSON")
