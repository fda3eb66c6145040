"""A confidence as the model wrote it ("about 90 %") -> a probability, or why it is none.

`response` and `claims` find it in the text.

A statement is read to its end or not at all. It is `[about] NUMBER [SCALE] [REMARK]`, or words with one number in
brackets behind them; `written_numbers` knows the forms of the number. What says a range, a bound or two different
numbers is refused, and so is a number that is followed by something that is no remark.
"""

import re

from demur.core.answers import ParsedConfidence, ParseMode
from demur.core.parsing.before_labels import EMOJI
from demur.core.parsing.spelling import plain
from demur.core.parsing.stated_scales import label_scale, named_scale, scale_before
from demur.core.parsing.written_numbers import Quantity, in_digits, quantity_at

__all__ = ["CLIPPED_TO_1", "label_scale", "read_claim_value", "read_probability"]

_STRICT = re.compile(r"(?:0(?:\.\d+)?|1(?:\.0+)?|\.\d+)", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:e[-+]?\d{1,3})?", re.ASCII | re.IGNORECASE)

_LONGEST = 400
"""Longer than any confidence with the part of its remark that could change it; keeps a hostile value cheap."""
CLIPPED_TO_1 = 1.05
"""A bare number up to here is a slip for 1."""

_SIGNS = re.compile(f"[{EMOJI}\\s]{{0,8}}")
_BULLET = re.compile(r"[-•·]\s")
_OPENERS, _ENDS = " \n\"'([{)]}|,;", " \n\"'|,;"
_HEDGE = (
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.?|probably|maybe|perhaps|etwa|rund"
    r"|environ|alrededor de|quase|около|约|大约|大概|約|およそ|약)"
)
_LEVEL = (
    r"(?:(?:very|extremely|quite|fairly|pretty|somewhat|moderately|reasonably|highly|absolutely|completely) )?"
    r"(?:high|low|medium|moderate|certain|confident|sure|likely|unlikely|strong|weak)"
)
_SUBJECT = (
    r"(?:i(?:'m| am| would say| would estimate| would put it at| 'd say|'d say|'d estimate| estimate(?: it at)?| think"
    r"| believe| have| assign| feel)|my|the|an?|is|it is|it's|that's|of|at|as|level|score|rating|value"
    r"|estimate[ds]?|overall|final"
    r"|i(?:'d| would)? (?:rate|give|put|place|score)(?: (?:this|it|that|my|the))?|rating is|with"
    r"|confidence|certainty|probability|likelihood|chance|answer|p(?:\s?\([^()]{1,20}\))?|=|:|~)"
)
_BOUND_WORDS = (
    r"(?:>=?|<=?|(?:at (?:least|most)|more than|less than|greater than|higher than|lower than|over|under|above|below"
    r"|up to|no (?:more|less|fewer) than|not|between|from|min(?:imum)?|max(?:imum)?|somewhere between|anywhere"
    r"|mindestens|höchstens|über|unter|mehr als|weniger als|zwischen|au moins|au plus|plus de|moins de|entre"
    r"|al menos|más de|menos de|almeno|più di|meno di|pelo menos|mais de|至少|超过|低于)(?![a-z]))"
)
_BOUND = re.compile(_BOUND_WORDS)
_PREFACE = re.compile(
    rf"(?:(?!{_BOUND_WORDS})(?:{_SUBJECT}|{_HEDGE})(?![a-z])[\s:=]{{0,4}}){{0,8}}(?:{_LEVEL}\s?[-,:/=;|]\s?)?[~=:\s]{{0,4}}"
)
_RANGE = re.compile(
    r"\s?(?:±|\+/-|\+-|\+(?!\w)|"
    r"(?:-|\.\.+|~|to|until|till|through|and|bis|à|a|até|hasta|до|至|到|から)\s?(?=[~<>=\s]{0,4}[-+]?[.,]?\d)|"
    r"(?:or|and) (?:more|less|higher|lower|greater|above|below|over|under|better|worse|up|fewer|so forth)(?![a-z])|"
    r"(?:minimum|maximum|at (?:least|most)|min|max|plus|upwards)(?![a-z])|以上|以下)"
)
_REMARK = re.compile(
    r"\s?(?:[.,;:!?|(\[{\n]|-(?=\s|ish)|=(?=\s?[~\d.])|"
    rf"(?:{_LEVEL}|confidence|certainty|probability|probable|likelihood|chance|correct|right|accurate|true"
    r"|that|because|since|as|given|based|due|considering|i|my|this|the|it|if|though|although|but|however|so"
    r"|weil|da|denn|sicher|parce|car|sûr|certain|porque|seguro|perché|sicuro|потому|так)(?![a-z]))"
)
"""What may open a remark behind any number."""
_LISTED = re.compile(rf"[.)]\s?{_LEVEL}(?![a-z])")
"""1. High: the number of an item, not a certainty."""
_REMARK_BEHIND_A_SHARE = re.compile(
    r"\s?(?:[^\x00-\u02ff]|(?:for|which|where|there|with|while|note|explanation|reason|reasoning|justification|and|or"
    r"|of|in|on|at|are|is|about|approximately|overall|here|thus|from|after|they|we|you|its)(?![a-z]))"
)
"""And behind one that can hardly count anything else: 0.9 in my view; but not "1 of the sources"."""
_CLOSERS = re.compile(r"[\s\"')\]}>,.;|]*")
_QUOTES = " \"')]}"
_ALTERNATIVE = re.compile(
    r"[\s()\[\]{},;:=~|-]*(?:(?:or|maybe|perhaps|possibly|i\.?e\.?|that is|which is|about|approximately|around|roughly"
    r"|up from|down from|was|previously|equivalent(?:ly)?(?: to)?"
    r"|equals|equal to|actually|rather|no|well|aka|viz|is|~|=)[\s,:=~(-]{1,4}){0,3}"
)
_WORD_NEXT = re.compile(r"[\s-]?[^\W\d_]")
_NEGATED = re.compile(r"\b(?:not|isn't|aren't|cannot|can't|never|un(?:sure|certain|likely))\b")

_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]\n]{1,80})[)\]]")

_MISSING = ParsedConfidence("missing", None, ("confidence_missing",))


def read_probability(text: str, mode: ParseMode = "lenient", *, scale: float | None = None) -> ParsedConfidence:
    """Read what stands for a confidence: a number of [0, 1], its spellings and its remarks.

    Strict takes 0 to 1 in plain decimals. Lenient takes all that the module's grammar tells; a bare number counts on
    the scale that stands beside it, else on `scale` (100 for a prompt that asks 0 to 100), else from 0 to 1, where 10
    to 100 is a percentage, marked `rescaled`, and up to 1.05 a slip for 1, marked `clipped`. Everything else is
    "invalid", never a silent 0 or 0.5, with one problem: `range` (or a bound), `several` (different numbers),
    `not_understood` (a number with a rest that is no remark), `scale_unclear`, `out_of_range` or `not_a_number`.
    """
    stated = text.strip()
    if _STRICT.fullmatch(stated) and (scale is None or mode == "strict"):
        return ParsedConfidence("value", float(stated))
    if mode == "strict":
        return _strict_failure(stated)
    said = _undressed(in_digits(plain(stated[:_LONGEST])))
    said = _undressed(said[_match_end(_SIGNS, said, 0) :]) or said
    said = _undressed(said[_match_end(_BULLET, said, 0) :])
    said = _undressed(said[1:-1]) if said.startswith("<") and said.endswith(">") else said
    if not said.strip(".-"):
        return _MISSING
    return _statement(said.removesuffix("<"), scale)


def read_claim_value(text: str | None, mode: ParseMode = "lenient") -> ParsedConfidence:
    """Read a claim's `value`: lenient as `read_probability`; strict clips to [0, 1] as in the paper's appendix A."""
    if text is None or not text.strip(" \t\r\n\"'"):
        return _MISSING
    if mode == "lenient":
        return read_probability(text)
    if not _NUMBER.fullmatch(text.strip()):
        return _invalid("not_a_number")
    value = float(text)
    return (
        ParsedConfidence("value", value)
        if 0 <= value <= 1
        else ParsedConfidence("value", min(max(value, 0.0), 1.0), ("clipped",))
    )


def _strict_failure(stated: str) -> ParsedConfidence:
    if not stated:
        return _MISSING
    return _invalid("out_of_range" if _NUMBER.fullmatch(stated) else "not_a_number")


def _statement(said: str, scale: float | None) -> ParsedConfidence:
    if (before := scale_before(said)) is not None:
        top, end = before
        return _statement(_undressed(said[end:]), top)
    start = _match_end(_PREFACE, said, 0)
    found = quantity_at(said, start)
    if found is None:
        if _BOUND.match(said, start):
            return _invalid("range")
        return _in_brackets(said, scale)
    rest = said[found.end :]
    top = named_scale(rest)
    if _RANGE.match(rest):
        return _invalid("range")
    if top is None and not _is_remark(rest, found):
        return _invalid("not_understood")
    if top is None and _contradicts(found, rest, scale):
        return _invalid("several")
    return _scaled(found, top, scale)


def _in_brackets(said: str, scale: float | None) -> ParsedConfidence:
    """Words, and one number in brackets: High (90%)."""
    words = _IN_BRACKETS.sub("", said)
    inside = [match[1] for match in _IN_BRACKETS.finditer(said) if any(map(str.isdecimal, match[1]))]
    if any(map(str.isdecimal, words)):
        return _invalid("not_understood")
    return _statement(_undressed(inside[0]), scale) if len(inside) == 1 else _invalid("not_a_number")


def _is_remark(rest: str, found: Quantity) -> bool:
    if _match_end(_CLOSERS, rest, 0) == len(rest):
        return True
    if found.is_whole_number and not found.is_share and _LISTED.match(rest):
        return False
    rest = rest.lstrip(_QUOTES) if rest[:1] in _QUOTES[1:] else rest
    opened = _REMARK.match(rest) or (not found.is_whole_number and _REMARK_BEHIND_A_SHARE.match(rest))
    return bool(opened) and not _NEGATED.match(rest.lstrip(" ,;-("))


def _contradicts(found: Quantity, rest: str, scale: float | None) -> bool:
    """Whether what follows opens with another number that could be meant: 0.6 or 0.7; but 0.9 (90%) is one."""
    start = _match_end(_ALTERNATIVE, rest, 0)
    other = quantity_at(rest, start) if start else None
    if other is None:
        return False
    if other.is_whole_number and _WORD_NEXT.match(rest, other.end):
        return False  # 0.9 (3 sources agree)
    values = [_scaled(one, None, scale).value for one in (found, other)]
    return values[0] is not None and (values[1] is None or abs(values[0] - values[1]) > 0.006)


def _scaled(found: Quantity, named: float | None, asked: float | None) -> ParsedConfidence:
    """The one rule for scales: the stated one, else the asked one, else 0 to 1 with percentages told apart."""
    if found.problem is not None:
        return _invalid(found.problem)
    value, top = found.value, named if named is not None else asked
    if found.is_share or top == 1:
        return ParsedConfidence("value", value) if 0 <= value <= 1 else _invalid("out_of_range")
    if top is not None:
        if top != top or (0 < value < 1 and top >= 10):
            return _invalid("scale_unclear")  # 0.9 where 0 to 100 was asked
        return ParsedConfidence("value", value / top) if 0 <= value <= top else _invalid("out_of_range")
    if 0 <= value <= 1:
        return ParsedConfidence("value", value)
    if 1 < value <= CLIPPED_TO_1:
        return ParsedConfidence("value", 1.0, ("clipped",))
    return ParsedConfidence("value", value / 100, ("rescaled",)) if 10 <= value <= 100 else _invalid("out_of_range")


def _undressed(said: str) -> str:
    return said.lstrip(_OPENERS).rstrip(_ENDS)


def _match_end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return start if match is None else match.end()


def _invalid(problem: str) -> ParsedConfidence:
    return ParsedConfidence("invalid", None, (problem,))
