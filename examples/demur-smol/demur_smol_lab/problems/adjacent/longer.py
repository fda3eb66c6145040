"""Longer calculations: three operands and more, brackets, multiplication before addition."""

import random
from collections.abc import Mapping, Sequence

from demur_smol_lab.problems.adjacent.family import (
    DOUBTED,
    HELD_OUT,
    TAUGHT,
    VALIDATED,
    Drawn,
    Family,
    digits,
    family,
    worked,
)
from demur_smol_lab.problems.problem import Step


def _summed(rng: random.Random, size: int, count: int) -> Drawn:
    numbers = [digits(rng, size) for _ in range(count)]
    return worked(running(numbers), **dict(zip("abcde", numbers, strict=False)))


def running(numbers: Sequence[int]) -> list[Step]:
    """One number after another is added."""
    steps = [Step(numbers[0], "+", numbers[1])]
    for number in numbers[2:]:
        steps.append(Step(steps[-1].result, "+", number))
    return steps


def _times_after(rng: random.Random, size: int) -> Drawn:
    a, b, c = digits(rng, size), digits(rng, size), rng.randint(2, 9)
    first = Step(b, "*", c)
    return worked([first, Step(a, "+", first.result)], a=a, b=b, c=c)


def _less_times(rng: random.Random, size: int) -> Drawn:
    b, c = digits(rng, size), rng.randint(2, 9)
    first = Step(b, "*", c)
    a = first.result + digits(rng, size)
    return worked([first, Step(a, "-", first.result)], a=a, b=b, c=c)


def _bracketed(rng: random.Random, size: int) -> Drawn:
    b, a, c = digits(rng, size), digits(rng, size), rng.randint(2, 9)
    first = Step(a + b, "-", b)
    return worked([first, Step(first.result, "*", c)], a=a + b, b=b, c=c)


def _taken_twice(rng: random.Random, size: int) -> Drawn:
    b, c, rest = digits(rng, size), digits(rng, size), digits(rng, size)
    first = Step(b + c + rest, "-", b)
    return worked([first, Step(first.result, "-", c)], a=b + c + rest, b=b, c=c)


def _two_products(rng: random.Random, size: int) -> Drawn:
    a, b, c, d = digits(rng, size), rng.randint(2, 9), digits(rng, size), rng.randint(2, 9)
    first, second = Step(a, "*", b), Step(c, "*", d)
    return worked([first, second, Step(first.result, "+", second.result)], a=a, b=b, c=c, d=d)


def _over_after(rng: random.Random, size: int) -> Drawn:
    by, quotient, a = rng.randint(2, 9), digits(rng, size), digits(rng, size)
    first = Step(by * quotient, "/", by)
    return worked([first, Step(a, "+", first.result)], a=a, b=by * quotient, c=by)


def _over_bracket(rng: random.Random, size: int) -> Drawn:
    by, quotient = rng.randint(2, 9), digits(rng, size)
    total = by * quotient
    a = rng.randint(1, total - 1)
    first = Step(a, "+", total - a)
    return worked([first, Step(total, "/", by)], a=a, b=total - a, c=by)


def _square_plus(rng: random.Random, size: int) -> Drawn:
    a, b = rng.randint(2, 9 * size), digits(rng, size)
    first = Step(a, "*", a)
    return worked([first, Step(first.result, "+", b)], a=a, b=b)


def _mean_of_three(rng: random.Random, size: int) -> Drawn:
    a, b, mean = digits(rng, size), digits(rng, size), digits(rng, size) + 10**size
    c = 3 * mean - a - b
    steps = running((a, b, c))
    return worked([*steps, Step(steps[-1].result, "/", 3)], a=a, b=b, c=c)


LONGER: Mapping[str, Family] = {
    "sum_of_three": family(
        TAUGHT,
        lambda rng, size: _summed(rng, size, 3),
        nouns=("{a} + {b} + {c}", "{a} plus {b} plus {c}", "the sum of {a}, {b} and {c}", "{a}, {b} and {c} together"),
        wholes=("Add {a}, {b} and {c}.", "{who} has {a} red, {b} green and {c} blue {things}. How many is that?"),
    ),
    "sum_of_four": family(
        TAUGHT,
        lambda rng, size: _summed(rng, size, 4),
        nouns=("{a} + {b} + {c} + {d}", "the sum of {a}, {b}, {c} and {d}"),
        wholes=("Add up {a}, {b}, {c} and {d}.",),
    ),
    "sum_of_five": family(HELD_OUT, lambda rng, size: _summed(rng, size, 5), nouns=("{a} + {b} + {c} + {d} + {e}",)),
    "times_first": family(
        TAUGHT,
        _times_after,
        nouns=("{a} + {b} * {c}", "{a} plus {b} times {c}", "{a} + ({b} * {c})"),
        wholes=("{who} has {a} {things} and {c} boxes of {b} {things}. How many in all?",),
    ),
    "less_product": family(
        TAUGHT,
        _less_times,
        nouns=("{a} - {b} * {c}", "{a} minus {b} times {c}", "{a} - ({b} * {c})"),
        wholes=("{who} has {a} {things} and gives {b} to each of {c} friends. How many are left?",),
    ),
    "bracket_less": family(
        TAUGHT,
        _bracketed,
        nouns=("({a} - {b}) * {c}", "{c} * ({a} - {b})", "{c} times the difference of {a} and {b}"),
        wholes=("Take {b} from {a}, then multiply by {c}.",),
    ),
    "taken_twice": family(
        DOUBTED,
        _taken_twice,
        nouns=("{a} - {b} - {c}", "{a} minus {b} minus {c}"),
        wholes=("From {a} {things} {who} gives {b} to {other} and {c} to another friend. How many are left?",),
    ),
    "two_products": family(DOUBTED, _two_products, nouns=("{a} * {b} + {c} * {d}", "{a} times {b} plus {c} times {d}")),
    "over_first": family(VALIDATED, _over_after, nouns=("{a} + {b} / {c}", "{a} plus {b} divided by {c}")),
    "over_bracket": family(
        HELD_OUT, _over_bracket, nouns=("({a} + {b}) / {c}",), wholes=("Add {a} and {b}, then divide by {c}.",)
    ),
    "square_plus": family(DOUBTED, _square_plus, nouns=("{a}^2 + {b}", "{a} squared plus {b}")),
    "mean_of_three": family(
        HELD_OUT, _mean_of_three, nouns=("the average of {a}, {b} and {c}", "the mean of {a}, {b}, {c}")
    ),
}
