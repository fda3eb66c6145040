"""The names of units -> one spelling: "kilometres per hour", "km/h" and "kph" are km/hour."""

import re

from demur.core.equivalence.text import word_set

PERCENT = "%"
ALIASES: dict[str, str] = {
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
_AREA = re.compile(r"\b(?:square|sq|sq\.)\s+([A-Za-z]+)|\b([A-Za-z]+)\s+squared\b")
_VOLUME = re.compile(r"\b(?:cubic|cu)\s+([A-Za-z]+)|\b([A-Za-z]+)\s+cubed\b")
_TEMPERATURE = re.compile(r"(?:°|\bdeg\.?|\bdegrees?)\s*(C|F|K|[Cc]elsius|[Ff]ahrenheit|[Cc]entigrade|[Kk]elvin)\b")
_UNIT_PART = re.compile(r"(°[CFK]|[A-Za-zµμΩ]+|[%°$€£¥₹¢℃℉])(\^-?\d)?")
_NO_PART = word_set("long tall wide high deep away old apart total each")
"""Words behind a unit that say of what it is the measure."""
_MORE = word_set("whole full more extra additional total consecutive other")
"""Words before a unit that do not change it."""


def read_unit(words: str, *, spaced: bool) -> str | None:
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


def contradict(a: str, b: str) -> bool:
    """Whether two units tell two equal numbers apart. No unit contradicts none; a pound is money or a weight."""
    return bool(a and b and a != b and {a, b} not in ({"pound", "lb"}, {"pound", "sterling"}))


def _thing(names: list[str]) -> str:
    """What is counted: apples, of "red apples"; but a nautical mile is no mile, and a kilowatt hour no hour."""
    last = ALIASES.get(names[-1])
    if last is None:
        return names[-1].removesuffix("s")
    return "_".join([*(name for name in names[:-1] if name not in _MORE), last])


def _known(name: str, spaced: bool) -> str | None:
    if name in ALIASES:
        return ALIASES[name]
    if spaced and _SYMBOL.fullmatch(name):
        return name
    return ALIASES.get(name.lower()) if len(name) > 1 or name == "L" else None


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
