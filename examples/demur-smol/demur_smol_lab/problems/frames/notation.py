"""How a question is written down: signs, numbers in words, capitals, the mark at its end."""

import random
import re

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

_TIMES = (" × ", " x ", "*", " · ", " times ", "×")
_MINUS = (" − ", "-", " – ", " minus ")
_PLUS = ("+", " plus ", " + ")
_OVER = (" ÷ ", "/", " : ", " divided by ", "÷")
_SIGNS = ((" * ", _TIMES), (" - ", _MINUS), (" + ", _PLUS), (" / ", _OVER))


def spelled(value: int) -> str:
    """A natural number up to a thousand in English words."""
    if value < 20:
        return _SMALL[value]
    if value < 100:
        tens, ones = divmod(value, 10)
        return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")
    if value == 1000:
        return "one thousand"
    hundreds, rest = divmod(value, 100)
    return f"{_SMALL[hundreds]} hundred" + (f" {spelled(rest)}" if rest else "")


def written_otherwise(question: str, rng: random.Random) -> str:
    """The same question in another notation: two in three stay as they are but for their signs."""
    question = _signs(question, rng)
    if rng.random() < 0.08:
        question = _in_words(question)
    if rng.random() < 0.06:
        question = re.sub(r"(?<![\d.,/])\d{4,6}(?![\d.,/])", lambda match: f"{int(match[0]):,}", question)
    if rng.random() < 0.12:
        question = question.lower()
    if rng.random() < 0.10:
        question = question.rstrip(".?!") or question
    elif rng.random() < 0.03:
        question += rng.choice(("?", "!", " ?", "..."))
    return question


def _signs(question: str, rng: random.Random) -> str:
    for sign, others in _SIGNS:
        if sign in question and rng.random() < 0.35:
            question = question.replace(sign, rng.choice(others))
    return question


def _in_words(question: str) -> str:
    """Every number in words, unless one is too large, has a decimal point or stands in a fraction."""
    numbers = re.findall(r"[\d.,/:%^-]*\d[\d.,/:%^]*", question)
    if any(not number.rstrip(".,:").isdigit() or int(number.rstrip(".,:")) > 1000 for number in numbers):
        return question
    return re.sub(r"\d+", lambda match: spelled(int(match[0])), question)
