"""What sympy and math-verify say of formulas. Imported only inside a worker process: see `demur.grading`.

Every function here may take for ever, exhaust the memory or kill its process; the caller lives elsewhere.
"""

import logging
import re
import zlib
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig, NormalizationConfig, latex2sympy
from latex2sympy2_extended.logic import And
from latex2sympy2_extended.math_normalization import normalize_latex
from math_verify import verify
from math_verify.parser import should_treat_as_complex
from sympy.core.relational import Relational

from demur.core.equivalence.number import Number, number_key, simplest
from demur.core.equivalence.pieces import INFINITY, Piece, point, spelled, union

logging.disable(logging.CRITICAL)  # math-verify warns about its time limits being off, which they are for good reason

PRECISION = 60
"""Decimal digits that values are worked out to; keys compare far fewer."""
SIGNIFICANT = 35
DECIMALS = 30
"""In which the members of sets have to agree."""
LARGEST = sympy.Integer(10) ** 24
"""Beyond it a value says nothing of what was added to it, below 1 / LARGEST it may be rounding noise: a formula that
gets there has no key."""
_NEVER = 0
"""For math-verify: no time limit of its own."""

_FORMULAS = (
    r"\frac{3\sqrt{2}}{2}+\sqrt[3]{5}-2\pi",
    r"x^{2}-3x+\frac{1}{4}",
    r"-2x^3y+5z",
    r"(a+b)(a-b)^{-2}",
    r"\frac{n(n+1)}{2}",
    r"\frac{x-1}{(x+1)^2}",
    r"2^{n+1}-1",
    r"\sin x+\cos(2x)-\tan^{2}\theta",
    r"\ln 2-e^{-x}+\log_{2} 8",
    r"\log(x+1)",
    r"\binom{n}{2}+n!",
    r"\lfloor x\rfloor+\lceil\frac{n}{2}\rceil",
    r"|x-1|",
    r"120<n\le 130",
    r"x\ge 3",
    r"x\ne 1",
    r"x=2y+1",
    r"y+3x-4=0",
    r"\begin{pmatrix}1&-2\\\frac{1}{3}&4\end{pmatrix}",
    r"(-\infty,2]",
    r"-\infty",
    r"3+4i",
    r"e^{i\pi}",
    r"a_{1}+a_2",
)
_PAIRS = ((r"x^2>2", r"(2,\infty)"), (r"y=2x+3", r"2x-y+3=0"))

_NORMALISED = NormalizationConfig(units=False, malformed_operators=True, nits=True, boxed="none")
"""Units are dropped long before; math-verify would take the variables of "2ab" and "5c" for some."""
_AS_WRITTEN = ConversionConfig(lowercase_symbols=False)
"""A and a are two variables."""
_DEGREES = re.compile(r"(\d+(?:\.\d+)?)\s*°")


def warm_up() -> None:
    """Parse and compare a little of everything: the grammar is slow until it has seen its rules."""
    for latex in _FORMULAS:
        canonical(latex)
    for latex, other in _PAIRS:
        equal(latex, other)


def canonical(latex: str) -> str | None:
    """A key that is equal for formulas of equal value; None for what is no formula."""
    expression = _parsed(latex)
    return None if expression is None else _key(_exact(expression))


def equal(latex: str, other: str) -> bool:
    """Whether the two have one key, or math-verify accepts them in either order: its check is not symmetric. Equations
    it does not get, nor what keys tell apart: it takes numbers for equal that differ a little."""
    one, two = _parsed(latex), _parsed(other)
    if one is None or two is None:
        return False
    for equation, value in ((one, two), (two, one)):
        if isinstance(equation, sympy.Equality) and isinstance(value, sympy.Expr):
            return _says(equation, value)
    if any(isinstance(one, kind) and isinstance(two, kind) for kind in (sympy.Expr, sympy.Equality, sympy.MatrixBase)):
        key = _key(_exact(one))
        return key is not None and key == _key(_exact(two))
    return any(
        verify(gold, answer, DECIMALS, PRECISION, allow_set_relation_comp=True, timeout_seconds=_NEVER)
        for gold, answer in ((one, two), (two, one))
    )


def _says(equation: Any, value: Any) -> bool:
    """Whether an equation says that something is this value: 2x = 4 says 2, not 4; x + y = 5 says 5, but 2x + y = 5,
    which is a line, does not; 4 = 2x does not say 2x."""
    key = _key(_exact(value))
    if key is None:
        return False
    if value.free_symbols:
        return _solves_for(equation, value) == key
    if len(equation.free_symbols) == 1:
        slope, solution = _line(equation.lhs - equation.rhs, *equation.free_symbols)
        return slope is not None and _key(solution) == key
    sides = ((equation.lhs, equation.rhs), (equation.rhs, equation.lhs))
    return value != 0 and any(_is_asked_for(named) and _key(_exact(side)) == key for named, side in sides)


def _is_asked_for(side: Any) -> bool:
    """Whether a question may ask for this expression: x + y or ab; 2x + z and x^2 + y^2 belong to lines and circles."""
    for term in sympy.Add.make_args(side):
        coefficient, names = term.as_coeff_Mul()
        if abs(coefficient) != 1 or not all(factor.is_Symbol for factor in sympy.Mul.make_args(names)):
            return False
    return True


def _solves_for(equation: Any, value: Any) -> str | None:
    """The key of what an equation says of the one name that `value` has not: 2x + y = 5 says 5 - 2x of y. None where it
    is solved for another name already, or not linear in this one."""
    names = equation.free_symbols - value.free_symbols
    if len(names) != 1 or any(side in value.free_symbols for side in (equation.lhs, equation.rhs)):
        return None
    name = names.pop()
    exact = _exact(equation.lhs - equation.rhs)
    slope = sympy.simplify(sympy.diff(exact, name))
    return None if slope == 0 or name in slope.free_symbols else _key(-exact.subs(name, 0) / slope)


@lru_cache(maxsize=256)
def _parsed(latex: str) -> Any | None:
    """The sympy object that all of the text stands for; raises where there is none."""
    text = normalize_latex(_DEGREES.sub(r"(\\frac{\1\\pi}{180})", latex), config=_NORMALISED)
    return latex2sympy(
        text, is_real=not should_treat_as_complex(text), normalization_config=None, conversion_config=_AS_WRITTEN
    )


def _exact(expression: Any) -> Any:
    """Decimals as the fractions they are, not as the nearest binary number."""
    return expression.xreplace({number: sympy.Rational(str(number)) for number in expression.atoms(sympy.Float)})


def _key(expression: Any) -> str | None:
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
    return [_key(part) or str(part) for part in parts]


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
    slope, bound = _line(sides, *sides.free_symbols)
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
    found = sympy.Intersection(*(_exact(relation).as_set() for relation in relations))
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


def _line(sides: Any, name: Any) -> tuple[Any, Any]:
    """Slope and zero of what is linear in its one name, else (None, None)."""
    exact = _exact(sides)
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
