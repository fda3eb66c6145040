"""One written confidence -> a probability, or why it is none."""

import re

from demur.core.answers import Mode, Reading

_STRICT = re.compile(r"(?:0(?:\.\d+)?|1(?:\.0+)?|\.\d+)", re.ASCII)

_PLAIN = re.compile(r"[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:e[-+]?\d{1,3})?", re.ASCII | re.IGNORECASE)

_DRESS = " \t\r\n*_`$'\"“”‘’()[]{}<>"
"""What people put around a number: spaces, emphasis, code, maths, quotes, brackets."""

_NUMBER = r"[-+−]?(?:\d{1,40}(?:[.,]\d{0,40})?|[.,]\d{1,40})(?:e[-+]?\d{1,3})?"
_LENIENT = re.compile(
    r"(?:(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.|is|[~≈=:])[ \t]{0,4}){0,3}"
    rf"(?P<number>{_NUMBER})"
    r"[*_`$\\ \t]{0,8}(?:(?P<percent>%|percent\b|per cent\b|pct\b)"
    rf"|(?:/|out of|of)[ \t*_`$]{{0,4}}(?P<whole>{_NUMBER})(?P<wholepercent>[ \t]?%)?)?"
    r"(?!\w|[.,]\d|[ \t]{0,2}(?:[-–—]|to\b)[ \t]{0,2}\d)",
    re.IGNORECASE | re.ASCII,
)
_IN_BRACKETS = re.compile(r"\(([^()\n]{1,60})\)")
_LONGEST = 400
"""Longer than any confidence with its remark; keeps a hostile value from costing time."""

_MISSING = Reading("missing", None, ("confidence_missing",))


def read_probability(text: str, mode: Mode = "lenient") -> Reading:
    """Read the number that stands for a response confidence.

    Strict takes 0 to 1 in plain decimals. Lenient also takes 95%, 0.9/1, 95 out of 100, a decimal comma, markdown
    and a remark after the number; a bare number from 10 to 100 is a percentage and marked `rescaled`. Numbers that
    are no probability, nan, inf, ranges and words are "invalid", never a silent 0 or 0.5.
    """
    if mode == "strict":
        stated = text.strip()
        if not stated:
            return _MISSING
        if _STRICT.fullmatch(stated):
            return Reading("value", float(stated))
        return _invalid("out_of_range" if _is_number(stated) else "not_a_number")
    value, percent = _lenient_number(text)
    if value is None:
        return _MISSING if not text.strip(_DRESS) else _invalid("not_a_number")
    if percent:
        return Reading("value", value / 100) if 0 <= value <= 100 else _invalid("out_of_range")
    if 0 <= value <= 1:
        return Reading("value", value)
    if 10 <= value <= 100:
        return Reading("value", value / 100, ("rescaled",))
    return _invalid("out_of_range")


def read_claim_value(text: str | None, mode: Mode = "lenient") -> Reading:
    """Read a claim's `value`. Numbers outside [0, 1] are clipped and marked, as in the paper's appendix A."""
    if text is None or not text.strip(_DRESS):
        return Reading("missing", None, ("confidence_missing",))
    if mode == "strict":
        value, percent = (float(text) if _is_number(text) else None), False
    else:
        value, percent = _lenient_number(text)
    if value is None:
        return _invalid("not_a_number")
    if percent:
        value /= 100
    if 0 <= value <= 1:
        return Reading("value", value)
    return Reading("value", min(max(value, 0.0), 1.0), ("clipped",))


def _lenient_number(text: str) -> tuple[float | None, bool]:
    """The one number in `text` and whether it counts per cent; fractions such as 45/50 are divided out."""
    text = text[:_LONGEST]
    match = _LENIENT.match(text.strip(_DRESS))
    if match is None:
        inside = [m for b in _IN_BRACKETS.finditer(text) if (m := _LENIENT.match(b[1].strip(_DRESS)))]
        if len(inside) != 1:
            return None, False
        match = inside[0]
    value = _float(match["number"])
    if match["whole"] is None:
        return value, match["percent"] is not None
    whole = _float(match["whole"])
    if whole <= 0 or not 0 <= value <= whole:
        return -1.0, False  # a fraction, but of nothing or of too little: out of range
    return value / whole, False


def _float(digits: str) -> float:
    return float(digits.replace(",", ".").replace("−", "-"))


def _is_number(text: str) -> bool:
    return (
        re.fullmatch(r"[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,3})?", text.strip(), re.ASCII)
        is not None
    )


def _invalid(problem: str) -> Reading:
    return Reading("invalid", None, (problem,))
