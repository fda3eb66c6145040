"""A number and what it counts: "20 days", "$5", "90°", "5 cm^2", "3 million", "2 h 30 min"."""

import re
from dataclasses import dataclass
from fractions import Fraction

from demur.core.equivalence.arithmetic import evaluate
from demur.core.equivalence.number import Number, combine
from demur.core.equivalence.text import word_set
from demur.core.equivalence.words import SCALES as NAMED
from demur.core.equivalence.words import number_in_words

PERCENT = "%"
SCALES = NAMED | {"dozen": 12}
_SHORT_SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "mn": 10**6, "B": 10**9, "bn": 10**9}
"""Of money: $3M."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value and its unit in one spelling, "" when none was written. Of a percentage, the fraction of one it is."""

    value: Number
    unit: str


@dataclass(frozen=True, slots=True)
class Compound:
    """A quantity in several units, largest first: 2 h 30 min, 5 ft 3 in."""

    parts: tuple[Quantity, ...]


_ALIASES: dict[str, str] = {
    alias: unit
    for unit, aliases in {
        "%": "% percent pct percentage",
        "degree": "° deg degree degrees",
        "radian": "rad radian radians",
        "celsius": "°C degC ℃ celsius centigrade",
        "fahrenheit": "°F degF ℉ fahrenheit",
        "kelvin": "°K kelvin kelvins",
        "dollar": "$ dollar dollars usd us$ buck bucks",
        "cent": "¢ cent cents",
        "euro": "€ euro euros eur",
        "sterling": "£ gbp",
        "pound": "pound pounds",
        "lb": "lb lbs",
        "yen": "¥ yen jpy",
        "rupee": "₹ rupee rupees inr",
        "mm": "mm millimeter millimeters millimetre millimetres",
        "cm": "cm centimeter centimeters centimetre centimetres",
        "m": "m meter meters metre metres",
        "km": "km kms kilometer kilometers kilometre kilometres",
        "inch": "in inch inches",
        "foot": "ft foot feet",
        "yard": "yd yds yard yards",
        "mile": "mi mile miles",
        "mg": "mg milligram milligrams",
        "g": "g gram grams",
        "kg": "kg kgs kilogram kilograms kilo kilos",
        "ounce": "oz ounce ounces",
        "second": "s sec secs second seconds",
        "minute": "min mins minute minutes",
        "hour": "h hr hrs hour hours",
        "day": "day days",
        "week": "week weeks wk wks",
        "month": "month months",
        "year": "yr yrs year years",
        "ml": "ml mL milliliter milliliters millilitre millilitres",
        "liter": "l L liter liters litre litres",
        "mile/hour": "mph",
        "km/hour": "kph kmph",
        "": "unit units",
    }.items()
    for alias in aliases.split()
}
_BARE_LETTERS = {"m", "g", "s", "h", "l", "L"}
"""Units that are also variable names: units only where a space stands before them."""
_SYMBOL = re.compile(
    r"(?:[YZEPTGMkhdcmuµμnp]|da)?(?:Hz|Pa|J|W|N|V|A|C|F|Ω|S|Wb|T|H|lm|lx|Bq|Gy|Sv|mol|cd|K|eV|bar|cal|Wh|L|l|m|g|s|B|b|bit)"
    r"|[KMGT]i?[Bb]|psi|atm|rpm|mi|ly|AU|Torr|mmHg|dB"
)
"""Symbols of the SI and of a few neighbours, whose case matters: MW is no mW."""
_NO_UNITS = word_set(
    "pi and or to mod am pm ad bc bce ce th st nd rd sin cos tan cot sec csc log ln exp sqrt more less"
)

_SEPARATED = re.compile(r"\d[, .'_]\d{3}")
_THOUSANDS = re.compile(
    r"(?<![\d.,])[1-9]\d{0,2}(?:(?:,\d{3})+(?!\d|,\d)|(?: \d{3})+(?!\d|,\d)|(?:'\d{3})+(?![\d'])|(?:_\d{3})+(?![\d_]))"
)
_DECIMAL_COMMA = re.compile(
    r"(?<![\d.,])[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:[ ']\d{3})+,\d+|(?:\.\d{3}){2,})(?![\d,]|\.\d)"
)
_ONE_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d+)(?![\d.,])")
_INDIAN = re.compile(r"(?<![\d.,])\d{1,2}(?:,\d{2})+,\d{3}(?![\d,])")
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
_AREA = re.compile(r"\b(?:square|sq|sq\.)\s+([A-Za-z]+)|\b([A-Za-z]+)\s+squared\b")
_VOLUME = re.compile(r"\b(?:cubic|cu)\s+([A-Za-z]+)|\b([A-Za-z]+)\s+cubed\b")
_TEMPERATURE = re.compile(r"(?:°|\bdeg\.?|\bdegrees?)\s*(C|F|K|[Cc]elsius|[Ff]ahrenheit|[Cc]entigrade|[Kk]elvin)\b")
_UNIT_PART = re.compile(r"(°[CFK]|[A-Za-zµμΩ]+|[%°$€£¥₹¢℃℉])(\^-?\d)?")
_PIECE = re.compile(r"(\d+(?:[.,]\d+)?(?:\s\d+/\d+)?)\s*([A-Za-z]+)\.?(?:,?\s+and\s+|,\s*|\s*)")
_FEET_AND_INCHES = re.compile(r"(\d+)\s*'\s*(\d+(?:\.\d+)?)\s*(?:\"|'')")
_STAIRS = tuple(
    tuple(listed.split())
    for listed in (
        "year month week day hour minute second",
        "mile yard foot inch",
        "km m cm mm",
        "kg g mg",
        "pound ounce",
        "dollar cent",
    )
)
"""Units that are counted on into the next smaller one."""
_NO_PART = word_set("long tall wide high deep away old apart total each")
"""Words behind a unit that say of what it is the measure."""
_MORE = word_set("whole full more extra additional total consecutive other")
"""Words before a unit that do not change it."""


def read_quantity(text: str) -> Quantity | None:
    """The number that normalised text gives, with its unit; None when it is no number."""
    words = number_in_words(text)
    if words is not None:
        return Quantity(words, "")
    if text[0].isalpha() and not text.startswith(_STARTS):
        return None
    text = without_thousands(text)
    sign_and_currency = _CURRENCY.match(text)
    unit = ""
    if sign_and_currency:
        code = _CURRENCY_CODE.search(sign_and_currency[0])
        unit = _ALIASES[sign_and_currency[2] or (code[0].lower().replace(" ", "") if code else "$")]
        text = sign_and_currency[1] + text[sign_and_currency.end() :]
    value = evaluate(text)
    return Quantity(value, unit) if value is not None else _with_trailing_unit(text, unit)


def read_compound(text: str) -> Compound | None:
    """A quantity in several known units, as 2 h 30 min; None for any other text."""
    if len(text) > 80:
        return None
    if match := _FEET_AND_INCHES.fullmatch(text):
        return Compound((Quantity(Fraction(match[1]), "foot"), Quantity(Fraction(match[2]), "inch")))
    parts: list[Quantity] = []
    position = 0
    while match := _PIECE.match(text, position):
        value, unit = evaluate(match[1]), _ALIASES.get(match[2], _ALIASES.get(match[2].lower(), ""))
        unit = (
            {"m": "minute", "lb": "pound"}.get(unit, unit)
            if unit == "lb" or (parts and parts[-1].unit == "hour")
            else unit
        )
        if value is None or not unit:
            return None
        parts.append(Quantity(value, unit))
        position = match.end()
    units = [part.unit for part in parts]
    falls = any([unit for unit in stair if unit in units] == units for stair in _STAIRS)
    return Compound(tuple(parts)) if position == len(text) and len(parts) > 1 and falls else None


def without_thousands(text: str) -> str:
    """1,234,567 and 1 234 567, 1'234'567 and 1_234_567 without the separators, and 1.234,5 as 1234.5. "1, 234" and
    "(1,234)" are lists and stay."""
    if text[:1] in "([{\\" and text[-1:] in ")]}":
        return text
    if _SEPARATED.search(text) is None:
        return text
    text = _DECIMAL_COMMA.sub(lambda match: re.sub("[. ']", "", match[0]).replace(",", "."), text)
    return _THOUSANDS.sub(lambda match: re.sub("[, '_]", "", match[0]), text)


def other_reading(text: str) -> Quantity | None:
    """What looks like a list, read as one number after all: 3,14 with a decimal comma, 12,34,567 as it is grouped in
    India. None where there is no such reading: 3,141 is a thousand and more."""
    if "," not in text or len(text) > 60:
        return None
    if _INDIAN.search(text):
        return read_quantity(_INDIAN.sub(lambda match: match[0].replace(",", ""), text))
    if text.count(",") == 1 and (match := _ONE_COMMA.search(text)):
        return read_quantity(f"{text[: match.start()]}{match[1]}.{match[2]}{text[match.end() :]}")
    return None


def contradict(a: str, b: str) -> bool:
    """Whether two units tell two equal numbers apart. No unit contradicts none; a pound is money or a weight."""
    return bool(a and b and a != b and {a, b} not in ({"pound", "lb"}, {"pound", "sterling"}))


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
        unit = _unit(rest, spaced=True) if rest else ""
        return None if unit is None else _counted(scaled, currency or unit)
    unit = _unit(words, spaced=bool(match[2]))
    return None if unit is None or (currency and unit == PERCENT) else _counted(value, currency or unit)


def _counted(value: Number, unit: str) -> Quantity:
    return Quantity(combine(value, "/", Fraction(100)) if unit == PERCENT else value, unit)


def _unit(words: str, *, spaced: bool) -> str | None:
    """One spelling of a unit; None when the words are no unit, as the variables of "2ab" or a name in "12 Angry Men".

    Units of the table count in any case, symbols of the SI as they are written and apart. Other words count when they
    are written small, stand apart and have at least three letters: "18 apples". Of several, the last is the thing
    counted.
    """
    plain = _TEMPERATURE.sub(lambda match: "°" + match[1][0].upper(), words.strip().replace("per cent", "percent"))
    plain = _AREA.sub(r"\1\2^2", _VOLUME.sub(r"\1\2^3", plain))
    plain = re.sub(r"[\s{}]*(\^)[\s{}]*|[{}]", r"\1", plain)
    found = _UNIT_PART.findall(plain)
    names = [name for name, _ in found]
    if not names or any(name.lower() in _NO_UNITS for name in names):
        return None
    known = [_known(name, spaced) for name in names]
    if known[0] == PERCENT:
        return PERCENT if names[1:2] != ["points"] and names[1:2] != ["point"] else "percentage point"
    if known[0] is not None and (spaced or names[0] not in _BARE_LETTERS):
        parts = [
            (name if unit is None else unit, power) for name, unit, (_, power) in zip(names, known, found, strict=True)
        ]
        return _joined(plain, parts)
    if spaced and words == words.lower() and all(len(name) >= 3 for name in names):
        return _thing(names) + found[-1][1]
    return None


def _thing(names: list[str]) -> str:
    """What is counted: apples, of "red apples"; but a nautical mile is no mile, and a kilowatt hour no hour."""
    last = _ALIASES.get(names[-1])
    if last is None:
        return names[-1].removesuffix("s")
    return "_".join([*(name for name in names[:-1] if name not in _MORE), last])


def _known(name: str, spaced: bool) -> str | None:
    if name in _ALIASES:
        return _ALIASES[name]
    if spaced and _SYMBOL.fullmatch(name):
        return name
    return _ALIASES.get(name.lower()) if len(name) > 1 or name == "L" else None


def _joined(plain: str, parts: list[tuple[str, str]]) -> str:
    """The parts of a unit with / before each that divides: "m/second^2"."""
    divided, spelled = False, ""
    words = re.split(r"(\s*/\s*|\s+per\s+)", f" {plain} ")
    counts = [len(_UNIT_PART.findall(word)) if i % 2 == 0 else 0 for i, word in enumerate(words)]
    remaining = [part for part in parts if part[0] != "per"]
    for i, count in enumerate(counts):
        divided = i >= 2
        for unit, power in remaining[:count]:
            if unit and unit not in _NO_PART:
                spelled += ("/" if divided else "*" if spelled else "") + unit + power
        remaining = remaining[count:]
    return spelled
