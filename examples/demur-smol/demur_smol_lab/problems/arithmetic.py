"""Families with one calculation or several, drawn by the number of digits; `frames` asks them."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from demur_smol_lab.problems.frames.calculations import UNITS
from demur_smol_lab.problems.frames.words import DAYS, NAMES, PLACES, THINGS
from demur_smol_lab.problems.problem import Problem, Step

Numbers: TypeAlias = Sequence[int]
Draw: TypeAlias = Callable[[random.Random, int], Problem]


def number(rng: random.Random, digits: int) -> int:
    """Uniform among the numbers of that many digits, from 2 on for one digit."""
    return rng.randint(2, 9) if digits == 1 else rng.randint(10 ** (digits - 1), 10**digits - 1)


def ordered(rng: random.Random, digits: int) -> tuple[int, int]:
    """Two different numbers of that many digits, the larger one first."""
    small, large = sorted(rng.sample(range(10 ** (digits - 1), 10**digits), 2))
    return large, small


def add(rng: random.Random, size: int) -> Problem:
    return _plain("add", size, Step(number(rng, size), "+", number(rng, size)))


def subtract(rng: random.Random, size: int) -> Problem:
    large, small = ordered(rng, size)
    return _plain("subtract", size, Step(large, "-", small))


def multiply(rng: random.Random, size: int) -> Problem:
    """Size 21 is two digits by one."""
    return _plain("multiply", size, Step(number(rng, size // 10), "*", number(rng, size % 10)))


def divide(rng: random.Random, size: int) -> Problem:
    """`size` is the number of digits of the quotient; the divisor has one."""
    by = number(rng, 1)
    return _plain("divide", size, Step(by * number(rng, size), "/", by))


def remainder(rng: random.Random, size: int) -> Problem:
    return _plain("remainder", size, Step(number(rng, size), "mod", rng.randint(3, 9)))


def successor(rng: random.Random, size: int) -> Problem:
    return _plain("next", size, Step(number(rng, size), "+", 1))


def tens(rng: random.Random, size: int) -> Problem:
    """Round numbers: 30 + 40, 300 + 400."""
    unit = 10**size
    problem = _plain("add", size, Step(unit * rng.randint(1, 9), "+", unit * rng.randint(1, 9)))
    return _renamed(problem, "tens")


def double(rng: random.Random, size: int) -> Problem:
    return _plain("double", size, Step(number(rng, size), "*", 2))


def half(rng: random.Random, size: int) -> Problem:
    return _plain("half", size, Step(2 * number(rng, size), "/", 2))


def equation(rng: random.Random, size: int) -> Problem:
    large, small = ordered(rng, size)
    return _plain("equation", size, Step(large, "-", small))


def fraction(rng: random.Random, size: int) -> Problem:
    """Two fractions with the same denominator, a prime above the sum, so the result is in lowest terms."""
    a, b = rng.randint(1, 5 * size), rng.randint(1, 5 * size)
    c = rng.choice([p for p in (11, 13, 17, 19, 23, 29, 31) if p > a + b])
    step = Step(a, "+", b)
    return Problem(
        "fraction", size, facts_of([step], c), "", f"{step.result}/{c}", (step,), True, asked=numbered(a, b, c)
    )


def square(rng: random.Random, size: int) -> Problem:
    side = number(rng, size)
    return _plain("square", size, Step(side, "*", side))


def cube(rng: random.Random, size: int) -> Problem:
    side = number(rng, size)
    first = Step(side, "*", side)
    return _chain("cube", size, first, Step(first.result, "*", side))


def percent(rng: random.Random, size: int) -> Problem:
    """`size` is the number of digits of the result; halves are left to a family that is held out."""
    share = rng.choice((5, 10, 20, 25))
    first = Step(100 // share * number(rng, size), "*", share)
    return _chain("percent", size, first, Step(first.result, "/", 100))


def sequence(rng: random.Random, size: int) -> Problem:
    """Four numbers with the same distance; what comes next?"""
    start, gap = number(rng, size), rng.randint(2, 9)
    shown = [start + i * gap for i in range(4)]
    step = Step(shown[-1], "+", gap)
    return Problem("sequence", size, facts_of([step]), "", str(step.result), (step,), True, asked=numbered(*shown))


def unit(rng: random.Random, size: int) -> Problem:
    large, small, factor = rng.choice(UNITS)
    step = Step(number(rng, size), "*", factor)
    asked = (*numbered(step.left), ("large", large), ("small", small))
    return Problem("unit", size, facts_of([step]), "", str(step.result), (step,), True, asked=asked)


def sum_times(rng: random.Random, size: int) -> Problem:
    first = Step(number(rng, size), "+", number(rng, size))
    return _chain("sum_times", size, first, Step(first.result, "*", number(rng, 1)))


def times_plus(rng: random.Random, size: int) -> Problem:
    first = Step(number(rng, size), "*", number(rng, 1))
    return _chain("times_plus", size, first, Step(first.result, "+", number(rng, size)))


def plus_minus(rng: random.Random, size: int) -> Problem:
    first = Step(number(rng, size), "+", number(rng, size))
    return _chain("plus_minus", size, first, Step(first.result, "-", rng.randint(1, first.result - 1)))


def three_step(rng: random.Random, size: int) -> Problem:
    first = Step(number(rng, size), "*", number(rng, 1))
    second = Step(first.result, "+", number(rng, size))
    return _chain("three_step", size, first, second, Step(second.result, "-", rng.randint(1, second.result - 1)))


def average(rng: random.Random, size: int) -> Problem:
    a = number(rng, size)
    first = Step(a, "+", a + 2 * rng.randint(1, 4 * 10 ** (size - 1)))
    return _chain("average", size, first, Step(first.result, "/", 2))


def perimeter(rng: random.Random, size: int) -> Problem:
    first = Step(number(rng, size), "+", number(rng, size))
    return _chain("perimeter", size, first, Step(first.result, "*", 2))


def word_add(rng: random.Random, size: int) -> Problem:
    return _story(rng, "word_add", size, Step(number(rng, size), "+", number(rng, size)))


def word_subtract(rng: random.Random, size: int) -> Problem:
    large, small = ordered(rng, size)
    return _story(rng, "word_subtract", size, Step(large, "-", small))


def word_multiply(rng: random.Random, size: int) -> Problem:
    return _story(rng, "word_multiply", size, Step(number(rng, size), "*", number(rng, 1)))


def word_divide(rng: random.Random, size: int) -> Problem:
    by = number(rng, 1)
    return _story(rng, "word_divide", size, Step(by * number(rng, size), "/", by))


def word_times_plus(rng: random.Random, size: int) -> Problem:
    first = Step(number(rng, size), "*", number(rng, 1))
    return _story(rng, "word_times_plus", size, first, Step(first.result, "+", number(rng, size)))


def word_plus_minus(rng: random.Random, size: int) -> Problem:
    first = Step(number(rng, size), "+", number(rng, size))
    return _story(rng, "word_plus_minus", size, first, Step(first.result, "-", rng.randint(1, first.result - 1)))


FAMILIES: Mapping[str, Draw] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "remainder": remainder,
    "next": successor,
    "tens": tens,
    "double": double,
    "half": half,
    "equation": equation,
    "fraction": fraction,
    "square": square,
    "cube": cube,
    "percent": percent,
    "sequence": sequence,
    "unit": unit,
    "sum_times": sum_times,
    "times_plus": times_plus,
    "plus_minus": plus_minus,
    "three_step": three_step,
    "average": average,
    "perimeter": perimeter,
    "word_add": word_add,
    "word_subtract": word_subtract,
    "word_multiply": word_multiply,
    "word_divide": word_divide,
    "word_times_plus": word_times_plus,
    "word_plus_minus": word_plus_minus,
}


def people(rng: random.Random) -> tuple[tuple[str, str], ...]:
    """Who and what a story is about."""
    who, other = rng.sample(NAMES, 2)
    drawn = {"things": rng.choice(THINGS), "place": rng.choice(PLACES), "day": rng.choice(DAYS)}
    return (("who", who), ("other", other), *drawn.items())


def numbered(*numbers: int) -> tuple[tuple[str, str], ...]:
    """The numbers of a question by their places in it: a, b, c, d."""
    return tuple(zip("abcd", map(str, numbers), strict=False))


def facts_of(steps: Sequence[Step], *more: int) -> tuple[str, ...]:
    """The numbers as asked, sorted: `3 + 5`, `5 + 3` and a story about 3 and 5 belong to the same split."""
    known: set[int] = set()
    numbers = list(more)
    for step in steps:
        numbers += [number for number in (step.left, step.right) if number not in known]
        known.add(step.result)
    numbers.sort()
    return ("".join(step.operation for step in steps), *map(str, numbers))


def _plain(family: str, size: int, step: Step) -> Problem:
    asked = numbered(step.left, step.right)
    return Problem(family, size, facts_of([step]), "", str(step.result), (step,), asked=asked)


def _renamed(problem: Problem, family: str) -> Problem:
    return replace(problem, family=family)


def _chain(family: str, size: int, *steps: Step) -> Problem:
    asked = numbered(steps[0].left, *(step.right for step in steps))
    return Problem(family, size, facts_of(steps), "", str(steps[-1].result), steps, True, asked=asked)


def _story(rng: random.Random, family: str, size: int, *steps: Step) -> Problem:
    asked = (*numbered(steps[0].left, *(step.right for step in steps)), *people(rng))
    return Problem(family, size, facts_of(steps), "", str(steps[-1].result), steps, True, asked=asked)
