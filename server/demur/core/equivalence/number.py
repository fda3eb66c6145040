"""Numbers as answers give them: exact where rational, 50 digits where not, and never large enough to hurt."""

import decimal
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import factorial

Number = Fraction | Decimal
"""A Fraction is exact. A Decimal is an irrational value cut to `DIGITS` significant digits."""

DIGITS = 50
CERTAIN = 35
"""Of these digits, the ones that no rounding on the way has touched."""
MAX_BITS = 4_096
"""Of a numerator or denominator; a power or factorial beyond it is no number this module works out."""
MAX_FACTORIAL = 300

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")

_CONTEXT = decimal.Context(prec=DIGITS, Emax=5_000, Emin=-5_000, traps=[decimal.Overflow, decimal.InvalidOperation])
_EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}
_APPROXIMATE: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": _CONTEXT.add,
    "-": _CONTEXT.subtract,
    "*": _CONTEXT.multiply,
    "/": _CONTEXT.divide,
}


class OutOfBounds(ArithmeticError):
    """The value exists but is too large to hold, or has no real value."""


def combine(a: Number, operation: str, b: Number) -> Number:
    """Two numbers combined by `operation`, one of + - * /; exact where both are.

    Raises ArithmeticError for a division by zero and for a result that is too large to hold.
    """
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return _bounded(_EXACT[operation](a, b))
    return _APPROXIMATE[operation](approximate(a), approximate(b))


def negated(value: Number) -> Number:
    """-value, with all of its digits: the minus of Python's decimals rounds."""
    return value.copy_negate() if isinstance(value, Decimal) else -value


def raised(base: Number, exponent: Number) -> Number:
    """base ** exponent, exact where it is rational.

    Raises ArithmeticError where the value is not real, cannot be worked out here or is too large to hold.
    """
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        root = _exact_root(base, exponent.denominator)
        if root is not None:
            if abs(exponent.numerator) * _bits(root) > MAX_BITS:
                raise OutOfBounds
            return _bounded(root**exponent.numerator)
    if base <= 0 or abs(exponent) > MAX_BITS:
        raise OutOfBounds
    return _CONTEXT.power(approximate(base), approximate(exponent))


def factorial_of(value: Number) -> Fraction:
    """The factorial of `value`. Raises ArithmeticError unless it is an integer from 0 to `MAX_FACTORIAL`."""
    if not isinstance(value, Fraction) or value.denominator != 1 or not 0 <= value <= MAX_FACTORIAL:
        raise OutOfBounds
    return Fraction(factorial(int(value)))


def literal(digits: str) -> Fraction:
    """A written number, as 1e3 or 12.50. Raises ArithmeticError when it has very many digits."""
    mantissa, _, exponent = digits.lower().partition("e")
    if len(mantissa) + abs(int(exponent or 0)) > MAX_BITS // 4:
        raise OutOfBounds
    return Fraction(digits)


def simplest(value: Number) -> Number:
    """A Decimal that is a fraction in disguise, as (1 + sqrt 5)(1 - sqrt 5), becomes that fraction."""
    if isinstance(value, Fraction) or abs(value) > 10**12:
        return value
    fraction = Fraction(value).limit_denominator(10**6)
    off = abs(Fraction(value) - fraction)
    return fraction if off <= max(abs(fraction), 1) / 10**CERTAIN else value


def number_key(value: Number) -> str:
    """A key that is equal for equal numbers: the fraction itself, or the certain digits of an irrational number."""
    if isinstance(value, Fraction):
        return str(value)
    return f"~{value:.{CERTAIN - 1}e}"


def approximate(value: Number) -> Decimal:
    """The value as a decimal number of 50 digits."""
    if isinstance(value, Decimal):
        return value
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _bounded(value: Fraction) -> Fraction:
    if _bits(value) > MAX_BITS:
        raise OutOfBounds
    return value


def _exact_root(value: Fraction, index: int) -> Fraction | None:
    """The real root where it is rational, else None. An even root of a negative number is none."""
    if index == 1:
        return value
    if index > 64 or (value < 0 and index % 2 == 0):
        return None
    top, bottom = _integer_root(abs(value.numerator), index), _integer_root(value.denominator, index)
    if top is None or bottom is None:
        return None
    return Fraction(-top if value < 0 else top, bottom)


def _integer_root(n: int, index: int) -> int | None:
    """r with r**index == n, by bisection."""
    low, high = 0, 1 << (n.bit_length() // index + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**index < n:
            low = middle + 1
        else:
            high = middle
    return low if low**index == n else None
