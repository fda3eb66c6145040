"""Answers in sentences: "the answer is B", 答案是C, and a label amid a line: "That leaves two. Answer: B"."""

import re
from collections import deque
from functools import cache

from demur.core.parsing.labels import LABELS, Labels
from demur.core.parsing.tries import any_case

_NAMES = (
    r"\b(?:the|my|our) (?:final |correct |best |right )?(?:answer|choice|option)(?: to (?:this|the) [\w ]{1,30})?"
    r"(?: is|:)(?: therefore| thus| simply| probably| most likely)?:? {0,2}+"
    r"(?!not\b|un|that\b|to be\b|in (?:the|this|my)\b|based\b|the same\b|correct\b|right\b|wrong\b|as follows)"
)
_SAID = re.compile(_NAMES + r"([^\n]{1,200})", re.IGNORECASE)
_AT_START = re.compile(
    r"(?:(?:so|thus|therefore|hence|i (?:think|believe)(?: that)?),? )?" + _NAMES + r"([^\n]{1,200})", re.IGNORECASE
)
_SENTENCE_ENDS = re.compile(
    r"[.!](?=\s|[\"”']?$)|。|,? (?:because|since|as|so|and I|but)\b|[;,] (?:I|with|which)\b|[，；]"
)
_QUOTED_LINES = re.compile(r"^[ \t]{0,8}>[^\n]*", re.MULTILINE)
_FENCED = re.compile(
    r"^[ \t]{0,3}(`{3}|~{3})[^\n]*\n(?:(?![ \t]{0,3}\1)[^\n]*\n)*+(?:[ \t]{0,3}\1[^\n]*)?", re.MULTILINE
)
_DENIED = (
    r"(?!not\b|un|项|項|nicht|kein|pas\b|non\b|no\b|não\b|niet\b|geen\b|nie\b|не\b|不|没|無|ない|descono|inconn|sconosc"
    r"|onbekend|niezna|неизв|belirsiz)"
)
_ENDINGS = re.compile(r"(?:です|である|となります|だ|になります|입니다|이다|입니다|है|'?(?:dir|dır|dur|dür|tir|tır))$")


def said_to_be(text: str, labels: Labels = LABELS) -> str | None:
    """What the last sentence of the kind "the answer is B" names, else the last label amid a line."""
    forms = (_SAID, _other_languages(labels), _amid_a_line(labels))
    found = [match for form in forms for match in deque(form.finditer(text), maxlen=1)]
    if not found:
        return None
    return _to_sentence_end(max(found, key=lambda match: match.start(1))[1])


def named(answer: str) -> str | None:
    """What an answer names that is such a sentence itself."""
    match = _AT_START.match(answer)
    return None if match is None else _to_sentence_end(match[1])


def without_quotes(text: str) -> str:
    """`text` without lines behind a `>` and without blocks of code."""
    return _QUOTED_LINES.sub("", _FENCED.sub("", text))


def _to_sentence_end(said: str) -> str | None:
    said = said.strip()
    end = _SENTENCE_ENDS.search(said)
    said = (said[: end.start()] if end else said).strip(" :：*")
    return _ENDINGS.sub("", said).strip() or None


@cache
def _other_languages(labels: Labels) -> re.Pattern[str]:
    phrases = [phrase for phrase in labels.said if not phrase.startswith(("the ", "my "))]  # English has its own
    begins = r"(?:\b|(?<=[\u3000-\u9fff]))"
    return re.compile(rf"{begins}{any_case(phrases)}\s{{0,2}}+[:：]?+\s{{0,2}}+{_DENIED}([^\n]{{1,60}})", re.IGNORECASE)


@cache
def _amid_a_line(labels: Labels) -> re.Pattern[str]:
    begins = r"(?<!^[0-9])(?<!^[0-9][0-9])[.!?;,:)。！？；，：、][ \t]{0,3}"  # not the number of an item
    label = rf"{any_case(labels.answer)}[ \t]{{0,2}}[:：][ \t]{{0,3}}"
    return re.compile(rf"{begins}{label}([^\n]{{1,200}})", re.IGNORECASE | re.MULTILINE)
