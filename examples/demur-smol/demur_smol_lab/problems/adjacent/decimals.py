"""Decimal fractions and money. Steps count in tenths or hundredths."""

import random
from collections.abc import Mapping
from decimal import Decimal

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
from demur_smol_lab.problems.problem import Operation, Step


def plain(value: Decimal) -> str:
    """Without closing zeros or an exponent."""
    return f"{value.normalize():f}"


def _places(rng: random.Random, size: int) -> int:
    return 1 if size == 1 else rng.randint(1, 2)


def _decimal(rng: random.Random, places: int) -> int:
    """So many units of the last place, not a round number."""
    units = rng.randint(2, 10 ** (places + 1) - 1)
    return units + 1 if units % 10 == 0 else units


def _two(rng: random.Random, size: int, operation: Operation) -> Drawn:
    places = _places(rng, size)
    b, a = sorted((_decimal(rng, places), _decimal(rng, places)))
    step = Step(a, operation, b)
    written = {name: plain(Decimal(n).scaleb(-places)) for name, n in (("a", a), ("b", b))}
    return worked([step], plain(Decimal(step.result).scaleb(-places)), **written)


def _by_whole(rng: random.Random, size: int) -> Drawn:
    places, by = _places(rng, size), rng.randint(2, 9)
    a = _decimal(rng, places)
    step = Step(a, "*", by)
    return worked([step], plain(Decimal(step.result).scaleb(-places)), a=plain(Decimal(a).scaleb(-places)), b=by)


def _unequal(rng: random.Random, size: int) -> Drawn:
    """Often 9.9 against 9.11: more digits, less worth."""
    n = rng.randint(0, 10**size)
    a, b = Decimal(n) + Decimal(rng.randint(1, 9)) / 10, Decimal(n) + Decimal(rng.randint(1, 99)) / 100
    if a == b:
        a += 1
    pair = [plain(a), plain(b)]
    rng.shuffle(pair)
    return answered(plain(max(a, b)), a=pair[0], b=pair[1])


def _smaller(rng: random.Random, size: int) -> Drawn:
    drawn = _unequal(rng, size)
    pair = [str(drawn.values["a"]), str(drawn.values["b"])]
    return answered(min(pair, key=Decimal), a=pair[0], b=pair[1])


def _product(rng: random.Random, size: int) -> Drawn:
    a, b = Decimal(_decimal(rng, 1)) / 10, Decimal(_decimal(rng, 1)) / 10
    return answered(plain(a * b), a=plain(a), b=plain(b))


def _rounded(rng: random.Random, size: int) -> Drawn:
    a = Decimal(_decimal(rng, 2)) / 100
    return answered(plain(a.quantize(Decimal(1), "ROUND_HALF_UP")), a=plain(a))


def _by_ten(rng: random.Random, size: int) -> Drawn:
    a = Decimal(_decimal(rng, 2)) / 100
    return answered(plain(a * 10**size), a=plain(a), b=10**size)


def _price(rng: random.Random, size: int) -> Drawn:
    cents, count = rng.randint(1, 20 * size) * 25, rng.randint(2, 9)
    step = Step(cents, "*", count)
    return worked([step], plain(Decimal(step.result) / 100), a=f"{cents / 100:.2f}", b=count)


def _change(rng: random.Random, size: int) -> Drawn:
    note = rng.choice((5, 10, 20, 50)) * 100
    cents = rng.randint(1, note // 10 - 1) * 10 + 5 * (size - 1)
    step = Step(note, "-", cents)
    return worked([step], plain(Decimal(step.result) / 100), a=note // 100, b=f"{cents / 100:.2f}")


def _as_decimal(rng: random.Random, size: int) -> Drawn:
    below = rng.choice((2, 4, 5, 10, 20, 25))
    above = rng.randint(1, below - 1)
    return answered(plain(Decimal(above) / Decimal(below)), a=above, b=below)


def _less_than_whole(rng: random.Random, size: int) -> Drawn:
    n, a = rng.randint(2, 10**size), Decimal(rng.randint(1, 19)) / 10
    return answered(plain(n - a), n=n, a=plain(a))


def _over_whole(rng: random.Random, size: int) -> Drawn:
    by, result = rng.randint(2, 9), Decimal(_decimal(rng, 1)) / 10
    return answered(plain(result), a=plain(result * by), b=by)


DECIMALS: Mapping[str, Family] = {
    "decimal_sum": family(
        TAUGHT,
        lambda rng, size: _two(rng, size, "+"),
        nouns=("{a} + {b}", "{a} plus {b}", "the sum of {a} and {b}"),
        wholes=("Add {a} and {b}.", "One rope is {a} m long, another {b} m. How many metres together?"),
    ),
    "decimal_difference": family(
        TAUGHT,
        lambda rng, size: _two(rng, size, "-"),
        nouns=("{a} - {b}", "{a} minus {b}", "the difference between {a} and {b}"),
        wholes=("Subtract {b} from {a}.",),
    ),
    "decimal_times": family(
        TAUGHT, _by_whole, nouns=("{a} * {b}", "{b} * {a}", "{a} times {b}"), wholes=("Multiply {a} by {b}.",)
    ),
    "decimal_larger": family(
        TAUGHT,
        _unequal,
        wholes=(
            "Which is larger, {a} or {b}?",
            "Which number is bigger: {a} or {b}?",
            "{a} or {b}, which is more?",
            "Is {a} or {b} the greater number?",
            "Name the larger of {a} and {b}.",
            "Which is greater: {b} or {a}?",
        ),
    ),
    "decimal_smaller": family(
        HELD_OUT, _smaller, wholes=("Which is smaller, {a} or {b}?", "Which is less: {a} or {b}?")
    ),
    "decimal_product": family(DOUBTED, _product, nouns=("{a} * {b}", "{a} times {b}")),
    "decimal_rounded": family(
        DOUBTED, _rounded, nouns=("{a} rounded to a whole number",), wholes=("Round {a} to the nearest integer.",)
    ),
    "decimal_by_ten": family(VALIDATED, _by_ten, nouns=("{a} * {b}", "{b} times {a}")),
    "price": family(
        TAUGHT,
        _price,
        wholes=(
            "One ticket costs {a} euros. What do {b} tickets cost?",
            "A pen is ${a}. How many dollars are {b} pens?",
            "{who} buys {b} {things} at {a} dollars each. How much is that in dollars?",
            "{b} {things} for {a} each: what is the price in all?",
            "What do I pay for {b} coffees at {a} euros?",
        ),
    ),
    "money_back": family(
        DOUBTED,
        _change,
        wholes=(
            "Something costs {b} euros. You pay with {a} euros. How much do you get back?",
            "From {a} dollars {who} spends {b}. How many dollars are left?",
        ),
    ),
    "as_decimal": family(
        VALIDATED, _as_decimal, nouns=("{a}/{b} as a decimal",), wholes=("Write {a}/{b} as a decimal number.",)
    ),
    "whole_less_decimal": family(HELD_OUT, _less_than_whole, nouns=("{n} - {a}", "{n} minus {a}")),
    "decimal_over": family(HELD_OUT, _over_whole, nouns=("{a} / {b}", "{a} divided by {b}")),
}
