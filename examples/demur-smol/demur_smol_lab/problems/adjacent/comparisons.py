"""Comparing, checking, counting."""

import random
from collections.abc import Callable, Mapping

from demur_smol_lab.problems.adjacent.family import (
    DOUBTED,
    HELD_OUT,
    TAUGHT,
    VALIDATED,
    Drawn,
    Family,
    answered,
    digits,
    family,
)


def _of(rng: random.Random, size: int, choose: Callable[[list[int]], object], count: int) -> Drawn:
    numbers = rng.sample(range(2, 10 ** (size + 1)), count)
    return answered(choose(numbers), **dict(zip("abcd", numbers, strict=False)))


def _true_sum(rng: random.Random, size: int) -> Drawn:
    a, b = digits(rng, size), digits(rng, size)
    claimed = a + b + rng.choice((0, 0, 1, -1, 10))
    return answered("yes" if claimed == a + b else "no", a=a, b=b, c=claimed)


def _true_product(rng: random.Random, size: int) -> Drawn:
    a, b = digits(rng, size), rng.randint(2, 9)
    claimed = a * b + rng.choice((0, 0, a, -1))
    return answered("true" if claimed == a * b else "false", a=a, b=b, c=claimed)


def _divisible(rng: random.Random, size: int) -> Drawn:
    b, times = rng.randint(2, 9), digits(rng, size)
    a = b * times + rng.choice((0, rng.randint(1, b - 1)))
    return answered("no" if a % b else "yes", a=a, b=b)


def _parity(rng: random.Random, size: int) -> Drawn:
    a = digits(rng, size + 1)
    return answered("odd" if a % 2 else "even", a=a)


def _gap(rng: random.Random, size: int) -> Drawn:
    a, b = digits(rng, size), digits(rng, size)
    return answered(b, a=a, c=a + b)


def _gap_times(rng: random.Random, size: int) -> Drawn:
    a, b = rng.randint(2, 9), digits(rng, size)
    return answered(b, a=a, c=a * b)


def _multiple_after(rng: random.Random, size: int) -> Drawn:
    b, a = rng.randint(3, 9), digits(rng, size + 1)
    return answered((a // b + 1) * b, a=a, b=b)


def _signs(rng: random.Random, size: int) -> Drawn:
    a, b = rng.sample(range(2, 10 ** (size + 1)), 2)
    return answered("<" if a < b else ">", a=a, b=b)


def _total(rng: random.Random, size: int) -> Drawn:
    a, b = digits(rng, size), digits(rng, size)
    return answered("yes" if a + b > 10**size else "no", a=a, b=b, c=10**size)


def _before(rng: random.Random, size: int) -> Drawn:
    a = digits(rng, size + 1)
    return answered(a - 1, a=a)


COMPARISONS: Mapping[str, Family] = {
    "largest": family(
        TAUGHT,
        lambda rng, size: _of(rng, size, max, 3),
        nouns=(
            "the largest of {a}, {b} and {c}",
            "the biggest number among {a}, {b}, {c}",
            "the maximum of {a}, {b} and {c}",
        ),
        wholes=("Which is the largest: {a}, {b} or {c}?",),
    ),
    "least": family(
        VALIDATED,
        lambda rng, size: _of(rng, size, min, 3),
        nouns=("the smallest of {a}, {b} and {c}",),
        wholes=("Which is the least of {a}, {b} and {c}?",),
    ),
    "second": family(
        HELD_OUT,
        lambda rng, size: _of(rng, size, lambda n: sorted(n)[1], 3),
        nouns=("the second largest of {a}, {b} and {c}",),
    ),
    "rising": family(
        HELD_OUT,
        lambda rng, size: _of(rng, size, lambda n: ", ".join(map(str, sorted(n))), 3),
        wholes=("Put {a}, {b}, {c} in order from small to large.", "Sort these numbers: {a}, {b}, {c}"),
    ),
    "is_sum": family(
        DOUBTED,
        _true_sum,
        wholes=(
            "Is {a} + {b} equal to {c}?",
            "Yes or no: {a} + {b} = {c}?",
            "{who} says {a} plus {b} is {c}. Is that right?",
        ),
    ),
    "is_product": family(
        HELD_OUT, _true_product, wholes=("True or false: {a} * {b} = {c}", "{a} times {b} is {c}. True or false?")
    ),
    "divisible": family(
        DOUBTED, _divisible, wholes=("Is {a} divisible by {b}?", "Can {a} be divided by {b} without a remainder?")
    ),
    "odd_or_even": family(
        TAUGHT,
        _parity,
        wholes=(
            "Is {a} odd or even?",
            "Even or odd: {a}?",
            "{a} is an even or an odd number?",
            "Tell me if {a} is odd or even.",
            "Is the number {a} even or is it odd?",
        ),
    ),
    "gap_sum": family(
        TAUGHT,
        _gap,
        wholes=(
            "{a} + ? = {c}",
            "{a} + ___ = {c}",
            "What number plus {a} gives {c}?",
            "Fill in: ? + {a} = {c}",
            "{a} and what make {c}?",
        ),
    ),
    "gap_product": family(DOUBTED, _gap_times, wholes=("{a} * ? = {c}", "{a} times what is {c}?", "Solve {a}x = {c}.")),
    "multiple_after": family(HELD_OUT, _multiple_after, wholes=("What is the first multiple of {b} above {a}?",)),
    "sign_between": family(VALIDATED, _signs, wholes=("Which sign belongs between {a} and {b}, < or >?",)),
    "more_than": family(DOUBTED, _total, wholes=("Is {a} + {b} more than {c}?",)),
    "number_before": family(
        TAUGHT,
        _before,
        nouns=("the number before {a}", "one less than {a}", "{a} - 1"),
        wholes=("Which number comes right before {a}?", "Count one down from {a}."),
    ),
}
