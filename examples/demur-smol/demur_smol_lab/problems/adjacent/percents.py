"""Percentages and ratios."""

import random
from collections.abc import Mapping
from fractions import Fraction

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

_SHARES = (5, 10, 20, 25, 30, 40, 50, 60, 75, 80)


def _whole(rng: random.Random, size: int, share: int) -> int:
    below = Fraction(share, 100).denominator
    return below * rng.randint(1, 10**size)


def _part(rng: random.Random, size: int) -> tuple[int, int, list[Step]]:
    share = rng.choice(_SHARES)
    whole = _whole(rng, size, share)
    first = Step(whole, "*", share)
    return share, whole, [first, Step(first.result, "/", 100)]


def _of(rng: random.Random, size: int) -> Drawn:
    share, whole, steps = _part(rng, size)
    return worked(steps, a=whole, b=share)


def _changed(rng: random.Random, size: int, operation: str) -> Drawn:
    share, whole, steps = _part(rng, size)
    last = Step(whole, "+" if operation == "+" else "-", steps[-1].result)
    return worked([*steps, last], a=whole, b=share)


def _what_share(rng: random.Random, size: int) -> Drawn:
    share, whole, steps = _part(rng, size)
    return answered(f"{share}%", a=steps[-1].result, b=whole)


def _whole_of(rng: random.Random, size: int) -> Drawn:
    share, whole, steps = _part(rng, size)
    return answered(whole, a=steps[-1].result, b=share)


def _as_fraction(rng: random.Random, size: int) -> Drawn:
    share = rng.choice(_SHARES) if size == 1 else rng.randint(1, 99)
    return answered(Fraction(share, 100), b=share)


def _ratio(rng: random.Random, size: int) -> Drawn:
    each, some, many = rng.randint(2, 9 * size), rng.randint(2, 5), rng.randint(6, 9)
    first = Step(each * some, "/", some)
    return worked([first, Step(first.result, "*", many)], a=some, b=each * some, c=many)


def _rest(rng: random.Random, size: int) -> Drawn:
    share = rng.randint(1, 99)
    return answered(f"{100 - share}%", b=share)


PERCENTS: Mapping[str, Family] = {
    "percent_of": family(
        TAUGHT,
        _of,
        nouns=("{b}% of {a}", "{b} percent of {a}", "{b} per cent of {a}"),
        wholes=("Take {b}% of {a}.", "Of {a} {things} {b}% are sold. How many are sold?"),
    ),
    "percent_up": family(
        DOUBTED,
        lambda rng, size: _changed(rng, size, "+"),
        nouns=("{a} plus {b}%", "{a} increased by {b}%"),
        wholes=("A price of {a} euros goes up by {b}%. What is it now?",),
    ),
    "percent_down": family(
        HELD_OUT,
        lambda rng, size: _changed(rng, size, "-"),
        nouns=("{a} less {b}%", "{a} reduced by {b} percent"),
        wholes=("Something that costs {a} dollars is {b}% off. What does it cost now?",),
    ),
    "what_percent": family(
        HELD_OUT,
        _what_share,
        wholes=("What percent of {b} is {a}?", "{a} of {b} people said yes. How many percent is that?"),
    ),
    "whole_of_percent": family(DOUBTED, _whole_of, wholes=("{b}% of which number is {a}?", "{a} is {b}% of what?")),
    "percent_fraction": family(
        VALIDATED, _as_fraction, nouns=("{b}% as a fraction",), wholes=("Write {b}% as a fraction in lowest terms.",)
    ),
    "ratio": family(
        TAUGHT,
        _ratio,
        wholes=(
            "{a} {things} cost {b} euros. What do {c} {things} cost?",
            "If {a} pens cost {b} dollars, how much are {c} pens?",
            "{who} walks {b} km in {a} hours. How many km is that in {c} hours at the same speed?",
            "{a} machines make {b} parts. How many parts do {c} machines make?",
            "{a} bags weigh {b} kg. How heavy are {c} bags?",
        ),
    ),
    "percent_rest": family(
        HELD_OUT,
        _rest,
        wholes=("{b}% of the people left. How many percent stayed?", "If {b}% are used, what percent is left?"),
    ),
}
