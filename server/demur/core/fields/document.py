"""A document in the forced form -> the caller's JSON and its fields, whole or while it is written."""

import json
from collections.abc import Sequence
from typing import Any, cast

from demur.core.answers import FieldValue
from demur.core.fields.scanner import Unreadable

Json = Any
"""What `json.loads` gives."""
_WHOLE = 2**53
"""Below it every whole number is its own float."""
Path = tuple[str | int, ...]


def pointer(path: Sequence[str | int]) -> str:
    """The JSON Pointer (RFC 6901) of a path of names and list positions: "" is the whole document."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def written(value: Json) -> str:
    """Plain JSON as the caller gets it, on one line.

    Raises Unreadable for what JSON in UTF-8 cannot hold: half of a surrogate pair, infinity, NaN, too deep nesting.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError) as error:  # half of a surrogate pair is one, and so is infinity
        raise Unreadable(str(error)[:200]) from None
    return text


def canonical(text: str) -> str:
    """JSON in the one spelling that equal documents share: names sorted, 3.0 as 3. Raises ValueError for text that is
    no JSON."""
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


def of_pair(members: Sequence[Any], path: Path, span: tuple[int, int]) -> FieldValue:
    """A field from its pair: the value, then percentage and reason in any order; `span` is the value's in the output.

    The confidence is the percentage over 100, None where no member is a number in [0, 100]. Raises Unreadable for a
    value or a reason that `written` cannot write.
    """
    value, *rest = members
    written(value)
    stated = next((each / 100 for each in rest if _is_percentage(each)), None)
    reason = next((each for each in rest if isinstance(each, str)), "")
    written(reason)
    return FieldValue(pointer(path), value, stated, reason, span=span)


def _is_percentage(member: Any) -> bool:
    return isinstance(member, (int, float)) and not isinstance(member, bool) and 0 <= member <= 100
