"""Sets of real numbers as disjoint intervals and points: union, intersection, complement, and one spelling."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cmp_to_key

from demur.core.equivalence.number import Number, approximate, number_key

INFINITY = Decimal("Infinity")
EMPTY = r"\emptyset"


@dataclass(frozen=True, slots=True)
class Piece:
    """An interval, or one point when both bounds are the same. `has_low`, `has_high`: whether the bounds are in it."""

    low: Number
    high: Number
    has_low: bool
    has_high: bool


Pieces = tuple[Piece, ...]
ALL: Pieces = (Piece(-INFINITY, INFINITY, False, False),)


def point(value: Number) -> Piece:
    """The set of one number."""
    return Piece(value, value, True, True)


def compare(a: Number, b: Number) -> int:
    """Negative, zero or positive, as a is less than, equal to or greater than b."""
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        a, b = approximate(a), approximate(b)
        return (a > b) - (a < b)
    return (a > b) - (a < b)


def union(pieces: Iterable[Piece]) -> Pieces:
    """Disjoint pieces that do not touch, in rising order."""
    merged: list[Piece] = []
    for piece in sorted(pieces, key=cmp_to_key(_by_low)):
        last = merged[-1] if merged else None
        gap = 1 if last is None else compare(piece.low, last.high)
        if last is None or gap > 0 or (gap == 0 and not (piece.has_low or last.has_high)):
            merged.append(piece)
            continue
        reach = compare(piece.high, last.high)
        high = (
            (piece.high, piece.has_high) if reach > 0 else (last.high, last.has_high or (reach == 0 and piece.has_high))
        )
        merged[-1] = Piece(last.low, high[0], last.has_low, high[1])
    return tuple(merged)


def intersection(some: Pieces, others: Pieces) -> Pieces:
    """What lies in both."""
    return union(both for one in some for other in others if (both := _overlap(one, other)) is not None)


def complement(pieces: Pieces) -> Pieces:
    """All real numbers that lie in none of the pieces, which are disjoint and in rising order."""
    rest: list[Piece] = []
    low, has_low = -INFINITY, False
    for piece in pieces:
        rest.append(Piece(low, piece.low, has_low, not piece.has_low))
        low, has_low = piece.high, not piece.has_high
    rest.append(Piece(low, INFINITY, has_low, False))
    return tuple(piece for piece in rest if _holds_any(piece))


def spelled(pieces: Pieces) -> str:
    r"""One spelling, the one that intervals, finite sets and single numbers have elsewhere: (2, \infty), {1, 2}, 5."""
    points = [number_key(piece.low) for piece in pieces if compare(piece.low, piece.high) == 0]
    intervals = sorted(
        f"{'[' if piece.has_low else '('}{_bound(piece.low)}, {_bound(piece.high)}{']' if piece.has_high else ')'}"
        for piece in pieces
        if compare(piece.low, piece.high)
    )
    if len(points) == 1 and not intervals:
        return points[0]
    finite = ["{" + ", ".join(sorted(points)) + "}"] if points else []
    parts = intervals + finite
    if not parts:
        return EMPTY
    return parts[0] if len(parts) == 1 else "{" + " ∪ ".join(parts) + "}"


def _bound(value: Number) -> str:
    if isinstance(value, Decimal) and value.is_infinite():
        return r"\infty" if value > 0 else r"-\infty"
    return number_key(value)


def _by_low(one: Piece, other: Piece) -> int:
    return compare(one.low, other.low) or other.has_low - one.has_low


def _holds_any(piece: Piece) -> bool:
    order = compare(piece.low, piece.high)
    return order < 0 or (order == 0 and piece.has_low and piece.has_high)


def _overlap(one: Piece, other: Piece) -> Piece | None:
    low, high = compare(one.low, other.low), compare(one.high, other.high)
    lower = one if low > 0 else other
    upper = one if high < 0 else other
    both = Piece(
        lower.low,
        upper.high,
        lower.has_low if low else one.has_low and other.has_low,
        upper.has_high if high else one.has_high and other.has_high,
    )
    return both if _holds_any(both) else None
