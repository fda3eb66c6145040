"""Numbers in words, Roman numerals, dozens and scores."""

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
from demur_smol_lab.problems.frames.notation import spelled
from demur_smol_lab.problems.knowledge import roman_numeral
from demur_smol_lab.problems.problem import Operation, Step

_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_MANY = {"pairs": 2, "dozen": 12, "scores": 20, "trios": 3, "quartets": 4}


def _spoken(rng: random.Random, size: int, operation: Operation) -> Drawn:
    a, b = digits(rng, size), rng.randint(2, 9) if operation == "*" else digits(rng, size)
    a, b = (max(a, b) + 1, min(a, b)) if operation == "-" else (a, b)
    return worked([Step(a, operation, b)], a=spelled(a), b=spelled(b))


def _from_words(rng: random.Random, size: int) -> Drawn:
    n = rng.randint(11, 10 ** (size + 1) - 1)
    return answered(n, a=spelled(n))


def _in_words(rng: random.Random, size: int) -> Drawn:
    n = rng.randint(11, 10 ** (size + 1) - 1)
    return answered(spelled(n), a=n)


def _roman(rng: random.Random, size: int) -> Drawn:
    n = rng.randint(2, 20 if size == 1 else 120)
    return answered(roman_numeral(n), a=n)


def _roman_sum(rng: random.Random, size: int) -> Drawn:
    a, b = rng.randint(1, 12 * size), rng.randint(1, 12 * size)
    return worked([Step(a, "+", b)], a=roman_numeral(a), b=roman_numeral(b))


def _counted(rng: random.Random, size: int) -> Drawn:
    name, n = rng.choice(sorted(_MANY)), digits(rng, size)
    return worked([Step(n, "*", _MANY[name])], n=n, kind=name)


def _ordinal(rng: random.Random, size: int) -> Drawn:
    place, step = rng.randint(1, 10), rng.randint(2, 9 * size)
    return worked([Step(step, "*", place)], p=_ORDINALS[place - 1], b=step)


def _thousands(rng: random.Random, size: int) -> Drawn:
    n = rng.randint(2, 10**size)
    return answered(1000 * n, a=spelled(n))


def _mixed_spoken(rng: random.Random, size: int) -> Drawn:
    a, b = digits(rng, size), digits(rng, size)
    return worked([Step(a, "+", b)], a=spelled(a), b=b)


SPOKEN: Mapping[str, Family] = {
    "spoken_sum": family(
        TAUGHT,
        lambda rng, size: _spoken(rng, size, "+"),
        nouns=("{a} plus {b}", "the sum of {a} and {b}", "{a} and {b}", "{b} more than {a}"),
        wholes=("Add {a} and {b}.",),
    ),
    "spoken_difference": family(
        TAUGHT,
        lambda rng, size: _spoken(rng, size, "-"),
        nouns=("{a} minus {b}", "{a} less {b}", "the difference of {a} and {b}"),
        wholes=("Take {b} away from {a}.",),
    ),
    "spoken_product": family(
        TAUGHT,
        lambda rng, size: _spoken(rng, size, "*"),
        nouns=("{a} times {b}", "the product of {a} and {b}"),
        wholes=("Multiply {a} by {b}.",),
    ),
    "from_words": family(
        DOUBTED,
        _from_words,
        nouns=("{a} in digits",),
        wholes=("Write {a} as a number.", "Write the number {a} in figures."),
    ),
    "in_words": family(HELD_OUT, _in_words, nouns=("{a} in words",), wholes=("How do you spell the number {a}?",)),
    "to_roman": family(DOUBTED, _roman, nouns=("{a} in Roman numerals",), wholes=("Write {a} as a Roman numeral.",)),
    "roman_sum": family(
        HELD_OUT, _roman_sum, nouns=("{a} + {b}", "{a} plus {b}"), wholes=("Add the Roman numerals {a} and {b}.",)
    ),
    "groups": family(
        TAUGHT,
        _counted,
        wholes=(
            "How many are {n} {kind}?",
            "{n} {kind} of {things} are how many {things}?",
            "{who} has {n} {kind} of {things}. How many is that?",
            "What number is {n} {kind}?",
            "How many {things} make {n} {kind}?",
        ),
    ),
    "ordinal": family(HELD_OUT, _ordinal, nouns=("the {p} multiple of {b}",)),
    "thousands": family(VALIDATED, _thousands, nouns=("{a} thousand",), wholes=("Write {a} thousand as a number.",)),
    "half_spoken": family(VALIDATED, _mixed_spoken, nouns=("{a} plus {b}", "{b} + {a}")),
}
