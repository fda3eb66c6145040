"""The scale that is named beside a confidence, before it or in its label: out of 10, 0-100, a ten-point scale.

All patterns are for text in the spelling of `spelling.plain`.
"""

import re

from demur.core.parsing.spelling import plain

_TOP = r"(?P<top>\d{1,4})(?:\.0{1,3})?"
_LOW = r"(?:0|1)(?:\.0{1,3})?\s?%?\s?"
_SPAN = rf"{_LOW}(?:-|to|through|and|,|\.\.+)\s?{_TOP}\s?%?"
_ANCHOR = r"\s?(?:=|means|being|is)\s?[a-z][a-z' ]{0,30}"
_ANCHORS = rf"[(\[]?(?:0|1){_ANCHOR}[,;/]?\s?(?:and\s)?(?P<top>1|5|7|10|100){_ANCHOR}[)\]]?"
_WORD = re.compile(r"\bscale\b|\bout of\b|\brange\b")
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\bscale\b[^\d\n]{{0,24}}{_SPAN}",
        rf"{_LOW}(?:-|to)\s?{_TOP}\s?%?[\s-](?:point )?(?:scale|range)\b",
        rf"\brange\b[^\d\n]{{0,12}}{_SPAN}",
        rf"{_TOP}[\s-]point scale\b",
        rf"\bscale of {_TOP}(?![\d.]|\s?(?:-|to))",
        rf"\bout of\s(?:a (?:possible )?)?{_TOP}",
        rf"\s?[(\[]\s?/\s?{_TOP}\s?[)\]]",
        rf"\s?[(\[]\s?(?:scale:?\s)?{_LOW}(?:-|to)\s?{_TOP}\s?%?\s?[)\]]",
        _ANCHORS,
    )
)
_BEFORE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:(?:on|in|using|within|with)\s)?(?:an?\s|the\s)?(?:scale|range)\s?"
        rf"(?:(?:of|from|between|is|goes from)\s|[:,(])?\s?{_SPAN}\)?(?!\s?[-\d])",
        rf"(?:on|in|using)\s(?:an?|the)\s{_SPAN}\s(?:scale|range)",
        rf"(?:from|between)\s{_SPAN}\s?(?=[,:;])",
        rf"out of\s(?:a (?:possible )?)?{_TOP}\s?(?=[,:;])",
        rf"(?:(?:on|using)\s)?(?:an?|the)\s{_TOP}[\s-]point scale",
        _ANCHORS,
    )
)
_BEHIND = re.compile(r"[\s,.:;)\]-]*")
_IN_LABEL = re.compile(rf"(?:(?:from|between)\s)?{_SPAN}(?P<percent>\s?%)?")
_LABEL_PERCENT = re.compile(
    r"(?:in|as|en|em)?\s?(?:an?\s)?(?:%|per ?cent(?:age)?|pct|prozent|pour ?cent(?:age)?|porcentaje|porcentagem)"
)
_LABEL_TOP = re.compile(r"/\s?(?P<top>\d{1,4})")


def label_scale(remark: str) -> float | None:
    """The top of the scale that a label names: `0-100`, `out of 10`, `%`, `/100`. None when it names none."""
    said = plain(remark).strip(" ,")
    if _LABEL_PERCENT.fullmatch(said):
        return 100.0
    match = _LABEL_TOP.fullmatch(said) or _IN_LABEL.match(said) or _first(said)
    return None if match is None or float(match["top"]) == 0 else float(match["top"])


def named_scale(rest: str) -> float | None:
    """The top of the scale that is named behind a number; NaN for one that is not understood."""
    near = rest[:100]
    if match := _first(near):
        return float(match["top"]) or None
    return float("nan") if _WORD.search(near) else None


def scale_before(said: str) -> tuple[float, int] | None:
    """The top of a scale that a statement begins with, and where the rest begins: "On a scale of 0 to 10, 9"."""
    for form in _BEFORE:
        match = form.match(said)
        if match is not None and float(match["top"]) > 0:
            behind = _BEHIND.match(said, match.end())
            return float(match["top"]), behind.end() if behind else match.end()
    return None


def _first(said: str) -> re.Match[str] | None:
    return next((match for form in _FORMS if (match := form.search(said))), None)
