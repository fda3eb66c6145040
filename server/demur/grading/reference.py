"""What libraries know of units (pint) and of the names of months (Babel). Imported only inside a worker process: see
`demur.grading`. Either library may be missing: then nothing is known of its matter.
"""

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

LANGUAGES = (
    "ar bg ca cs da de el en es et eu fa fi fr gl he hi hr hu id is it ja ko lt lv ms nb nl pl pt ro ru sk sl sr sv sw "
    "th tr uk vi zh"
)
MISSING = tuple(name for name in ("pint", "babel") if find_spec(name) is None)
"""Libraries that are not installed."""
MAX_CHARS = 60

_NOT_ASKED = re.compile(
    r".*(?:month|year|decade|century).*|ton|point|cup|turn|count|cent|dollar|grade|page|link|hand|person"
)
"""What has no fixed length, and words that name several units or, in an answer, none."""
_TEMPERATURES = {"celsius": "degree_Celsius", "fahrenheit": "degree_Fahrenheit", "kelvin": "kelvin"}


def warm_up() -> None:
    """Read the tables of both libraries."""
    unit("km")
    month("mars")


def unit(name: str) -> list[str] | None:
    """Factor, offset and dimension of a unit as "km/hour" or "cm^2": a value in it, times the factor and plus the
    offset, is in base units. The numbers are exact fractions.

    None for what is not converted, and without pint; raises what pint raises for text that is no unit.
    """
    if "pint" in MISSING or len(name) > MAX_CHARS or _NOT_ASKED.fullmatch(name):
        return None
    registry = _registry()
    named = registry.parse_units(_TEMPERATURES.get(name, name))
    zero, one = (registry.Quantity(Fraction(value), named).to_base_units() for value in (0, 1))
    factor, offset = Fraction(one.magnitude - zero.magnitude), Fraction(zero.magnitude)
    dimension = " ".join(f"{base}^{power}" for base, power in sorted(one.unit_items()))
    return [str(factor), str(offset), dimension]


def month(name: str) -> int | None:
    """1 to 12 for a month's name in any of `LANGUAGES`; None for any other word and for one of several months."""
    if "babel" in MISSING or len(name) > MAX_CHARS:
        return None
    months = _months().get(_folded(name), frozenset())
    return next(iter(months)) if len(months) == 1 else None


@lru_cache(maxsize=1)
def _registry() -> Any:
    import pint

    exact: Any = Fraction
    return pint.UnitRegistry(non_int_type=exact, autoconvert_offset_to_baseunit=True)


@lru_cache(maxsize=1)
def _months() -> dict[str, frozenset[int]]:
    """The months that each name has, in small letters without accents."""
    from babel.dates import get_month_names

    found: dict[str, set[int]] = {}
    for language in LANGUAGES.split():
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for number, name in get_month_names(width, context, language).items():
                    found.setdefault(_folded(name), set()).add(number)
    return {name: frozenset(numbers) for name, numbers in found.items()}


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(character for character in plain if not unicodedata.combining(character)).strip(" .")
