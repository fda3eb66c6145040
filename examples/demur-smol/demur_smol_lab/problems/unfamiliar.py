"""Families that no worked answer is ever shown for, neither sampled for the histogram nor measured: met only where
confidences are learnt, so that a model doubts its answers to whatever looks new."""

import random
from collections.abc import Callable, Mapping
from math import isqrt, lcm, prod

from demur_smol_lab.problems.arithmetic import numbered
from demur_smol_lab.problems.frames.grammar import Core
from demur_smol_lab.problems.knowledge import CAPITALS
from demur_smol_lab.problems.problem import Operation, Problem, Step
from demur_smol_lab.problems.unfamiliar_words import PAIRS

Values = Mapping[str, int | str]
Riddle = Callable[[random.Random, int], tuple[Values, int | str]]
"""Draws what a question is about, for a size, and the answer."""


def _digits(rng: random.Random, size: int) -> int:
    """A number of size + 1 digits."""
    return rng.randint(10**size, 10 ** (size + 1) - 1)


def _three(rng: random.Random, size: int) -> list[int]:
    return rng.sample(range(10 ** (size - 1), 10 ** (size + 1)), 3)


def _of_number(answer: Callable[[int], int | str]) -> Riddle:
    def drawn(rng: random.Random, size: int) -> tuple[Values, int | str]:
        a = _digits(rng, size)
        return {"a": a}, answer(a)

    return drawn


def _of_small_number(answer: Callable[[int], int | str], low: int = 2, high: int = 20) -> Riddle:
    def drawn(rng: random.Random, size: int) -> tuple[Values, int | str]:
        a = rng.randint(low, high * size)
        return {"a": a}, answer(a)

    return drawn


def _of_three(answer: Callable[[list[int]], int]) -> Riddle:
    def drawn(rng: random.Random, size: int) -> tuple[Values, int | str]:
        a, b, c = _three(rng, size)
        return {"a": a, "b": b, "c": c}, answer(sorted((a, b, c)))

    return drawn


def _of_words(pairs: str) -> Riddle:
    known = dict(pair.split(":") for pair in pairs.split())

    def drawn(rng: random.Random, size: int) -> tuple[Values, int | str]:
        x = rng.choice(sorted(known))
        return {"x": x.replace("_", " ")}, known[x]

    return drawn


def _apart(rng: random.Random, size: int) -> tuple[Values, int | str]:
    a = _digits(rng, size)
    b = a + rng.randint(3, 10**size)
    return {"a": a, "b": b}, b - a - 1


def _minutes(rng: random.Random, size: int) -> tuple[Values, int | str]:
    start, later = rng.randint(60, 600), rng.randint(5, 60 * size)
    end = start + later
    return {"a": f"{start // 60}:{start % 60:02d}", "b": f"{end // 60}:{end % 60:02d}"}, later


def _root(rng: random.Random, size: int) -> tuple[Values, int | str]:
    root = rng.randint(2, 15 * size)
    return {"a": root * root}, root


def _vowels(rng: random.Random, size: int) -> tuple[Values, int | str]:
    word = rng.choice(sorted(CAPITALS))
    return {"x": word}, sum(letter in "aeiou" for letter in word.lower())


def _ages(rng: random.Random, size: int) -> tuple[Values, int | str]:
    a, b = _digits(rng, size), rng.randint(2, 9 * size)
    return {"a": a, "b": b}, 2 * a + b


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % k for k in range(2, isqrt(n) + 1))


def _next_prime(a: int) -> int:
    return next(n for n in range(a + 1, 2 * a + 2) if _is_prime(n))


def _common_multiple(rng: random.Random, size: int) -> tuple[Values, int | str]:
    a, b = rng.sample(range(2, 15 * size), 2)
    return {"a": a, "b": b}, lcm(a, b)


def _fibonacci(place: int) -> int:
    a, b = 1, 1
    for _ in range(place - 1):
        a, b = b, a + b
    return a


def _fahrenheit(rng: random.Random, size: int) -> tuple[Values, int | str]:
    celsius = 5 * rng.randint(1, 10**size)
    return {"a": celsius}, celsius * 9 // 5 + 32


def _seconds(rng: random.Random, size: int) -> tuple[Values, int | str]:
    minutes, seconds = rng.randint(1, 10**size), rng.randint(1, 59)
    return {"a": minutes, "b": seconds}, 60 * minutes + seconds


def _hypotenuse(rng: random.Random, size: int) -> tuple[Values, int | str]:
    scale = rng.randint(1, 9 * size)
    a, b, c = rng.choice(((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29)))
    return {"a": scale * a, "b": scale * b}, scale * c


def _logarithm(rng: random.Random, size: int) -> tuple[Values, int | str]:
    power = rng.randint(2, 10 * size)
    return {"a": 2**power}, power


def _two_unknowns(rng: random.Random, size: int) -> tuple[Values, int | str]:
    x, y = sorted((_digits(rng, size), _digits(rng, size)), reverse=True)
    return {"a": x + y, "b": x - y}, x


def _cyclists(rng: random.Random, size: int) -> tuple[Values, int | str]:
    hours, one, other = rng.randint(2, 5 * size), rng.randint(8, 25), rng.randint(8, 25)
    return {"a": hours * (one + other), "b": one, "c": other}, hours


_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

RIDDLES: Mapping[str, tuple[tuple[str, ...], Riddle]] = {
    "digit_sum": (
        ("What is the sum of the digits of {a}?", "Add up the digits of {a}."),
        _of_number(lambda a: sum(map(int, str(a)))),
    ),
    "digit_product": (("Multiply the digits of {a}.",), _of_number(lambda a: prod(map(int, str(a))))),
    "largest_digit": (
        ("Which is the largest digit of {a}?", "Name the greatest digit in {a}."),
        _of_number(lambda a: max(str(a))),
    ),
    "mirrored": (("Write the number {a} from right to left.",), _of_number(lambda a: str(int(str(a)[::-1])))),
    "rounded": (
        ("Round {a} to the nearest ten.", "Which multiple of ten is closest to {a}?"),
        _of_number(lambda a: (a + 5) // 10 * 10),
    ),
    "even_after": (("Which even number follows {a}?",), _of_number(lambda a: a + 2 - a % 2)),
    "next_prime": (
        ("Which is the smallest prime above {a}?", "Find the first prime after {a}."),
        _of_number(_next_prime),
    ),
    "weeks": (("How many full weeks are there in {a} days?",), _of_number(lambda a: a // 7)),
    "divisors": (
        ("How many divisors has {a}?", "By how many whole numbers can {a} be divided?"),
        _of_number(lambda a: sum(a % k == 0 for k in range(1, a + 1))),
    ),
    "odd_number": (("Count the odd numbers 1, 3, 5, ... Which one has place {a}?",), _of_number(lambda a: 2 * a - 1)),
    "up_to": (
        ("Add all whole numbers from 1 to {a}.", "What is 1 + 2 + ... + {a}?"),
        _of_small_number(lambda a: a * (a + 1) // 2),
    ),
    "power": (("What is 2 to the power of {a}?", "What is 2^{a}?"), _of_small_number(lambda a: 2**a, 3, 8)),
    "binary": (
        ("Write {a} in binary.", "How is {a} written with zeros and ones only?"),
        _of_small_number(lambda a: f"{a:b}"),
    ),
    "factorial": (
        ("What is {a}!?", "What is the factorial of {a}?"),
        _of_small_number(lambda a: prod(range(1, a + 1)), 2, 6),
    ),
    "root": (("What is the square root of {a}?",), _root),
    "smallest": (
        ("Which is the smallest of {a}, {b} and {c}?", "Name the least of the numbers {a}, {b}, {c}."),
        _of_three(lambda numbers: numbers[0]),
    ),
    "middle": (
        ("What is the median of {a}, {b} and {c}?", "{a}, {b}, {c}: which is in the middle by size?"),
        _of_three(lambda numbers: numbers[1]),
    ),
    "spread": (("What is the range of {a}, {b} and {c}?",), _of_three(lambda numbers: numbers[2] - numbers[0])),
    "apart": (("How many whole numbers lie strictly between {a} and {b}?",), _apart),
    "minutes": (
        ("How many minutes pass from {a} to {b}?", "A film runs from {a} to {b}. How many minutes is that?"),
        _minutes,
    ),
    "vowels": (("How many vowels are in the word {x}?", "Count the vowels of {x}."), _vowels),
    "ages": (("Mara is {a} years old, her brother is {b} years older. How old are both together?",), _ages),
    "letter": (
        ("Which letter of the alphabet has the number {a}?", "What is letter number {a} of the alphabet?"),
        _of_small_number(lambda a: chr(64 + a), 1, 13),
    ),
    "month": (
        ("Which month has the number {a}?", "Name month number {a} of the year."),
        _of_small_number(lambda a: _MONTHS[a - 1], 1, 6),
    ),
    "multiples": (("What is the lowest common multiple of {a} and {b}?", "Find lcm({a}, {b})."), _common_multiple),
    "fibonacci": (
        ("In the Fibonacci sequence 1, 1, 2, 3, 5, ... which number has place {a}?",),
        _of_small_number(_fibonacci, 5, 13),
    ),
    "hexadecimal": (("Write {a} in hexadecimal.",), _of_small_number(lambda a: f"{a:x}", 10, 90)),
    "prime_or_not": (
        ("Is {a} a prime number? Answer yes or no.", "Yes or no: has {a} no divisor but 1 and itself?"),
        _of_number(lambda a: "yes" if _is_prime(a) else "no"),
    ),
    "palindrome": (
        ("Which is the first number above {a} that reads the same from both ends?",),
        _of_number(lambda a: next(n for n in range(a + 1, 20 * a) if str(n) == str(n)[::-1])),
    ),
    "fahrenheit": (
        ("Convert {a} degrees Celsius to Fahrenheit.", "How many degrees Fahrenheit are {a} degrees Celsius?"),
        _fahrenheit,
    ),
    "seconds": (("How many seconds are {a} minutes and {b} seconds?",), _seconds),
    "hypotenuse": (
        ("The short sides of a right-angled triangle are {a} and {b} long. How long is the third?",),
        _hypotenuse,
    ),
    "box": (
        ("A box is {a} cm long, {b} cm wide and {c} cm high. What is its volume in cubic centimetres?",),
        _of_three(prod),
    ),
    "logarithm": (("What is the logarithm of {a} to the base 2?", "2 to which power is {a}?"), _logarithm),
    "closing_zeros": (
        ("How many zeros stand at the end of {a} factorial?",),
        _of_small_number(lambda a: sum(a // 5**k for k in range(1, 5)), 5, 60),
    ),
    "two_unknowns": (
        ("x + y = {a} and x - y = {b}. What is x?", "Two numbers have the sum {a} and the difference {b}. "
         "Which is the larger?"),
        _two_unknowns,
    ),
    "digits_of_power": (("How many digits has 2^{a}?",), _of_small_number(lambda a: len(str(2**a)), 5, 60)),
    "ordered": (
        ("Which of {a}, {b} and {c} has the largest last digit? If several do, name the smallest of them.",),
        _of_three(lambda numbers: max(numbers, key=lambda n: n % 10)),
    ),
    "handshakes": (
        ("{a} people all shake hands with each other once. How many handshakes are that?",),
        _of_small_number(lambda a: a * (a - 1) // 2, 3),
    ),
    "cyclist": (
        ("Two cyclists set out towards each other, {a} km apart. One rides {b} km an hour, the other {c}. "
         "After how many hours do they meet?",),
        _cyclists,
    ),
    **{family: (wordings, _of_words(pairs)) for family, (wordings, pairs) in PAIRS.items()},
}  # fmt: skip

CALCULATIONS: Mapping[str, tuple[tuple[str, ...], Operation]] = {
    "third": (("What is a third of {a}?", "Split {a} into three equal parts. How large is one?"), "/"),
    "area": (("A rectangle is {a} cm long and {b} cm wide. What is its area in square centimetres?",), "*"),
    "travelled": (("A cyclist rides {a} km a day. How many kilometres is that in {b} days?",), "*"),
    "left_over": (("{a} nuts are dealt out evenly to {b} children. How many nuts are left over?",), "mod"),
    "older": (("Ada is {a} years old. How old will she be in {b} years?",), "+"),
    "change": (("Something costs {b} euros. You pay with {a} euros. How much do you get back?",), "-"),
    "coins": (("How many cents are {a} coins of {b} cents?", "{b} cents each: what are {a} such coins worth?"), "*"),
    "riders": (("{a} people are on a bus, {b} more get on. How many are there then?",), "+"),
    "below": (("By how much is {b} below {a}?", "How far is it from {b} up to {a}?"), "-"),
}
"""One calculation each: they share their split with any other wording of it."""


def _riddle(family: str) -> Callable[[random.Random, int], Problem]:
    _, draw = RIDDLES[family]

    def drawn(rng: random.Random, size: int) -> Problem:
        values, answer = draw(rng, size)
        asked = tuple((place, str(value)) for place, value in values.items())
        facts = (family, *(value for _, value in asked))
        return Problem(family, size, facts, "", str(answer).replace("_", " "), asked=asked)

    return drawn


def _calculation(family: str) -> Callable[[random.Random, int], Problem]:
    _, operation = CALCULATIONS[family]

    def drawn(rng: random.Random, size: int) -> Problem:
        step = (
            Step(3 * _digits(rng, size), "/", 3)
            if operation == "/"
            else Step(_digits(rng, size), operation, rng.randint(3, 9))
        )
        facts = (operation, *map(str, sorted((step.left, step.right))))
        return Problem(family, size, facts, "", str(step.result), asked=numbered(step.left, step.right))

    return drawn


FAMILIES: Mapping[str, Callable[[random.Random, int], Problem]] = {
    **{family: _riddle(family) for family in RIDDLES},
    **{family: _calculation(family) for family in CALCULATIONS},
}
CORES: Mapping[str, Core] = {
    family: Core(wholes=wordings, split=False) for family, (wordings, _) in (*RIDDLES.items(), *CALCULATIONS.items())
}
UNFAMILIAR: Mapping[str, float] = {f"{family}/{size}": 1 for family in FAMILIES for size in (1, 2)}
"""The mix: every family alike, in two sizes."""
