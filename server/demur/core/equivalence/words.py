"""English number words -> the number: "twenty-one", "one hundred and five", "two thirds", "a dozen"."""

import re
from fractions import Fraction

from demur.core.equivalence.text import word_set

SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_NUMERALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_SMALL = {word: number for number, word in enumerate(re.findall("[a-z]+", _NUMERALS))}
_TEN_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * i for i, word in enumerate(re.findall("[a-z]+", _TEN_NAMES), start=2)}
_PARTS = {
    name: number
    for number, names in (
        (2, "half halves"),
        (3, "third thirds"),
        (4, "quarter quarters fourth fourths"),
        (5, "fifth fifths"),
        (6, "sixth sixths"),
        (7, "seventh sevenths"),
        (8, "eighth eighths"),
        (9, "ninth ninths"),
        (10, "tenth tenths"),
    )
    for name in names.split()
}
_KNOWN = (
    frozenset(_SMALL)
    | frozenset(_TENS)
    | frozenset(SCALES)
    | frozenset(_PARTS)
    | word_set("and a minus negative dozen")
)
_WORD = re.compile(r"[a-z]+")
_ONLY_WORDS = re.compile(r"[a-z]+(?:[ -][a-z]+)*")
MAX_CHARS = 120


def number_in_words(text: str) -> Fraction | None:
    """The number that English words give; None for any other text.

    A lone "a", "third" or "hundred" is no number: the first two name something else.
    """
    if len(text) > MAX_CHARS or not text[:1].isalpha():
        return None
    lower = text.lower()
    first = _WORD.match(lower)
    if first is None or first[0] not in _KNOWN or _ONLY_WORDS.fullmatch(lower) is None:
        return None
    words = _WORD.findall(lower)
    if not all(word in _KNOWN for word in words):
        return None
    if words[-1] == "dozen":
        dozens = 1 if words[:-1] in (["a"], ["one"]) else _whole(words[:-1])
        return None if dozens is None else Fraction(12 * dozens)
    sign = -1 if words[0] in ("minus", "negative") else 1
    words = words[sign < 0 :]
    value = _with_parts(words)
    return None if value is None else sign * value


def _with_parts(words: list[str]) -> Fraction | None:
    """ "two and a half" and "three quarters", or a whole number."""
    if not words or words[-1] not in _PARTS:
        whole = _whole(words)
        return None if whole is None else Fraction(whole)
    split = len(words) - 1 - words[::-1].index("and") if "and" in words else -1
    before, part = (words[:split], words[split + 1 :]) if split > 0 else ([], words)
    top = 1 if part[:-1] in (["a"], ["one"]) else _whole(part[:-1])
    whole = _whole(before) if before else 0
    if top is None or whole is None or (top > 1 and not part[-1].endswith("s")):
        return None
    return whole + Fraction(top, _PARTS[part[-1]])


def _whole(words: list[str]) -> int | None:
    """Hundreds, then thousands and up, in falling order."""
    total = 0
    below = None
    group: list[str] = []
    for word in words:
        if word in SCALES and word != "hundred":
            counted = 1 if group == ["a"] else _below_thousand(group)
            if counted is None or (below is not None and SCALES[word] >= below):
                return None
            total, below, group = total + counted * SCALES[word], SCALES[word], []
        else:
            group.append(word)
    if not group:
        return total if below is not None else None
    rest = _below_thousand(group[1:] if below is not None and group[0] == "and" else group)
    return None if rest is None else total + rest


def _below_thousand(words: list[str]) -> int | None:
    """ "five", "twenty one", "a hundred and five"."""
    if "hundred" in words:
        at = words.index("hundred")
        hundreds = 1 if words[:at] == ["a"] else _below_hundred(words[:at])
        rest = words[at + 1 :]
        tail = _below_hundred(rest[1:] if rest[:1] == ["and"] else rest) if rest else 0
        return None if hundreds is None or tail is None else 100 * hundreds + tail
    return _below_hundred(words)


def _below_hundred(words: list[str]) -> int | None:
    match words:
        case [word]:
            return _SMALL.get(word, _TENS.get(word))
        case [ten, word] if ten in _TENS and 0 < _SMALL.get(word, 0) < 10:
            return _TENS[ten] + _SMALL[word]
        case _:
            return None
