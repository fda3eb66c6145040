r"""Arithmetic in an answer -> its value. Digits, + - * / ^ !, brackets, \frac, \sqrt[n]{} and \pi; a letter makes it
no number.

Text, tokens, nesting and values are bounded, so a tower of powers or a megabyte of digits costs microseconds and comes
out as "no number I know".
"""

import re
from collections.abc import Callable
from decimal import DecimalException
from fractions import Fraction

from demur.core.equivalence.number import PI, Number, combine, factorial_of, literal, negated, raised, simplest

MAX_CHARS = 1_200
MAX_TOKENS = 128
MAX_DEPTH = 24

_TOKEN = re.compile(
    r"\s*((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4}(?![\dA-Za-z.]))?"
    r"|\\frac|\\sqrt|sqrt(?=\s*\()|\\pi|pi(?![a-z])|\*\*|[-+*/^!(){}\[\]])"
)
_LEADING_ZERO = re.compile(r"0\d")
_MIXED = re.compile(r"([+-]?)\s*(\d+)\s*(?:\\frac\s*\{?\s*(\d+)\s*\}?\s*\{?\s*(\d+)\s*\}?|\s(\d+)\s*/\s*(\d+))")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class _NotArithmetic(Exception):
    """The text is something else."""


def evaluate(text: str) -> Number | None:
    """The value of normalized text, or None when it is no number, or none that is worked out here."""
    if len(text) > MAX_CHARS:
        return None
    mixed = _mixed_number(text)
    if mixed is not None:
        return mixed
    try:
        return simplest(_Parser(_tokens(text)).whole())
    except (_NotArithmetic, ArithmeticError, DecimalException):
        return None


def _mixed_number(text: str) -> Fraction | None:
    r"""2 1/2 and 2\frac{1}{2} are two and a half; 3\frac{4}{2} is a product."""
    match = _MIXED.fullmatch(text) if len(text) <= 60 else None
    if match is None:
        return None
    top, bottom = int(match[3] or match[5]), int(match[4] or match[6])
    if not 0 < top < bottom:
        return None
    value = int(match[2]) + Fraction(top, bottom)
    return -value if match[1] == "-" else value


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None or len(tokens) == MAX_TOKENS:
            raise _NotArithmetic
        tokens.append(match[1])
        position = match.end()
        if match[1].endswith(".") and text.startswith("(", position):
            raise _NotArithmetic  # 0.(3) repeats, and is no product
    if len(tokens) > 1 and any(_LEADING_ZERO.match(token) for token in tokens):
        raise _NotArithmetic  # 2024-03-05 is a date, not a difference
    return tokens


class _Parser:
    """Recursive descent; each method eats one construct and returns its value."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._at = 0
        self._depth = 0

    def whole(self) -> Number:
        value = self._sum()
        self._expect("")
        return value

    def _peek(self) -> str:
        return self._tokens[self._at]

    def _take(self) -> str:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise _NotArithmetic

    def _sum(self) -> Number:
        value = self._product()
        while self._peek() in ("+", "-"):
            value = combine(value, self._take(), self._product())
        return value

    def _product(self) -> Number:
        value = self._signed()
        while True:
            if self._peek() in ("*", "/"):
                value = combine(value, self._take(), self._signed())
            elif self._peek().startswith(("\\", "(", "[", "{", "pi", "sqrt")):
                value = combine(value, "*", self._power())
            else:
                return value

    def _signed(self) -> Number:
        negative = False
        while self._peek() in ("+", "-"):
            negative ^= self._take() == "-"
        value = self._power()
        return negated(value) if negative else value

    def _power(self) -> Number:
        base = self._atom()
        while self._peek() == "!":
            self._take()
            base = factorial_of(base)
        if self._peek() in ("^", "**"):
            self._take()
            return raised(base, self._nested(self._signed))
        return base

    def _atom(self) -> Number:
        token = self._take()
        if token[:1].isdigit() or token[:1] == ".":
            return literal(token)
        if token in ("\\pi", "pi"):
            return PI
        if token == "\\frac":
            return combine(self._argument(), "/", self._argument())
        if token in ("\\sqrt", "sqrt"):
            return self._root()
        if token not in _CLOSING:
            raise _NotArithmetic
        value = self._nested(self._sum)
        self._expect(_CLOSING[token])
        return value

    def _root(self) -> Number:
        index: Number = Fraction(2)
        if self._peek() == "[":
            index = self._nested(self._atom)
        return raised(self._nested(self._atom), combine(Fraction(1), "/", index))

    def _argument(self) -> Number:
        r"""What \frac takes: a group, or a single digit as in \frac12."""
        token = self._peek()
        if token.isdigit() and len(token) > 1:
            self._tokens[self._at] = token[1:]
            return Fraction(int(token[0]))
        return self._nested(self._atom)

    def _nested(self, read: Callable[[], Number]) -> Number:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _NotArithmetic
        value = read()
        self._depth -= 1
        return value
