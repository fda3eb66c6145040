"""Quantities whose units differ: the same amount, or not."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from demur.core.equivalence.compounds import Compound
from demur.core.equivalence.number import PI, Number, combine, number_key, simplest
from demur.core.equivalence.unit_names import contradict
from demur.core.equivalence.units import Quantity


@dataclass(frozen=True, slots=True)
class Scale:
    """What a unit is in the base units of its `dimension`: value * factor + offset."""

    factor: Number
    offset: Number
    dimension: str


class Units(Protocol):
    """Knows units by name."""

    def unit(self, name: str) -> Scale | None:
        """The scale of a unit by its name; None for one that is not known, as "apple", and where nobody can look it
        up."""
        ...


_ZERO, _ONE = Fraction(0), Fraction(1)
_OWN = {
    "degree": Scale(combine(PI, "/", Fraction(180)), _ZERO, "radian"),
    "radian": Scale(_ONE, _ZERO, "radian"),
    "dollar": Scale(_ONE, _ZERO, "dollar"),
    "cent": Scale(Fraction(1, 100), _ZERO, "dollar"),
    "month": Scale(_ONE, _ZERO, "month"),
    "year": Scale(Fraction(12), _ZERO, "month"),
    "decade": Scale(Fraction(120), _ZERO, "month"),
}
"""What libraries of units lack, or have with a rounded pi or with months of a fixed length."""


def same_quantity(one: Quantity, other: Quantity, units: Units | None) -> bool:
    """Whether two quantities are the same amount. One without a unit is the same as one of equal value with any."""
    equal = number_key(one.value) == number_key(other.value)
    if not contradict(one.unit, other.unit):
        return equal
    if units is None and not {one.unit, other.unit} <= _OWN.keys():
        return False
    return _same_amount(_in_base((one,), units), _in_base((other,), units))


def same_compound(one: Quantity | Compound, other: Quantity | Compound, units: Units | None) -> bool:
    """Whether two quantities are the same amount, where either is given in several units, as 2 h 30 min is."""
    return _same_amount(_in_base(_parts(one), units), _in_base(_parts(other), units))


def compound_key(compound: Compound, units: Units | None) -> str:
    """The amount in the smallest of its units; as written where a unit is not known."""
    smallest = _scale(compound.parts[-1].unit, units)
    amount = _in_base(compound.parts, units)
    if smallest is None or amount is None:
        return '"' + " ".join(f"{number_key(part.value)} {part.unit}" for part in compound.parts) + '"'
    return number_key(simplest(combine(amount[0], "/", smallest.factor)))


def _parts(quantity: Quantity | Compound) -> tuple[Quantity, ...]:
    return quantity.parts if isinstance(quantity, Compound) else (quantity,)


def _same_amount(one: tuple[Number, str] | None, other: tuple[Number, str] | None) -> bool:
    if one is None or other is None or one[1] != other[1]:
        return False
    return number_key(simplest(one[0])) == number_key(simplest(other[0]))


def _in_base(parts: tuple[Quantity, ...], units: Units | None) -> tuple[Number, str] | None:
    """The sum of the parts in base units, and their dimension."""
    total: Number = _ZERO
    dimensions: set[str] = set()
    for part in parts:
        scale = _scale(part.unit, units)
        if scale is None or (len(parts) > 1 and scale.offset):
            return None
        dimensions.add(scale.dimension)
        total = combine(total, "+", combine(combine(part.value, "*", scale.factor), "+", scale.offset))
    return (total, dimensions.pop()) if len(dimensions) == 1 else None


def _scale(unit: str, units: Units | None) -> Scale | None:
    return _OWN.get(unit) or (units.unit(unit) if units is not None and unit else None)
