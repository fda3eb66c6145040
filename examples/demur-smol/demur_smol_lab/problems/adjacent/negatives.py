"""Numbers below zero. Steps are with their sizes, which are natural."""

import random
from collections.abc import Mapping

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
    worked,
)
from demur_smol_lab.problems.problem import Step


def _apart(rng: random.Random, size: int) -> tuple[int, int]:
    """Two different numbers, the larger one first."""
    a = digits(rng, size)
    return a + digits(rng, size), a


def _below(rng: random.Random, size: int) -> Drawn:
    large, small = _apart(rng, size)
    return worked([Step(large, "-", small)], small - large, a=small, b=large)


def _from_below(rng: random.Random, size: int) -> Drawn:
    large, small = _apart(rng, size)
    if rng.random() < 0.5:
        return worked([Step(large, "-", small)], large - small, a=small, b=large)
    return worked([Step(large, "-", small)], small - large, a=large, b=small)


def _further_below(rng: random.Random, size: int) -> Drawn:
    a, b = digits(rng, size), digits(rng, size)
    return worked([Step(a, "+", b)], -a - b, a=a, b=b)


def _times(rng: random.Random, size: int) -> Drawn:
    a, b = digits(rng, size), rng.randint(2, 9)
    return worked([Step(a, "*", b)], -a * b, a=a, b=b)


def _minus_minus(rng: random.Random, size: int) -> Drawn:
    a, b = digits(rng, size), digits(rng, size)
    return worked([Step(a, "+", b)], a + b, a=a, b=b)


def _both(rng: random.Random, size: int) -> Drawn:
    a, b = digits(rng, size), rng.randint(2, 9)
    return answered(a * b, a=a, b=b)


def _added(rng: random.Random, size: int) -> Drawn:
    large, small = _apart(rng, size)
    return answered(large - small, a=large, b=small)


def _compared(rng: random.Random, size: int) -> Drawn:
    large, small = _apart(rng, size)
    pair = rng.sample((-large, -small), 2)
    return answered(-small, a=pair[0], b=pair[1])


def _over(rng: random.Random, size: int) -> Drawn:
    by, times = rng.randint(2, 9), digits(rng, size)
    return answered(-times, a=by * times, b=by)


NEGATIVES: Mapping[str, Family] = {
    "below_nought": family(
        TAUGHT,
        _below,
        nouns=("{a} - {b}", "{a} minus {b}", "{b} subtracted from {a}"),
        wholes=("Subtract {b} from {a}.", "It is {a} degrees and gets {b} degrees colder. What is the temperature?"),
    ),
    "from_below": family(
        TAUGHT,
        _from_below,
        nouns=("-{a} + {b}", "minus {a} plus {b}", "the sum of -{a} and {b}"),
        wholes=("Add {b} to -{a}.", "It is -{a} degrees and gets {b} degrees warmer. How many degrees is it?"),
    ),
    "further_below": family(
        TAUGHT, _further_below, nouns=("-{a} - {b}", "minus {a} minus {b}"), wholes=("Subtract {b} from -{a}.",)
    ),
    "negative_times": family(DOUBTED, _times, nouns=("-{a} * {b}", "{b} * -{a}", "minus {a} times {b}")),
    "minus_minus": family(DOUBTED, _minus_minus, nouns=("{a} - (-{b})", "{a} minus -{b}", "{a} minus minus {b}")),
    "both_negative": family(HELD_OUT, _both, nouns=("-{a} * -{b}", "(-{a}) * (-{b})", "minus {a} times minus {b}")),
    "negative_added": family(HELD_OUT, _added, nouns=("{a} + (-{b})", "{a} plus minus {b}")),
    "negative_larger": family(
        VALIDATED, _compared, wholes=("Which is larger, {a} or {b}?", "Which number is greater: {a} or {b}?")
    ),
    "negative_over": family(HELD_OUT, _over, nouns=("-{a} / {b}", "minus {a} divided by {b}")),
}
