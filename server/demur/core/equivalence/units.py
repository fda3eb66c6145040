"""A number and what it counts: "20 days", "$5", "90°", "5 cm^2", "3 million"."""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from demur.core.equivalence.arithmetic import evaluate
from demur.core.equivalence.number import Number
from demur.core.equivalence.text import word_set

PERCENT = "%"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value and its unit in one spelling, "" when none was written."""

    value: Number
    unit: str


_ALIASES: dict[str, str] = {
    alias: unit
    for unit, aliases in {
        "%": "% percent pct",
        "degree": "° deg degree degrees",
        "radian": "rad radian radians",
        "dollar": "$ dollar dollars usd us$ buck bucks",
        "cent": "¢ cent cents",
        "euro": "€ euro euros eur",
        "pound": "£ gbp lb lbs pound pounds",
        "yen": "¥ yen jpy",
        "rupee": "₹ rupee rupees",
        "mm": "mm millimeter millimeters millimetre millimetres",
        "cm": "cm centimeter centimeters centimetre centimetres",
        "m": "m meter meters metre metres",
        "km": "km kilometer kilometers kilometre kilometres",
        "inch": "in inch inches",
        "foot": "ft foot feet",
        "yard": "yd yard yards",
        "mile": "mi mile miles",
        "mg": "mg milligram milligrams",
        "g": "g gram grams",
        "kg": "kg kilogram kilograms",
        "ounce": "oz ounce ounces",
        "second": "s sec secs second seconds",
        "minute": "min mins minute minutes",
        "hour": "h hr hrs hour hours",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "year": "yr yrs year years",
        "ml": "ml milliliter milliliters millilitre millilitres",
        "liter": "l liter liters litre litres",
        "mph": "mph",
        "": "unit units",
    }.items()
    for alias in aliases.split()
}
_BARE_LETTERS = {"m", "g", "s", "h", "l"}
"""Units that are also variable names: units only where a space stands before them."""
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_NUMERALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def _number_words() -> dict[str, int]:
    """Up to ninety-nine."""
    small = {word: i for i, word in enumerate(re.findall("[a-z]+", _NUMERALS))}
    tens = {word: 10 * i for i, word in enumerate(re.findall("[a-z]+", _TENS), 2)}
    digits = [(word, i) for word, i in small.items() if 0 < i < 10]
    compound = {f"{ten}{by}{word}": n + i for ten, n in tens.items() for word, i in digits for by in " -"}
    return small | tens | compound


_WORDS = _number_words()
_NO_UNITS = word_set(
    "pi and or to mod am pm ad bc bce ce th st nd rd sin cos tan cot sec csc log ln exp sqrt more less"
)

_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[, ]\d{3})+(?!\d|,\d)")
_CURRENCY = re.compile(r"([+-]?)\s*([$€£¥₹])\s*(?=[\d.\\])")
_POWER = r"(?:\s?\^\s?\{?-?\d\}?)?"
_TRAILING = re.compile(
    r"(.*?[\d)}!.])(\s*)((?:°\s?[CFK]\b|[%°$€£¥₹¢]|[A-Za-z]+" + _POWER + r"(?:\s*/\s*[A-Za-z]+" + _POWER + r")?)"
    r"(?:\s+[A-Za-z]+" + _POWER + r"){0,3})",
    re.DOTALL,
)
_AREA = re.compile(r"\b(?:square|sq|sq\.)\s+([a-z]+)|\b([a-z]+)\s+squared\b")
_VOLUME = re.compile(r"\b(?:cubic|cu)\s+([a-z]+)|\b([a-z]+)\s+cubed\b")


def read_quantity(text: str) -> Quantity | None:
    """The number that normalised text gives, with its unit; None when it is no number."""
    if text.lower() in _WORDS:
        return Quantity(Fraction(_WORDS[text.lower()]), "")
    text = without_thousands(text)
    sign_and_currency = _CURRENCY.match(text)
    unit = ""
    if sign_and_currency:
        unit = _ALIASES[sign_and_currency[2]]
        text = sign_and_currency[1] + text[sign_and_currency.end() :]
    value = evaluate(text)
    return Quantity(value, unit) if value is not None else _with_trailing_unit(text, unit)


def without_thousands(text: str) -> str:
    """1,234,567 and 1 234 567 without the separators. "1, 234" and "(1,234)" are lists and stay."""
    if text[:1] in "([{\\" and text[-1:] in ")]}":
        return text
    return _THOUSANDS.sub(lambda match: re.sub("[, ]", "", match[0]), text)


def contradict(a: str, b: str) -> bool:
    """Whether two units tell two equal numbers apart. No unit contradicts none."""
    return bool(a and b and a != b)


def _with_trailing_unit(text: str, currency: str) -> Quantity | None:
    match = _TRAILING.fullmatch(text) if len(text) < 200 else None
    if match is None:
        return None
    value, words = evaluate(match[1]), match[3]
    if value is None:
        return None
    first, _, rest = words.partition(" ")
    if first.lower() in _SCALES:
        scaled = value * Fraction(10 ** _SCALES[first.lower()]) if isinstance(value, Fraction) else None
        if scaled is None or (rest and _unit(rest, spaced=True) is None):
            return None
        return Quantity(scaled, currency or (_unit(rest, spaced=True) or ""))
    unit = _unit(words, spaced=bool(match[2]))
    return None if unit is None else Quantity(value, currency or unit)


def _unit(words: str, *, spaced: bool) -> str | None:
    """One spelling of a unit; None when the words are no unit, as the variables of "2ab" or a name in "12 Angry Men".

    Units of the table count in any case. Other words count when they are written small, stand apart and have at least
    three letters: "18 apples". Of several, the last is the thing counted.
    """
    plain = _AREA.sub(r"\1\2^2", _VOLUME.sub(r"\1\2^3", words.lower().strip()))
    plain = re.sub(r"[\s{}]*(\^)[\s{}]*|[{}]", r"\1", plain)
    parts = [_ALIASES.get(name, name) + power for name, power in re.findall(r"([a-z]+|[%°$€£¥₹¢])(\^-?\d)?", plain)]
    names = [name for name, _ in re.findall(r"([a-z]+|[%°$€£¥₹¢])(\^-?\d)?", plain)]
    if not names or any(name in _NO_UNITS for name in names):
        return None
    known = [name in _ALIASES for name in names]
    if known[0] and (spaced or names[0] not in _BARE_LETTERS):
        separator = "/" if "/" in plain or "per" in names else " "
        return separator.join(part for part in parts if part and part != "per")
    if spaced and words == words.lower() and all(len(name) >= 3 for name in names):
        return parts[-1].removesuffix("s")
    return None


def scaled_down(quantity: Quantity) -> Number:
    """A percentage as the fraction of one that it is."""
    value = quantity.value
    return value / 100 if isinstance(value, Fraction) else value / Decimal(100)
