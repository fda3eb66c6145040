"""What sympy and math-verify say of formulas. Imported only inside a worker process: see `demur.grading`.

Every function here may take for ever, exhaust the memory or kill its process; the caller lives elsewhere.
"""

import logging
import re
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig, NormalizationConfig, latex2sympy
from latex2sympy2_extended.math_normalization import normalize_latex
from math_verify import verify
from math_verify.parser import should_treat_as_complex

from demur.grading.formula_keys import DECIMALS, PRECISION, in_fractions, key_of, line_of

logging.disable(logging.CRITICAL)  # math-verify warns about its time limits being off, which they are for good reason

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
    return None if expression is None else key_of(in_fractions(expression))


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
        key = key_of(in_fractions(one))
        return key is not None and key == key_of(in_fractions(two))
    return any(
        verify(gold, answer, DECIMALS, PRECISION, allow_set_relation_comp=True, timeout_seconds=_NEVER)
        for gold, answer in ((one, two), (two, one))
    )


def _says(equation: Any, value: Any) -> bool:
    """Whether an equation says that something is this value: 2x = 4 says 2, not 4; x + y = 5 says 5, but 2x + y = 5,
    which is a line, does not; 4 = 2x does not say 2x."""
    key = key_of(in_fractions(value))
    if key is None:
        return False
    if value.free_symbols:
        return _solves_for(equation, value) == key
    if len(equation.free_symbols) == 1:
        slope, solution = line_of(equation.lhs - equation.rhs, *equation.free_symbols)
        return slope is not None and key_of(solution) == key
    sides = ((equation.lhs, equation.rhs), (equation.rhs, equation.lhs))
    return value != 0 and any(_is_asked_for(named) and key_of(in_fractions(side)) == key for named, side in sides)


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
    exact = in_fractions(equation.lhs - equation.rhs)
    slope = sympy.simplify(sympy.diff(exact, name))
    return None if slope == 0 or name in slope.free_symbols else key_of(-exact.subs(name, 0) / slope)


@lru_cache(maxsize=256)
def _parsed(latex: str) -> Any | None:
    """The sympy object that all of the text stands for; raises where there is none."""
    text = normalize_latex(_DEGREES.sub(r"(\\frac{\1\\pi}{180})", latex), config=_NORMALISED)
    return latex2sympy(
        text, is_real=not should_treat_as_complex(text), normalization_config=None, conversion_config=_AS_WRITTEN
    )
