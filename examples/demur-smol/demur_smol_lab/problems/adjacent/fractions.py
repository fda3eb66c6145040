"""Fractions: unlike, mixed, of something, simplified, compared."""

import random
from collections.abc import Mapping
from fractions import Fraction
from math import gcd

from demur_smol_lab.problems.adjacent.family import (
    DOUBTED,
    HELD_OUT,
    TAUGHT,
    VALIDATED,
    Drawn,
    Family,
    answered,
    family,
    worked,
)
from demur_smol_lab.problems.problem import Step


def _proper(rng: random.Random, size: int) -> Fraction:
    below = rng.randint(2, 6 * size)
    return Fraction(rng.randint(1, below - 1), below) if below > 2 else Fraction(1, 2)


def _unlike(rng: random.Random, size: int, sign: int) -> Drawn:
    """Both become fractions over the product of their denominators."""
    p, q = sorted((_proper(rng, size), _proper(rng, size)), reverse=True)
    if p.denominator == q.denominator:
        q = Fraction(1, p.denominator + 1)
    a, b, c, d = p.numerator, p.denominator, q.numerator, q.denominator
    over = [Step(a, "*", d), Step(c, "*", b)]
    top = Step(over[0].result, "+" if sign > 0 else "-", over[1].result)
    return worked([*over, top, Step(b, "*", d)], p + sign * q, a=a, b=b, c=c, d=d)


def _of(rng: random.Random, size: int) -> Drawn:
    part = _proper(rng, size)
    whole = part.denominator * rng.randint(2, 10**size)
    first = Step(whole, "/", part.denominator)
    return worked([first, Step(first.result, "*", part.numerator)], a=part.numerator, b=part.denominator, n=whole)


def _times(rng: random.Random, size: int) -> Drawn:
    p, q = _proper(rng, size), _proper(rng, size)
    steps = [Step(p.numerator, "*", q.numerator), Step(p.denominator, "*", q.denominator)]
    return worked(steps, p * q, a=p.numerator, b=p.denominator, c=q.numerator, d=q.denominator)


def _lowest(rng: random.Random, size: int) -> Drawn:
    part, by = _proper(rng, size), rng.randint(2, 6)
    a, b = part.numerator * by, part.denominator * by
    common = gcd(a, b)
    return worked([Step(a, "/", common), Step(b, "/", common)], part, a=a, b=b)


def _larger(rng: random.Random, size: int) -> Drawn:
    p, q = _proper(rng, size), _proper(rng, size)
    while p == q:
        q = _proper(rng, size)
    return answered(max(p, q), a=p.numerator, b=p.denominator, c=q.numerator, d=q.denominator)


def _mixed(rng: random.Random, size: int) -> Drawn:
    whole, part = rng.randint(1, 9), _proper(rng, size)
    step = Step(whole, "*", part.denominator)
    steps = [step, Step(step.result, "+", part.numerator)]
    return worked(steps, f"{steps[1].result}/{part.denominator}", n=whole, a=part.numerator, b=part.denominator)


def _mixed_sum(rng: random.Random, size: int) -> Drawn:
    part, other = _proper(rng, size), _proper(rng, size)
    m, n = rng.randint(1, 9), rng.randint(1, 9)
    values = {"a": part.numerator, "b": part.denominator, "c": other.numerator, "d": other.denominator}
    return answered(m + n + part + other, m=m, n=n, **values)


def _divided(rng: random.Random, size: int) -> Drawn:
    p, q = _proper(rng, size), _proper(rng, size)
    return answered(p / q, a=p.numerator, b=p.denominator, c=q.numerator, d=q.denominator)


def _whole_less(rng: random.Random, size: int) -> Drawn:
    part, n = _proper(rng, size), rng.randint(1, 3)
    return answered(n - part, n=n, a=part.numerator, b=part.denominator)


def _flipped(rng: random.Random, size: int) -> Drawn:
    part = _proper(rng, size)
    return answered(1 / part, a=part.numerator, b=part.denominator)


def _half_of(rng: random.Random, size: int) -> Drawn:
    part = _proper(rng, size)
    return answered(part / 2, a=part.numerator, b=part.denominator)


def _thirds(rng: random.Random, size: int) -> Drawn:
    n = rng.randint(2, 9 * size)
    return answered(3 * n, n=n)


FRACTIONS: Mapping[str, Family] = {
    "unlike_fractions": family(
        TAUGHT,
        lambda rng, size: _unlike(rng, size, 1),
        nouns=(
            "{a}/{b} + {c}/{d}",
            "the sum of {a}/{b} and {c}/{d}",
            "{a}/{b} plus {c}/{d}",
            "{c}/{d} added to {a}/{b}",
        ),
        wholes=("Add {a}/{b} and {c}/{d}.", "{who} eats {a}/{b} of a cake and {c}/{d} of another. How much in all?"),
    ),
    "unlike_difference": family(
        TAUGHT,
        lambda rng, size: _unlike(rng, size, -1),
        nouns=("{a}/{b} - {c}/{d}", "{a}/{b} minus {c}/{d}", "the difference of {a}/{b} and {c}/{d}"),
        wholes=("Subtract {c}/{d} from {a}/{b}.",),
    ),
    "fraction_of": family(
        TAUGHT,
        _of,
        nouns=("{a}/{b} of {n}", "{a}/{b} of the number {n}", "{n} times {a}/{b}", "{a} {b}ths of {n}"),
        wholes=("{who} has {n} {things} and sells {a}/{b} of them. How many are sold?",),
    ),
    "fraction_product": family(
        TAUGHT,
        _times,
        nouns=(
            "{a}/{b} * {c}/{d}",
            "{a}/{b} times {c}/{d}",
            "the product of {a}/{b} and {c}/{d}",
            "{a}/{b} of {c}/{d}",
        ),
        wholes=("Multiply {a}/{b} by {c}/{d}.",),
    ),
    "lowest_terms": family(
        DOUBTED,
        _lowest,
        nouns=("{a}/{b} in lowest terms", "the simplest form of {a}/{b}"),
        wholes=("Reduce the fraction {a}/{b}.", "Cancel {a}/{b} down as far as it goes."),
    ),
    "larger_fraction": family(
        DOUBTED,
        _larger,
        wholes=("Which is larger, {a}/{b} or {c}/{d}?", "{a}/{b} or {c}/{d}: which fraction is greater?"),
    ),
    "improper": family(
        VALIDATED,
        _mixed,
        wholes=("Write {n} {a}/{b} as an improper fraction.", "Turn the mixed number {n} {a}/{b} into one fraction."),
    ),
    "mixed_sum": family(
        HELD_OUT,
        _mixed_sum,
        nouns=("{m} {a}/{b} + {n} {c}/{d}",),
        wholes=("Add the mixed numbers {m} {a}/{b} and {n} {c}/{d}.",),
    ),
    "fraction_quotient": family(
        HELD_OUT,
        _divided,
        nouns=("{a}/{b} divided by {c}/{d}", "({a}/{b}) / ({c}/{d})"),
        wholes=("Divide {a}/{b} by {c}/{d}.",),
    ),
    "whole_less_fraction": family(HELD_OUT, _whole_less, nouns=("{n} - {a}/{b}", "{n} minus {a}/{b}")),
    "reciprocal": family(DOUBTED, _flipped, nouns=("the reciprocal of {a}/{b}", "1 divided by {a}/{b}")),
    "half_fraction": family(HELD_OUT, _half_of, nouns=("half of {a}/{b}", "{a}/{b} divided by 2")),
    "thirds_in": family(VALIDATED, _thirds, wholes=("How many thirds are in {n}?", "{n} is how many thirds?")),
}
