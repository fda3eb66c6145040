"""Quantities in several units, largest first: 2 h 30 min, 5 ft 3 in."""

import re
from dataclasses import dataclass
from fractions import Fraction

from demur.core.equivalence.arithmetic import evaluate
from demur.core.equivalence.unit_names import ALIASES
from demur.core.equivalence.units import Quantity


@dataclass(frozen=True, slots=True)
class Compound:
    """A quantity in several units, largest first: 2 h 30 min, 5 ft 3 in."""

    parts: tuple[Quantity, ...]


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


def read_compound(text: str) -> Compound | None:
    """A quantity in several known units, as 2 h 30 min; None for any other text."""
    if len(text) > 80:
        return None
    if match := _FEET_AND_INCHES.fullmatch(text):
        return Compound((Quantity(Fraction(match[1]), "foot"), Quantity(Fraction(match[2]), "inch")))
    parts: list[Quantity] = []
    position = 0
    while match := _PIECE.match(text, position):
        value, unit = evaluate(match[1]), ALIASES.get(match[2], ALIASES.get(match[2].lower(), ""))
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
