"""A confidence that is said in a sentence, without a label: "I am 90 % sure that it is Rome".

Only what somebody says of their own answer counts. A probability that is the subject, a confidence interval, a
negation, a condition and a bound are no confidence in an answer.
"""

import re
from typing import NamedTuple

from demur.core.parsing.spelling import plain
from demur.core.parsing.written_numbers import in_digits

_HINT = re.compile(r"sure|confiden|certain|chance|probab|likel|credence", re.IGNORECASE)
_BREAK = re.compile(r"[.!?](?=\s|$|[*_\"'”)])|\n|\\\]|。")
_ASKED = re.compile(r"how (?:sure|confident|certain) am I\b[^.?!\n]{0,40}\?\s*$", re.IGNORECASE)
"""A question whose answer is the next sentence."""
_LONGEST = 600
"""Characters of a sentence that somebody says in passing."""

_N = (
    r"(?P<n>\d{1,3}(?:[.,]\d{1,6})?\s?(?:%|percent\b|per cent\b)|[01]?[.,]\d{1,6}|\d{1,3}\s?(?:/|out of)\s?\d{1,3})"
    r"(?![\d%]|\s?(?:-|to|or|\+)\s?\d)"
)
_ABOUT = r"(?:(?:about|around|roughly|approximately|nearly|almost|probably|currently|only|~|only about|quite)\s?){0,2}"
_ANSWER = (
    r"(?:(?:in |for )?(?:this|it|that|my|the)(?: (?:final|own|above))?"
    r"(?: (?:answer|response|result|solution|guess|estimate|choice|conclusion))?)"
)
_SURE = r"(?:sure|confident|certain)\b"
_RIGHT = r"(?:right|correct|true|accurate)\b"
_BE = r"\s?(?:is|:|=|would be|stands at|at)\s"
_OWN = r"(?:confidence|certainty|credence)(?: (?:level|score|rating|estimate))?"
_BEING_RIGHT = rf"(?:i am|i'm|my being|{_ANSWER}(?: is| being)?|being) {_RIGHT}"
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:i am|i'm|im|i feel|we are|we're)\s{_ABOUT}{_N}\s{_SURE}",
        rf"\b(?:i'd say|i would say|i think|i estimate)(?: that)?(?: i am| i'm)?\s{_ABOUT}{_N}\s{_SURE}",
        rf"^[\s(\[]*{_ABOUT}{_N}\s{_SURE}",
        rf"\bmy (?:\w+ ){{0,2}}{_OWN}(?: (?:in|that|of|for|about) {_ANSWER}[^.\d]{{0,40}})?{_BE}{_ABOUT}{_N}",
        rf"\b{_OWN} (?:in|for|of|that) {_ANSWER}(?: is {_RIGHT})?{_BE}{_ABOUT}{_N}",
        rf"\bi (?:would |'d )?(?:have|give|assign|put|estimate|say)\b[^.\d]{{0,40}}\s{_ABOUT}{_N}"
        r"\s(?:confidence|certainty)\b(?! (?:interval|level|band|bound|limit|region))",
        rf"\b(?:with|at)\s{_ABOUT}{_N}\s(?:confidence|certainty),?"
        rf"\s(?:i|my|the answer|it is|that the answer|in {_ANSWER})\b",
        rf"\b{_N}\s(?:chance|probability|likelihood)(?: that| of)?\s{_BEING_RIGHT}",
        rf"\b(?:chance|probability|likelihood) (?:that|of)\s{_BEING_RIGHT}{_BE}{_ABOUT}{_N}",
        rf"[(\[]\s?(?:{_OWN}|probability)\s?[:=]?\s?{_ABOUT}{_N}\s?[)\]]",
        rf"[(\[]\s?{_ABOUT}{_N}\s(?:sure|confident|certain|confidence|certainty)\s?[)\]]",
        rf"[-,;]\s{_ABOUT}{_N}\s(?:sure|confident|certain|confidence|certainty)[\s.!]*$",
        rf"^[\s(\[*-]*{_OWN}\s(?:is|of|at)\s{_ABOUT}{_N}[\s.!)\]]*$",
        rf"\b(?:i am|i'm|i feel) (?:\w+ )?{_SURE} (?:in|of|about|that) {_ANSWER}(?: is {_RIGHT})?"
        rf"\s?[(\[:,-]\s?{_ABOUT}{_N}",
        r"^[\s*-]*how (?:sure|confident|certain) am i\b[^.?!\d]{0,40}\?[\s*]*(?:[^\W\d]+[\s,:]{1,3}){0,4}"
        rf"{_ABOUT}{_N}[\s.!*)%]*$",
    )
)
_DENIED = re.compile(
    r"\b(?:not|never|no|nor|neither|hardly|cannot|without|unless|if|whether|were|n't|\w+n't|less than|more than"
    r"|at least|at most|up to|over|under|between|below|above)\b"
)
_OF_ELSE = re.compile(
    r"[\s,]{1,3}(?:that )?(?:(?:it|this|that|the answer|he|she|they) (?:is|was|are|were) not\b"
    r"|(?:it|this|that|he|she) (?:isn't|wasn't)|not\b|that i (?!am (?:right|correct)\b|'m (?:right|correct)\b))"
)
"""Sure of what the answer is not, or of a step on the way."""
_STATISTICS = re.compile(
    r"\b(?:intervals?|percentile|sample[sd]?|population|hypothes[ie]s|significan\w+|margin|deviation|p-value|null|quantile"
    r"|confidence (?:level of|bounds?|bands?|limits?|regions?))\b"
)


class SentenceConfidence(NamedTuple):
    """A confidence that a sentence states without a label: the number as written, and where the sentence stands."""

    stated: str
    start: int
    end: int


def sentence_confidence(text: str) -> SentenceConfidence | None:
    """The last confidence that a sentence states for the answer. Linear in the length of the text."""
    found = None
    hints = _HINT.finditer(text)
    end = -1
    for hint in hints:
        if hint.start() < end:
            continue
        start, end = _sentence(text, hint.start())
        if (stated := _stated(text[start:end])) is not None:
            found = SentenceConfidence(stated, start, end)
    return found


def _sentence(text: str, at: int) -> tuple[int, int]:
    """The sentence around a place; a full stop inside a number ends none."""
    low = max(0, at - _LONGEST)
    start = low
    for match in _BREAK.finditer(text, low, at):
        start = match.end()
    after = _BREAK.search(text, at, min(len(text), at + _LONGEST))
    if after and _ASKED.search(text, start, after.end()):
        after = _BREAK.search(text, after.end(), min(len(text), at + _LONGEST))
    return start, after.end() if after else min(len(text), at + _LONGEST)


def _stated(sentence: str) -> str | None:
    said = in_digits(plain(sentence)).strip()
    if _STATISTICS.search(said):
        return None
    for form in _FORMS:
        match = form.search(said)
        if match and not _DENIED.search(said, 0, match.start("n")) and not _OF_ELSE.match(said, match.end()):
            return match["n"]
    return None
