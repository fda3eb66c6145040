"""A number and what it counts: "20 days", "$5", "90°", "5 cm^2", "3 million"."""

import re
from dataclasses import dataclass
from fractions import Fraction

from demur.core.equivalence.arithmetic import evaluate
from demur.core.equivalence.number import Number, combine
from demur.core.equivalence.separators import as_one_number, without_thousands
from demur.core.equivalence.unit_names import ALIASES, PERCENT, read_unit
from demur.core.equivalence.words import SCALES as NAMED
from demur.core.equivalence.words import number_in_words

SCALES = NAMED | {"dozen": 12}
_SHORT_SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "mn": 10**6, "B": 10**9, "bn": 10**9}
"""Of money: $3M."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value and its unit in one spelling, "" when none was written. Of a percentage, the fraction of one it is."""

    value: Number
    unit: str


_CURRENCY = re.compile(r"([+-]?)\s*(?:([$€£¥₹])|(?:US\s?\$|USD|EUR|GBP|JPY|INR)(?=[ \d]))\s*(?=[\d.\\])")
_STARTS = ("pi", "sqrt", "US", "EUR", "GBP", "JPY", "INR")
"""Letters that a quantity may start with."""
_CURRENCY_CODE = re.compile(r"USD|EUR|GBP|JPY|INR|US\s?\$")
_POWER = r"(?:\s?\^\s?\{?-?\d\}?)?"
_NAME = r"[A-Za-zµμΩ]+" + _POWER
_NAMES = _NAME + r"(?:\s*[/*]\s*" + _NAME + ")*"
_TRAILING = re.compile(
    rf"(.*?(?:[\d)}}!.]|\\pi(?=\s)))(\s*)((?:°\s?[CFK]\b|[%°$€£¥₹¢℃℉]|{_NAMES})(?:\s+(?:°\s?[CFK]\b|{_NAMES})){{0,3}})",
    re.DOTALL,
)


def read_quantity(text: str) -> Quantity | None:
    """The number that normalized text gives, with its unit; None when it is no number."""
    words = number_in_words(text)
    if words is not None:
        return Quantity(words, "")
    if text[0].isalpha() and not text.startswith(_STARTS):
        return _in_words(text)
    text = without_thousands(text)
    sign_and_currency = _CURRENCY.match(text)
    unit = ""
    if sign_and_currency:
        code = _CURRENCY_CODE.search(sign_and_currency[0])
        unit = ALIASES[sign_and_currency[2] or (code[0].lower().replace(" ", "") if code else "$")]
        text = sign_and_currency[1] + text[sign_and_currency.end() :]
    value = evaluate(text)
    return Quantity(value, unit) if value is not None else _with_trailing_unit(text, unit)


def _in_words(text: str) -> Quantity | None:
    """ "fifty percent", "ten dollars": number words before a unit of the table."""
    number, _, name = text.rpartition(" ")
    unit = ALIASES.get(name.lower())
    value = number_in_words(number) if unit and len(name) > 1 else None
    return None if value is None or unit is None else _counted(value, unit)


def other_reading(text: str) -> Quantity | None:
    """What looks like a list, read as one number after all; None where there is no such reading."""
    spelled = as_one_number(text)
    return None if spelled is None else read_quantity(spelled)


def _with_trailing_unit(text: str, currency: str) -> Quantity | None:
    match = _TRAILING.fullmatch(text) if len(text) < 200 else None
    if match is None:
        return None
    value, words = evaluate(match[1]), match[3]
    if value is None:
        return None
    first, _, rest = words.partition(" ")
    scale = SCALES.get(first.lower()) or (_SHORT_SCALES.get(first) if currency else None)
    if scale is not None:
        scaled = combine(value, "*", Fraction(scale))
        unit = read_unit(rest, spaced=True) if rest else ""
        return None if unit is None else _counted(scaled, currency or unit)
    unit = read_unit(words, spaced=bool(match[2]))
    return None if unit is None or (currency and unit == PERCENT) else _counted(value, currency or unit)


def _counted(value: Number, unit: str) -> Quantity:
    return Quantity(combine(value, "/", Fraction(100)) if unit == PERCENT else value, unit)
