"""Keys of sympy objects: equal for formulas of equal value. Imported only inside a worker process."""

import zlib
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import sympy
from latex2sympy2_extended.logic import And
from sympy.core.relational import Relational

from demur.core.equivalence.number import Number, number_key, simplest
from demur.core.equivalence.pieces import INFINITY, Piece, point, spelled, union

PRECISION = 60
"""Decimal digits that values are worked out to; keys compare far fewer."""
SIGNIFICANT = 35
DECIMALS = 30
"""In which the members of sets have to agree."""
LARGEST = sympy.Integer(10) ** 24
"""Beyond it a value says nothing of what was added to it, below 1 / LARGEST it may be rounding noise: a formula that
gets there has no key."""


def in_fractions(expression: Any) -> Any:
    """Decimals as the fractions they are, not as the nearest binary number."""
    return expression.xreplace({number: sympy.Rational(str(number)) for number in expression.atoms(sympy.Float)})


def key_of(expression: Any) -> str | None:
    """The key of a number, a formula, a relation, a matrix; None for what is none of them, or has no certain value."""
    if isinstance(expression, sympy.MatrixExpr):
        expression = expression.doit()
    if isinstance(expression, sympy.MatrixBase):
        return "[" + ", ".join("[" + ", ".join(_keys(row)) + "]" for row in expression.tolist()) + "]"
    if isinstance(expression, And):
        if (solved := _solution_set([*expression.args])) is not None:
            return solved
        return "and " + "; ".join(sorted(_keys(expression.args)))
    if isinstance(expression, Relational):
        return _relation_key(expression)
    if isinstance(expression, sympy.Expr):
        return _value_key(expression)
    return None


def _keys(parts: Iterable[Any]) -> list[str]:
    return [key_of(part) or str(part) for part in parts]


def _relation_key(relation: Any) -> str | None:
    """What a linear inequality says of its one name, as `demur.core.equivalence` spells it; any other relation up to
    which way round it is written and a positive factor (for = and != any factor)."""
    sides = relation.lhs - relation.rhs
    name = type(relation).__name__
    if name in ("GreaterThan", "StrictGreaterThan"):
        sides, name = -sides, {"GreaterThan": "LessThan", "StrictGreaterThan": "StrictLessThan"}[name]
    if name != "Equality" and len(sides.free_symbols) == 1:
        solved = _solved(sides, name) or _solution_set([relation])
        if solved is not None:
            return solved
    values = [_at(sides, point) for point in _points(sides)]
    if any(value is None for value in values):
        return None
    scale = next((value for value in values if value), sympy.Integer(1))
    if name not in ("Equality", "Unequality"):
        scale = abs(scale)
    return f"{name} {_names(sides)} " + " ".join(_digits(value / scale) for value in values)


def _solved(sides: Any, name: str) -> str | None:
    """The set of numbers for which sides != 0, <= 0 or < 0; None unless sides are linear in a real variable."""
    slope, bound = line_of(sides, *sides.free_symbols)
    if slope is None or not slope.is_real or not bound.is_real:
        return None
    key = _value_key(bound)
    if key is None:
        return None
    if name == "Unequality":
        return "{" + " ∪ ".join(sorted([f"({key}, \\infty)", f"(-\\infty, {key})"])) + "}"
    closed = name == "LessThan"
    if slope > 0:
        return f"(-\\infty, {key}{']' if closed else ')'}"
    return f"{'[' if closed else '('}{key}, \\infty)"


def _solution_set(relations: list[Any]) -> str | None:
    """The real numbers that fulfil all of some inequalities in one variable, as `demur.core.equivalence` spells them;
    None where they are not found as intervals and points."""
    if any(not isinstance(relation, Relational) for relation in relations):
        return None
    if len({symbol for relation in relations for symbol in relation.free_symbols}) != 1:
        return None
    found = sympy.Intersection(*(in_fractions(relation).as_set() for relation in relations))
    pieces: list[Piece] = []
    for part in found.args if isinstance(found, sympy.Union) else (found,):
        if isinstance(part, sympy.Interval):
            pieces.append(Piece(_bound(part.start), _bound(part.end), not part.left_open, not part.right_open))
        elif isinstance(part, sympy.FiniteSet):
            pieces += [point(_bound(number)) for number in part.args]
        elif part is not sympy.S.EmptySet:
            return None
    return spelled(union(pieces))


def _bound(value: Any) -> Number:
    """Raises for what is no real number."""
    if value.is_infinite:
        return INFINITY if value == sympy.oo else -INFINITY
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    return simplest(Decimal(str(value.evalf(PRECISION))))


def line_of(sides: Any, name: Any) -> tuple[Any, Any]:
    """Slope and zero of what is linear in its one name, else (None, None)."""
    exact = in_fractions(sides)
    slope = sympy.simplify(sympy.diff(exact, name))
    return (None, None) if slope.free_symbols or slope == 0 else (slope, -exact.subs(name, 0) / slope)


def _value_key(expression: Any) -> str | None:
    """The number itself, or the expression's values at a few fixed points of its variables."""
    values = [_at(expression, point) for point in _points(expression)]
    if any(value is None for value in values):
        return None
    digits = [_digits(value) for value in values]
    if len(set(digits)) == 1:
        return _number_key(values[0])
    return f"in {_names(expression)}: " + " ".join(digits)


def _number_key(value: Any) -> str:
    """As `demur.core.equivalence` names numbers, so that 2 is sqrt 4 whoever worked it out."""
    return number_key(simplest(Decimal(str(value)))) if value.is_real else "complex " + _digits(value)


def _at(expression: Any, point: dict[Any, Any]) -> Any | None:
    """The value there, as a sympy number; None where there is none."""
    value = sympy.sympify(expression).subs([*point.items()]).doit().evalf(PRECISION)
    if not value.is_number or not value.is_finite:
        return None
    return value if value == 0 or 1 / LARGEST < abs(value) < LARGEST else None


def _points(expression: Any) -> list[dict[Any, Any]]:
    """Three fixed points that depend on the variables' names alone, near 1 and near -1, where powers stay small. No two
    lie on one line through 0: there x = 2y and y = 2x would be one."""
    points: list[dict[Any, Any]] = []
    for salt, sign in (("", 1), ("second ", -1), ("third ", 1)):
        point: dict[Any, Any] = {}
        for symbol in _variables(expression):
            step = 2 * (zlib.crc32(f"{salt}{symbol}".encode()) % 99_991) - 99_989  # odd, so no variable is exactly 1
            point[symbol] = sign * (1 + sympy.Rational(step, 999_983))
        points.append(point | {symbol: sympy.I for symbol in expression.free_symbols if str(symbol) == "i"})
    return points


def _variables(expression: Any) -> list[Any]:
    """All but i, which is the imaginary unit."""
    return sorted((symbol for symbol in expression.free_symbols if str(symbol) != "i"), key=str)


def _names(expression: Any) -> str:
    return ",".join(map(str, _variables(expression)))


def _digits(value: Any) -> str:
    """Real and imaginary part to `SIGNIFICANT` digits; a part that is rounding noise beside the other counts as 0."""
    noise = abs(value) * sympy.Float(10) ** -(PRECISION // 2)
    return "&".join(_spelled(part) if abs(part) > noise else "0" for part in value.as_real_imag())


def _spelled(part: Any) -> str:
    return f"{Decimal(str(sympy.Float(part, SIGNIFICANT + 8))):.{SIGNIFICANT - 1}e}"
