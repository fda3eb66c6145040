"""The values of rows as people write them: verdicts, ids, counts, numbers."""

import math
import re
from collections.abc import Hashable
from decimal import Decimal
from typing import Any

MISSING = frozenset({"", "-", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "missing", "nat"})
"""How tables write that there is no value."""

TRUE = frozenset(
    [
        *("true", "t", "yes", "y", "1", "1.0", "correct", "right", "pass", "passed", "c"),
        *("wahr", "ja", "vrai", "oui", "verdadero", "sí", "vero", "waar"),
    ]
)
FALSE = frozenset(
    [
        *("false", "f", "no", "n", "0", "0.0", "incorrect", "wrong", "fail", "failed", "i", "not_attempted"),
        *("falsch", "nein", "faux", "non", "falso", "onwaar"),
    ]
)
"""Verdicts in words, with those that spreadsheets of other languages write."""

_DECIMAL = re.compile(r"[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?")
_WHOLE = re.compile(r"(0|-?[1-9]\d{0,17})(?:\.0)?")
_GROUPED = re.compile(r"[-+]?[1-9]\d*,\d{3}")
"""A thousand, or one to three decimals: it is taken for neither."""


LONGEST_SHOWN = 60


class BadValue(ValueError):
    """A value that a row may not hold; the message says what it must be."""


def shown(value: Any) -> str:
    """A value for a message: as it is written, cut where it is long."""
    written = repr(value)
    return written if len(written) <= LONGEST_SHOWN else f"{written[: LONGEST_SHOWN - 3]}..."


def is_missing(value: Any) -> bool:
    """Whether the value is none: null, NaN, an empty field, or a word for it."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return value is None or (isinstance(value, float | Decimal) and value != value)


def verdict(value: Any) -> bool | None:
    """Whether the answer is right; None where nobody could tell. Raises BadValue for what is no verdict."""
    if isinstance(value, bool):
        return value
    if is_missing(value):
        return None
    if isinstance(value, int | float | Decimal) and value in (0, 1):
        return bool(value)
    word = value.strip().lower().replace(" ", "_") if isinstance(value, str) else ""
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise BadValue("must be true or false (yes or no, 1 or 0, correct or wrong), or empty where nobody could grade it")


def identity(value: Any) -> Hashable | None:
    """The id of a problem; None where there is none. Whole numbers are the same id however they are written.

    Raises BadValue for what is neither text nor a number.
    """
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, bool | bytes | list | dict):
        raise BadValue("must be the id of the question, a string or a number")
    if isinstance(value, float | Decimal):
        return int(value) if math.isfinite(value) and value == int(value) else str(value)
    return value if isinstance(value, int | str) else str(value)


def identity_in_text(value: str) -> Hashable | None:
    """As `identity`, for tables without types: 7 and 7.0 are the number 7, 007 is a name, nan is none."""
    name = value.strip()
    if name.lower() in ("", "nan", "<na>", "null", "none"):
        return None
    number = _WHOLE.fullmatch(name)
    return int(number[1]) if number else name


def whole(value: Any) -> int | None:
    """A whole number from 0; None where there is none. Raises BadValue for anything else."""
    if is_missing(value):
        return None
    number = number_in(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or number < 0 or number != number // 1:
        raise BadValue("must be a whole number from 0, or empty")
    return int(number)


def probability(value: Any) -> float | None:
    """A number in [0, 1]; None where there is none. Raises BadValue for anything else."""
    if is_missing(value):
        return None
    number = number_in(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float | Decimal) or not 0 <= number <= 1:
        raise BadValue("must be a number in [0, 1]")
    return float(number)


def number_in(text: str) -> float | None:
    """A decimal number, with a point or a comma; None for anything else."""
    text = text.strip()
    if not _DECIMAL.fullmatch(text) or _GROUPED.fullmatch(text):
        return None
    return float(text.replace(",", "."))
