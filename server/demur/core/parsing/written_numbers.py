"""A written number and what it counts, in the forms that people use for a probability.

All patterns are for text in the spelling of `spelling.plain`.
"""

import re
from typing import NamedTuple

_DIGITS = r"(?:\d{1,40}(?:[.,·]\d{1,40})?|[.,]\d{1,40})"
_EXPONENT = r"(?:e[-+]?\d{1,3}|\s?[x·]\s?10\s?\^\s?\(?\s?[-+]?\s?\d{1,3}\s?\)?)"
_POWER = r"\d{1,3}\s?\^\s?\(?\s?[-+]?\s?\d{1,3}\s?\)?"
_NUMBER = rf"(?:{_POWER}|[-+]?{_DIGITS}{_EXPONENT}?)"

_PERCENT_WORDS = """per cent, per-cent, percent, percentage, pct., pct, p.c., prozent, pour cent, pour-cent, por ciento,
    por cien, per cento, percento, por cento, procent, procento, procenta, procentas, procentów, процентов, процента,
    процент, yüzde, パーセント, 퍼센트, 프로, प्रतिशत, في المئة, بالمئة, في المائة, بالمائة"""
_PERCENT = r"\s?(?:%|(?:" + "|".join(re.escape(word.strip()) for word in _PERCENT_WORDS.split(",")) + r")(?!\w))"
_BEFORE_PERCENT = r"(?:%\s?|百分之\s?|yüzde\s)"
_OF_WORDS = "out of, in, of, von, aus, sur, de, di, su, em, en, z, na, van, uit, op, из, üzerinden, من, में से"
_OF = r"\s(?:" + "|".join(sorted((re.escape(w.strip()) for w in _OF_WORDS.split(",")), key=len, reverse=True)) + r")\s"
_COUNTED = r"(?:\s(?:stars?|points?|pts|marks?|times|cases|chances?|sterne|punkten?))?"

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def _number_words() -> dict[str, str]:
    words = {word: value for value, word in enumerate(("zero", *_ONES, *_TEENS))}
    words |= {"hundred": 100, "a hundred": 100, "one hundred": 100}
    for tens, ten in enumerate(_TENS, 2):
        words[ten] = 10 * tens
        words |= {f"{ten}{joint}{one}": 10 * tens + unit for unit, one in enumerate(_ONES, 1) for joint in "- "}
    return {word: str(value) for word, value in words.items()}


_WORDS = _number_words()
_WORD = "(?:" + "|".join(sorted(map(re.escape, _WORDS), key=len, reverse=True)) + ")"
_PERCENT_IN_WORDS = re.compile(rf"\b({_WORD})(?=[\s-](?:per cent|per-cent|percent|pct)\b)")
_PART_IN_WORDS = re.compile(rf"\b({_WORD}|\d{{1,6}})({_COUNTED}\s(?:out of|in|of)\s)({_WORD}|\d{{1,6}})\b")

_WORDY = re.compile(r"per ?cent|pct|\b(?:in|of)\s")

_CHINESE = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CHINESE_PERCENT = re.compile(r"百分之([零〇一二三四五六七八九十百]{1,4})")
_HAN = "[0-9一二三四五六七八九十]"
_TENTHS = re.compile(
    r"(\d|[一二三四五六七八九十])\s?(?:成|割)(?:([1-9一二三四五六七八九])(?:\s?分)?(?:([1-9一二三四五六七八九])\s?厘)?|(半))?"
    r"(?![0-9一二三四五六七八九十半功为為果本员員立合])"
)
_SHARE_OF = re.compile(rf"({_HAN}{{1,3}})(?:分之|分の|분의)\s?({_HAN}{{1,3}})(?!\d)")
_MARK = r"(?P<part>\d{1,4}+(?:\.\d)?)"
_MOST = r"(?P<whole>\d{1,4}+)"
_POINTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_MOST}\s?点(?:満点)?(?:中|満点で|満点の|満点のうち|満点|のうち)[,\s]?\s?{_MARK}\s?点",
        rf"{_MARK}\s?点?\s?[(/,]?\s?{_MOST}\s?点満点\s?(?:中)?\)?",
        rf"(?:满分|滿分)\s?{_MOST}\s?分?(?:[,:;\s]|我|给|給|打|评|評|是|为){{1,6}}{_MARK}\s?分",
        rf"{_MARK}\s?分?\s?[(/,]?\s?(?:满分|滿分)\s?(?:为|為|是|:)?\s?{_MOST}\s?分?\)?",
        rf"{_MOST}\s?分制[,:\s]?(?:的|中)?\s?{_MARK}\s?分",
        rf"{_MOST}\s?점\s?(?:만점(?:에서|에|중에|중)?|중에|중)\s?{_MARK}\s?점",
    )
)
"""Points of so many, in Japanese, Chinese and Korean."""
_SCALE_IN_WORDS = re.compile(rf"\b({_WORD})(?=[\s-]point scale|\sto\s|\s(?:on|out of)\s)|(?<=\sto\s)({_WORD})\b")

_FORMS = (
    ("part", rf"(?P<number>{_NUMBER}){_PERCENT}\s?(?:/|{_OF})\s?(?P<whole>{_NUMBER}){_PERCENT}"),
    ("part", rf"(?P<number>{_NUMBER})\s?/\s?(?P<whole>{_NUMBER})"),
    (
        "of",
        rf"(?P<number>{_NUMBER}){_COUNTED}{_OF}(?:a |the )?(?:possible |total |maximum )?"
        rf"(?P<whole>{_NUMBER}){_COUNTED}",
    ),
    ("hundredth", rf"(?P<number>{_NUMBER}){_PERCENT}"),
    ("hundredth", rf"{_BEFORE_PERCENT}(?P<number>{_NUMBER})"),
    ("thousandth", rf"(?P<number>{_NUMBER})\s?(?:‰|per mille?\b)"),
    ("bare", rf"(?P<number>{_NUMBER})"),
)
_ENDS = r"(?!\d|\s?\^|[.,·:]\d|\s?/\s?\w)"
"""A number that runs on is another number: 0.9.5, 9/10/2024, 3:1, 2^3^4."""
_PATTERNS = tuple((unit, re.compile(form + _ENDS)) for unit, form in _FORMS)
_HALVES = re.compile(r"(?:50\s?(?:%\s?)?[-/:]\s?50(?:\s?%)?|fifty[- ]fifty)(?![\w^%/.,-])")
_SCALES = (1, 5, 10, 100)
_FACTORS = {"hundredth": 100.0, "thousandth": 1000.0}


class Quantity(NamedTuple):
    """`value` as a share of the whole if one is named (`is_share`), else the bare number; it ends before `end`."""

    value: float
    is_share: bool
    end: int
    is_whole_number: bool = False
    problem: str | None = None


def quantity_at(text: str, start: int) -> Quantity | None:
    """The number that stands at `start`, None where none does, or none that is understood to its end."""
    if halves := _HALVES.match(text, start):
        return Quantity(0.5, True, halves.end())
    for unit, pattern in _PATTERNS:
        if match := pattern.match(text, start):
            return _quantity(unit, match)
    return None


def in_digits(text: str) -> str:
    """Number words as digits where they count hundredths or parts: ninety percent, one in five, 百分之九十, 九成."""
    if _WORDY.search(text):
        text = _PERCENT_IN_WORDS.sub(lambda match: _WORDS[match[1]], text)
        text = _PART_IN_WORDS.sub(lambda m: _WORDS.get(m[1], m[1]) + m[2] + _WORDS.get(m[3], m[3]), text)
    if "百" in text:
        text = _CHINESE_PERCENT.sub(lambda match: f"{_chinese(match[1])}%", text)
    if "scale" in text:
        text = _SCALE_IN_WORDS.sub(lambda match: _WORDS[match[1] or match[2]], text)
    if "成" in text or "割" in text:
        text = _TENTHS.sub(_tenths, text)
    if "点" in text or "分" in text or "점" in text or "분" in text:
        text = _SHARE_OF.sub(lambda match: f" {_chinese(match[2])}/{_chinese(match[1])}", text)
        for form in _POINTS:
            text = form.sub(r" \g<part>/\g<whole>", text)
    return text


def _quantity(unit: str, match: re.Match[str]) -> Quantity:
    number = _float(match["number"])
    if number is None:
        return Quantity(-1.0, True, match.end(), problem="out_of_range")
    if unit in ("part", "of"):
        whole = _float(match["whole"])
        if unit == "of" and number != int(number) and whole not in _SCALES:
            return Quantity(-1.0, True, match.end(), problem="not_understood")  # 0.9 in 2024
        return _part(number, whole, match.end())
    if unit == "bare":
        return Quantity(number, False, match.end(), match["number"].strip().isdecimal())
    return Quantity(number / _FACTORS[unit], True, match.end())


def _part(number: float, whole: float | None, end: int) -> Quantity:
    if whole is not None and number > 0 and number + whole == 100 and number != whole:
        return Quantity(-1.0, True, end, problem="not_understood")  # 60/40: a share of 100, or 60 of 40?
    if whole is None or whole <= 0 or not 0 <= number <= whole:
        return Quantity(-1.0, True, end, problem="out_of_range")
    return Quantity(number / whole, True, end)


def _float(written: str) -> float | None:
    """None for what is too large, and for 1,000, which is one or a thousand."""
    written = re.sub(r"[\s()]", "", written)
    if re.search(r"[1-9]\d*,\d{3}(?!\d)", written):
        return None
    base, power, exponent = written.partition("^")
    try:
        if not power:
            return float(written.replace(",", ".").replace("·", "."))
        for times in "x·":
            factor, found, ten = base.rpartition(times)
            if found:
                return float(factor.replace(",", ".").replace("·", ".")) * float(ten) ** int(exponent)
        return float(base) ** int(exponent)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def _chinese(written: str) -> int:
    if written.isdecimal() and written.isascii():
        return int(written)
    tens, ten, ones = written.partition("十")
    if written in ("百", "一百"):
        return 100
    if not ten:
        return int("".join(str(_digit(c)) for c in written))
    return 10 * (_digit(tens) if tens else 1) + (_digit(ones) if ones else 0)


def _digit(character: str) -> int:
    return int(character) if character.isdecimal() else _CHINESE.get(character, 0)


def _tenths(match: re.Match[str]) -> str:
    first = 10 if match[1] == "十" else _digit(match[1])
    more = 5 if match[4] else _digit(match[2]) if match[2] else 0
    thousandths = f".{_digit(match[3])}" if match[3] else ""
    return f"{10 * first + more}{thousandths}%"
