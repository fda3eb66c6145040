"""The confidences of a file on its scale: probabilities, percentages, or points up to a top."""

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, Self

from demur.core.answers import ConfidenceStatus
from demur.core.parsing import read_probability
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

    What is no number on the scale is unreadable and counted; the first of them is named in `unreadable`. Where the
    caller has not stated the scale, a number above 1 or a percent sign raises RowsFileError with the option that does:
    the file may be in percent, where a 1 is not certain.
    """

    top: float = 1.0
    is_stated: bool = False
    unreadable: str | None = None
    _on_it: int = 0
    _above: int = 0
    _signs: dict[bool, str] = field(default_factory=dict[bool, str])

    @classmethod
    def of(cls, text: str | None) -> Self:
        """The scale of the option: "percent", or its top, at least 1. Raises EvaluationError for anything else."""
        if text is None:
            return cls()
        if text.strip().lower() in ("percent", "%"):
            return cls(100.0, is_stated=True)
        top = number_in(text)
        if top is None or not 1 <= top < math.inf:
            raise EvaluationError(f"--scale {text}: write percent, or the top of the scale, such as 10 or 5")
        return cls(top, is_stated=True)

    def read(self, value: Any, column: str, place: str) -> tuple[float | None, ConfidenceStatus]:
        """The confidence in [0, 1], if there is one, and the state of it.

        Raises RowsFileError where the number shows that the scale may be another one than the caller's.
        """
        if type(value) is float and 0 <= value <= 1 and self.top == 1:
            self._on_it += 1
            return value, "value"
        if is_missing(value):
            return None, "missing"
        written = stated(value, self.top)
        p = None if written is None else self._share(written, f'{place}: "{column}" is {shown(value)}')
        if p is None:
            self.unreadable = self.unreadable or f"{place}: {shown(value)}"
            return None, "invalid"
        return p, "value"

    def check(self, file: str) -> None:
        """Raise RowsFileError where most numbers of the file are above the stated scale."""
        if self._above > self._on_it:
            raise RowsFileError(f"{file}: most confidences are above {self.top:g}: is it the right --scale?")

    def _share(self, written: Stated, what: str) -> float | None:
        if written.form == "share":
            return written.value
        signed = written.form == "percent"
        if self.is_stated:
            self._same_signs(signed, what)
        elif signed:
            raise RowsFileError(f"{what}, a percentage: add --scale percent")
        top = 100.0 if signed else self.top
        if not 0 <= written.value <= top * (1 + SLIP):
            self._refuse_or_count(written.value, what)
            return None
        self._on_it += 1
        return min(written.value / top, 1.0)

    def _refuse_or_count(self, value: float, what: str) -> None:
        """A number off the scale."""
        if value > 1 and not self.is_stated:
            raise RowsFileError(
                f"{what}, above 1: add --scale percent if the confidences are in percent (or the top of their scale,"
                " such as --scale 10), or --scale 1 to count such a one as unreadable"
            )
        self._above += value > 0

    def _same_signs(self, signed: bool, what: str) -> None:
        """With and without a percent sign in one file: those without may be shares."""
        self._signs.setdefault(signed, what)
        if len(self._signs) == 2:
            raise RowsFileError(f"{what}, but {self._signs[not signed]}: write all with the percent sign, or none")
