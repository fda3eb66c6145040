"""The confidences of a file on its scale: probabilities, percentages, or points up to a top."""

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from demur.core.answers import State
from demur.core.reading import read_probability
from demur.evaluation.errors import EvaluationError, RowsFileError
from demur.evaluation.values import is_missing, number_in, shown

SLIP = 1e-6
"""How far rounding may carry a confidence above the top of its scale."""

_PERCENT = re.compile(r"(.*?)\s*[%％]")


Form = Literal["number", "percent", "share"]


@dataclass(frozen=True, slots=True)
class Stated:
    """A confidence as it is written: a number on the file's scale, one with a percent sign, or a share in words."""

    value: float
    form: Form = "number"


def scale_of(text: str | None) -> float:
    """The top of the scale of `--scale`: 100 for "percent", 1 without the option. Raises EvaluationError."""
    if text is None:
        return 1.0
    if text.strip().lower() in ("percent", "%"):
        return 100.0
    top = number_in(text)
    if top is None or not 1 <= top < math.inf:
        raise EvaluationError(f"--scale {text}: write percent, or the top of the scale, such as 10 or 5")
    return top


def stated(value: Any, top: float = 1.0) -> Stated | None:
    """A confidence as it is written, on a scale to `top`; None for what is no number, and for a truth value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | Decimal):
        return _finite(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    signed = _PERCENT.fullmatch(text)
    number = number_in(signed[1] if signed else text)
    if number is not None:
        return _finite(number, "percent" if signed else "number")
    found = read_probability(text, scale=None if top == 1 else top)
    return Stated(found.value, "share") if found.value is not None and not found.problems else None


def _finite(value: float | Decimal, form: Form = "number") -> Stated | None:
    try:
        return Stated(float(value), form) if math.isfinite(value) else None
    except OverflowError:  # a whole number of hundreds of digits
        return None


@dataclass(slots=True)
class ConfidenceScale:
    """Reads the confidences of one file, on a scale from 0 to `top`.

    What is no number, or below 0, is unreadable and counted; the first of them is named in `unreadable`. What shows
    that the file is on another scale raises RowsFileError with the option that says so.
    """

    top: float = 1.0
    unreadable: str | None = None
    _signs: dict[bool, str] = field(default_factory=dict[bool, str])

    def read(self, value: Any, column: str, place: str) -> tuple[float | None, State]:
        """The confidence in [0, 1], if there is one, and the state of it. Raises RowsFileError."""
        if type(value) is float and 0 <= value <= 1 and self.top == 1:
            return value, "value"
        if is_missing(value):
            return None, "missing"
        written = stated(value, self.top)
        p = None if written is None else self._share(written, f'{place}: "{column}" is {shown(value)}')
        if p is None:
            self.unreadable = self.unreadable or f"{place}: {shown(value)}"
            return None, "invalid"
        return p, "value"

    def _share(self, written: Stated, what: str) -> float | None:
        if written.form == "share":
            return written.value
        signed = written.form == "percent"
        if signed and self.top == 1:
            raise RowsFileError(f"{what}, a percentage: add --scale percent")
        if self.top != 1:
            self._same_signs(signed, what)
        top = 100.0 if signed else self.top
        if written.value > top * (1 + SLIP):
            raise RowsFileError(f"{what}, above {top:g}: {self._other_scale()}")
        return min(written.value / top, 1.0) if written.value >= 0 else None

    def _other_scale(self) -> str:
        if self.top != 1:
            return "is it the right --scale? If this one cannot be read, leave it empty"
        return (
            "if the confidences are in percent, add --scale percent (or the top of their scale: --scale 10);"
            " if this one cannot be read, leave it empty"
        )

    def _same_signs(self, signed: bool, what: str) -> None:
        """With and without a percent sign in one file: those without may be shares."""
        self._signs.setdefault(signed, what)
        if len(self._signs) == 2:
            raise RowsFileError(f"{what}, but {self._signs[not signed]}: write all with the percent sign, or none")
