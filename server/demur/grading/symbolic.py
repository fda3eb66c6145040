"""What sympy and math-verify say of formulas. Imported only inside a worker process: see `demur.grading`.

Every function here may take for ever, exhaust the memory or kill its process; the caller lives elsewhere.
"""

import logging
import re
import zlib
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended.latex2sympy2 import NormalizationConfig
from latex2sympy2_extended.logic import And
from math_verify import LatexExtractionConfig, parse, verify
from sympy.core.relational import Relational

from demur.core.equivalence.number import number_key, simplest

logging.disable(logging.CRITICAL)  # math-verify warns about its time limits being off, which they are for good reason

PRECISION = 60
"""Decimal digits that values are worked out to; keys compare far fewer."""
SIGNIFICANT = 35
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
_PAIRS = ((r"x>2", r"(2,\infty)"), (r"y=2x+3", r"2x-y+3=0"))

_ALL_OF_IT = LatexExtractionConfig(
    normalization_config=NormalizationConfig(units=False, malformed_operators=True, nits=True, boxed="none")
)
"""Units are dropped long before; math-verify would take the variables of "2ab" and "5c" for some."""
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
    """Whether math-verify accepts the pair in either order: its check is not symmetric. Equations it does not get."""
    one, two = _parsed(latex), _parsed(other)
    if one is None or two is None:
        return False
    for equation, value in ((one, two), (two, one)):
        if isinstance(equation, sympy.Equality) and isinstance(value, sympy.Expr):
            return _says(equation, value)
    return any(
        verify(gold, answer, allow_set_relation_comp=True, timeout_seconds=_NEVER)
        for gold, answer in ((one, two), (two, one))
    )


def _says(equation: Any, value: Any) -> bool:
    """Whether an equation says that something is this value: 2x = 4 says 2, not 4; x + y = 5 says 5; 4 = 2x not 2x."""
    key = _key(_exact(value))
    if key is None:
        return False
    if len(equation.free_symbols) == 1:
        solution = _solution(equation, *equation.free_symbols)
        return solution is not None and _key(solution) == key
    return any(not side.free_symbols and _key(_exact(side)) == key for side in (equation.lhs, equation.rhs))


def _solution(equation: Any, name: Any) -> Any | None:
    """Of an equation that is linear in its one name."""
    sides = _exact(equation.lhs - equation.rhs)
    slope = sympy.diff(sides, name)
    return None if slope.free_symbols or slope == 0 else -sides.subs(name, 0) / slope


@lru_cache(maxsize=256)
def _parsed(latex: str) -> Any | None:
    """The sympy object, or None. math-verify finds formulas in prose; the dollars say that all of it is one."""
    latex = _DEGREES.sub(r"(\\frac{\1\\pi}{180})", latex)
    found: list[Any] = parse(f"${latex}$", [_ALL_OF_IT], fallback_mode="no_fallback", parsing_timeout=_NEVER)
    return found[0] if found else None


def _exact(expression: Any) -> Any:
    """Decimals as the fractions they are, not as the nearest binary number."""
    return expression.xreplace({number: sympy.Rational(str(number)) for number in expression.atoms(sympy.Float)})


def _key(expression: Any) -> str | None:
    if isinstance(expression, sympy.MatrixBase):
        return f"matrix {expression.shape} " + _joined(expression.flat())
    if isinstance(expression, And):
        return "and " + _joined(expression.args, ordered=False)
    if isinstance(expression, Relational):
        return _relation_key(expression)
    if isinstance(expression, sympy.Expr):
        return _value_key(expression)
    return None


def _joined(parts: Iterable[Any], *, ordered: bool = True) -> str:
    keys = [_key(part) or str(part) for part in parts]
    return "; ".join(keys if ordered else sorted(keys))


def _relation_key(relation: Any) -> str | None:
    """A relation, up to which way round it is written and a positive factor (for = and != any factor)."""
    sides = relation.lhs - relation.rhs
    name = type(relation).__name__
    if name in ("GreaterThan", "StrictGreaterThan"):
        sides, name = -sides, {"GreaterThan": "LessThan", "StrictGreaterThan": "StrictLessThan"}[name]
    values = [_at(sides, point) for point in _points(sides)]
    if any(value is None for value in values):
        return None
    scale = next((value for value in values if value), sympy.Integer(1))
    if name not in ("Equality", "Unequality"):
        scale = abs(scale)
    return f"{name} {_names(sides)} " + " ".join(_digits(value / scale) for value in values)


def _value_key(expression: Any) -> str | None:
    """The number itself, or the expression's values at a few fixed points of its variables."""
    values = [_at(expression, point) for point in _points(expression)]
    if any(value is None for value in values):
        return None
    digits = [_digits(value) for value in values]
    if digits[0] == digits[1]:
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
    """Two fixed points that depend on the variables' names alone: near 1 and near -1, where powers stay small."""
    size: dict[Any, Any] = {}
    for symbol in _variables(expression):
        step = 2 * (zlib.crc32(str(symbol).encode()) % 99_991) - 99_989  # odd, so no variable is exactly 1
        size[symbol] = 1 + sympy.Rational(step, 999_983)
    negative = {symbol: -value * sympy.Rational(21, 20) for symbol, value in size.items()}
    imaginary = {symbol: sympy.I for symbol in expression.free_symbols if str(symbol) == "i"}
    return [size | imaginary, negative | imaginary]


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
