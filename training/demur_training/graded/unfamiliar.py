"""Families that no worked answer is ever shown for, neither sampled for the histogram nor measured: met only late in
training, so that a model learns to doubt its answers to whatever looks new."""

import random
from collections.abc import Callable, Mapping
from math import isqrt, prod

from demur_training.graded.knowledge import CAPITALS
from demur_training.graded.problem import Operation, Problem, Step

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
        return {"x": x}, known[x]

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
    "continent": (("On which continent is {x}?", "{x} lies on which continent?"), _of_words(
        "Kenya:Africa Ghana:Africa Mali:Africa Egypt:Africa Angola:Africa Zambia:Africa France:Europe Poland:Europe "
        "Spain:Europe Norway:Europe Greece:Europe Japan:Asia Nepal:Asia Vietnam:Asia Iraq:Asia Mongolia:Asia "
        "Cuba:North_America Canada:North_America Panama:North_America Peru:South_America Chile:South_America"
    )),
    "opposite": (("What is the opposite of {x}?", "Which word means the contrary of {x}?"), _of_words(
        "hot:cold big:small early:late open:closed full:empty fast:slow high:low young:old wet:dry light:dark "
        "strong:weak rich:poor hard:soft long:short near:far"
    )),
    "plural": (("What is the plural of {x}?", "One {x}, two ... which word is missing?"), _of_words(
        "mouse:mice child:children foot:feet tooth:teeth goose:geese man:men woman:women knife:knives leaf:leaves "
        "city:cities ox:oxen sheep:sheep wolf:wolves box:boxes baby:babies"
    )),
    "young": (("What is a young {x} called?", "How does one call the young of a {x}?"), _of_words(
        "dog:puppy cat:kitten cow:calf horse:foal sheep:lamb goat:kid pig:piglet hen:chick duck:duckling swan:cygnet "
        "goose:gosling bear:cub deer:fawn frog:tadpole kangaroo:joey"
    )),
}  # fmt: skip


CALCULATIONS: Mapping[str, tuple[tuple[str, ...], Operation]] = {
    "third": (("What is a third of {a}?", "Split {a} into three equal parts. How large is one?"), "/"),
    "area": (("A rectangle is {a} cm long and {b} cm wide. What is its area in square centimetres?",), "*"),
    "travelled": (("A cyclist rides {a} km a day. How many kilometres is that in {b} days?",), "*"),
    "left_over": (("{a} nuts are dealt out evenly to {b} children. How many nuts are left over?",), "mod"),
    "older": (("Ada is {a} years old. How old will she be in {b} years?",), "+"),
    "below": (("By how much is {b} below {a}?", "How far is it from {b} up to {a}?"), "-"),
}
"""One calculation each: they share their split with any other wording of it."""


def _riddle(family: str) -> Callable[[random.Random, int], Problem]:
    wordings, draw = RIDDLES[family]

    def drawn(rng: random.Random, size: int) -> Problem:
        values, answer = draw(rng, size)
        facts = (family, *(str(value) for value in values.values()))
        return Problem(family, size, facts, rng.choice(wordings).format(**values), str(answer).replace("_", " "))

    return drawn


def _calculation(family: str) -> Callable[[random.Random, int], Problem]:
    wordings, operation = CALCULATIONS[family]

    def drawn(rng: random.Random, size: int) -> Problem:
        step = (
            Step(3 * _digits(rng, size), "/", 3)
            if operation == "/"
            else Step(_digits(rng, size), operation, rng.randint(3, 9))
        )
        facts = (operation, *map(str, sorted((step.left, step.right))))
        question = rng.choice(wordings).format(a=step.left, b=step.right)
        return Problem(family, size, facts, question, str(step.result))

    return drawn


FAMILIES: Mapping[str, Callable[[random.Random, int], Problem]] = {
    **{family: _riddle(family) for family in RIDDLES},
    **{family: _calculation(family) for family in CALCULATIONS},
}
UNFAMILIAR: Mapping[str, float] = {f"{family}/{size}": 1 for family in FAMILIES for size in (1, 2)}
"""The mix: every family alike, in two sizes."""
