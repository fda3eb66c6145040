"""The graded problems: every family, their wording, their answers."""

import random
import re
from fractions import Fraction
from math import factorial, isqrt

import pytest

from demur_smol_lab.problems import adjacent, hard_negatives
from demur_smol_lab.problems.knowledge import CAPITALS, ELEMENTS
from demur_smol_lab.problems.mix import CHOICE, CORES, DOUBTED, MIX, SHOWN, TAUGHT, TRANSFER, distinct, draw, problems
from demur_smol_lab.problems.problem import Problem, Step, calculate
from demur_smol_lab.problems.unfamiliar import UNFAMILIAR
from demur_training.errors import DataError

CELLS = sorted({*MIX, *TRANSFER, *CHOICE, *TAUGHT, *DOUBTED})
SIGNS = "0123456789+-*() "


def drawn(cell: str, count: int = 30) -> list[Problem]:
    rng = random.Random(cell)
    return [draw(cell, rng) for _ in range(count)]


def plainly(problem: Problem, number: int) -> str:
    """One of the family's own questions, without what stands around it."""
    wholes = CORES[problem.family].wholes
    return wholes[number % len(wholes)].format(**dict(problem.asked))


@pytest.mark.parametrize("cell", sorted({*MIX, *TRANSFER} - {*adjacent.of_kind(adjacent.HELD_OUT)}))
def test_the_last_step_leads_to_the_answer(cell):
    for problem in drawn(cell):
        if problem.steps:
            assert problem.answer is not None
            assert Fraction(problem.answer).numerator == problem.steps[-1].result


@pytest.mark.parametrize("cell", CELLS)
def test_every_step_uses_what_is_known_by_then_and_no_number_is_negative(cell):
    for problem in drawn(cell):
        known = set(problem.facts) | {"1", "2"}
        for step in problem.steps:
            assert {str(step.left), str(step.right)} <= known, problem
            assert step.left >= 0 <= step.right
            assert step.result >= 0
            assert step.operation != "/" or step.left % step.right == 0
            known.add(str(step.result))


@pytest.mark.parametrize("cell", CELLS)
def test_questions_are_whole_and_of_their_cell(cell):
    for problem in drawn(cell):
        assert problem.question.strip()
        assert not set("{}") & set(problem.question)
        assert problem.cell == cell


def test_same_seed_same_problems_other_seed_other_problems():
    assert distinct("train", 50, 1) == distinct("train", 50, 1)
    assert distinct("train", 50, 1) != distinct("train", 50, 2)


def test_distinct_questions_are_distinct_and_the_mix_is_kept():
    chosen = distinct("test", 2000, 0)
    assert len({p.question for p in chosen}) == 2000
    assert {p.cell for p in chosen} == set(MIX)


def test_the_mix_has_the_unknowable_and_several_steps():
    assert {p.answer for p in drawn("unknowable/1")} == {None}
    assert all(len(p.steps) >= 2 for p in drawn("sum_times/1"))
    assert all(len(p.steps) == 3 for p in drawn("three_step/1"))


def test_too_few_questions_are_an_error_that_says_so():
    with pytest.raises(DataError, match="different questions"):
        distinct("train", 5, 0, wanted=lambda problem: problem.size > 99)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("digit_sum/1", lambda a: a // 10 + a % 10),
        ("rounded/1", lambda a: round(a / 10 + 1e-9) * 10),
        ("even_after/1", lambda a: min(n for n in range(a + 1, a + 3) if n % 2 == 0)),
        ("weeks/2", lambda a: int(a / 7)),
        ("divisors/1", lambda a: len({n for k in range(1, a + 1) if a % k == 0 for n in (k, a // k)})),
        ("up_to/1", lambda a: sum(range(a + 1))),
        ("binary/2", lambda a: int(bin(a)[2:])),
        ("root/2", lambda a: int(a**0.5)),
        ("handshakes/2", lambda a: sum(range(a))),
        ("fahrenheit/1", lambda a: round(a * 1.8 + 32)),
        ("logarithm/2", lambda a: len(f"{a:b}") - 1),
        ("digits_of_power/1", lambda a: next(n for n in range(1, 99) if 10**n > 2**a)),
        ("closing_zeros/2", lambda a: len(str(factorial(a))) - len(str(factorial(a)).rstrip("0"))),
        ("fibonacci/1", lambda a: round(((1 + 5**0.5) / 2) ** a / 5**0.5)),
        ("palindrome/2", lambda a: min(n for n in range(a + 1, 20000) if list(str(n)) == list(reversed(str(n))))),
    ],
)
def test_unfamiliar_answers_by_another_way(question, answer):
    for problem in drawn(question):
        assert int(problem.answer or "") == answer(int(problem.facts[1]))


def test_unfamiliar_questions_of_several_numbers():
    for problem in drawn("middle/2"):
        assert int(problem.answer or "") == sorted(map(int, problem.facts[1:]))[1]
    for problem in drawn("apart/1"):
        low, high = map(int, problem.facts[1:])
        assert int(problem.answer or "") == len(range(low + 1, high))
    for problem in drawn("minutes/1"):
        (h1, m1), (h2, m2) = (map(int, time.split(":")) for time in problem.facts[1:])
        assert int(problem.answer or "") == 60 * (h2 - h1) + m2 - m1
    for problem in drawn("seconds/2"):
        minutes, seconds = map(int, problem.facts[1:])
        assert divmod(int(problem.answer or ""), 60) == (minutes, seconds)
    for problem in drawn("multiples/2"):
        a, b = map(int, problem.facts[1:])
        assert int(problem.answer or "") == min(n for n in range(1, a * b + 1) if n % a == n % b == 0)
    for problem in drawn("hypotenuse/2"):
        assert int(problem.answer or "") == isqrt(sum(int(side) ** 2 for side in problem.facts[1:]))
    for problem in drawn("two_unknowns/2"):
        total, difference = map(int, problem.facts[1:])
        larger = int(problem.answer or "")
        assert larger - (total - larger) == difference
    for problem in drawn("cyclist/1"):
        apart, one, other = map(int, problem.facts[1:])
        assert apart == int(problem.answer or "") * one + int(problem.answer or "") * other


@pytest.mark.parametrize(
    "family", ["order", "order_minus", "brackets_minus", "minus_times", "three_multiplied", "below_zero"]
)
def test_near_misses_that_are_expressions_have_their_value(family):
    found = [(p, plainly(p, i)[8:-1]) for size in (1, 2) for i, p in enumerate(drawn(f"{family}/{size}", 60))]
    found = [(problem, asked) for problem, asked in found if set(asked) <= set(SIGNS)]
    assert found
    for problem, asked in found:
        assert int(problem.answer or "") == eval(asked)  # noqa: S307 - digits and signs alone


@pytest.mark.parametrize(
    ("family", "numbers", "answer"),
    [
        (
            "pages",
            r"(of page|number) (?P<b>\d+) to (the end of page|number) (?P<a>\d+)",
            lambda a, b: len(range(b, a + 1)),
        ),
        (
            "queue",
            r"(?P<a>\d+) people in front and (?P<b>\d+) behind",
            lambda a, b: len([*range(a), "oneself", *range(b)]),
        ),
        ("legs", r"(?P<a>\d+) (dogs|cars) and (?P<b>\d+) (hens|bicycles)", lambda a, b: sum([4] * a + [2] * b)),
        ("fewer_together", r"(?P<a>\d+) .* (?P<b>\d+) fewer", lambda a, b: a + (a - b)),
        ("more_together", r"(?P<a>\d+) .* (?P<b>\d+) more than that", lambda a, b: a + (a + b)),
        (
            "before_gift",
            r"(gets|finding) (?P<b>\d+) .* has (?P<a>\d+)",
            lambda a, b: [n + b for n in range(a)].index(a),
        ),
        (
            "before_loss",
            r"(loses|giving) (?P<b>\d+) .* has (?P<a>\d+)",
            lambda a, b: [n - b for n in range(200)].index(a),
        ),
        (
            "minus_unknown",
            r"(?P<a>\d+) (- x =|minus .* makes) (?P<b>\d+)",
            lambda a, b: [a - x for x in range(a)].index(b),
        ),
        (
            "unknown_minus",
            r"(x -|subtract) (?P<b>\d+) .* (?P<a>\d+)",
            lambda a, b: [x - b for x in range(200)].index(a),
        ),
        ("plain_decimals", r"(?P<a>\d+)\.5 (\+|and) (?P<b>\d+)\.5", lambda a, b: (a + 0.5) + (b + 0.5)),
        (
            "two_kinds",
            r"(?P<c>\d+) (boxes|shelves) \w+ (?P<a>\d+) .* (?P<b>\d+)",
            lambda a, b, c: sum([a] * c + [b] * c),
        ),
        ("boxes_apart", r"(?P<c>\d+) boxes hold (?P<a>\d+) .* (?P<b>\d+)", lambda a, b, c: sum([a] * c) - sum([b] * c)),
        ("bag_gone", r"(?P<c>\d+) bags with (?P<a>\d+)", lambda a, c: sum(([a] * c)[1:])),
        ("up_and_down", r"(?P<c>\d+) floors of (?P<a>\d+)", lambda a, c: sum([a] * c + [a] * c)),
        ("one_of_each", r"costs (?P<a>\d+) euros, for a child (?P<b>\d+) euros less", lambda a, b: a + (a - b)),
        (
            "how_many_more",
            r"(?P<a>\d+) .* has (?P<b>\d+)\.|has (?P<d>\d+) .* have (?P<e>\d+)",
            lambda a, b, d, e: a - b + e - d,
        ),
        ("smaller", r"(?P<a>\d+) (or|and) (?P<b>\d+)", lambda a, b: min(a, b)),
        ("cuts", r"(?P<a>\d+)", lambda a: 1 + len("|" * a)),
    ],
)
def test_near_misses_by_another_way(family, numbers, answer):
    for i, problem in enumerate(drawn(f"{family}/2")):
        found = re.search(numbers, plainly(problem, i))
        assert found
        assert int(problem.answer or "") == answer(**{name: int(said or 0) for name, said in found.groupdict().items()})


def test_near_misses_of_many_things():
    for problem in drawn("trees/1"):
        apart, trees = (int(n) for n in re.findall(r"\d+", plainly(problem, 0))[::-1])
        assert int(problem.answer or "") == list(range(0, trees * apart, apart))[-1]
    for problem in drawn("bags_broken/2"):
        bags, each, gone = (int(n) for n in re.findall(r"\d+", plainly(problem, 0)))
        assert int(problem.answer or "") == sum([each] * bags) - gone
    for problem in drawn("times_together/2"):
        has, times = (int(n) for n in re.findall(r"\d+", plainly(problem, 0)))
        assert int(problem.answer or "") == has + sum([has] * times)


@pytest.mark.parametrize("family", sorted(hard_negatives.ASKED))
def test_all_wordings_of_a_near_miss_use_the_same_numbers(family):
    wordings, _, _ = hard_negatives.ASKED[family]
    assert len({tuple(name for name in "abc" if f"{{{name}}}" in wording) for wording in wordings}) == 1


def test_a_near_miss_is_in_the_split_of_the_calculation_it_makes():
    for seed in range(50):
        asked, rng = draw("difference/2", random.Random(seed)), random.Random(seed)
        plain = draw("subtract/2", rng)
        assert asked.facts == plain.facts


@pytest.mark.parametrize(
    ("family", "facts"),
    [
        ("cuts", lambda a: ("+", "1", a)),
        ("two_after", lambda a: ("+", "2", a)),
        ("before", lambda a: ("-", "1", a)),
        ("tenfold", lambda a: ("*", "10", a)),
        ("times_as_many", lambda a, c: ("*", *sorted((a, c), key=int))),
        ("how_many_more", lambda a, b: ("-", *sorted((a, b), key=int))),
        ("more_than_twice", lambda a, b: ("*+", *sorted(("2", a, b), key=int))),
        ("days_more", lambda a, c: ("*+", *map(str, sorted((7, int(a), int(c)))))),
    ],
)
def test_a_near_miss_counts_the_numbers_that_its_question_does_not_name(family, facts):
    for problem in drawn(f"{family}/2"):
        assert problem.facts == facts(*re.findall(r"\d+", plainly(problem, 0)))


def test_nothing_unfamiliar_is_ever_shown_or_measured():
    asked = {cell.partition("/")[0] for cell in DOUBTED}
    assert asked >= {cell.partition("/")[0] for cell in (*UNFAMILIAR, *hard_negatives.HARD_NEGATIVES)}
    assert not asked & {cell.partition("/")[0] for cell in (*SHOWN, *TAUGHT, *MIX, *TRANSFER, *CHOICE)}


@pytest.mark.parametrize(("cell", "message"), [("sums/1", "no such family"), ("add/x", "no such family")])
def test_a_family_nobody_knows_is_an_error(cell, message):
    with pytest.raises(DataError, match=message):
        draw(cell, random.Random(0))


def test_a_held_out_family_is_never_trained_on():
    with pytest.raises(DataError, match="held out"):
        next(problems("train", 0, {"half/1": 1}))
    with pytest.raises(DataError, match="held out"):
        next(problems("transfer", 0, {"add/1": 1}))


def test_known_facts():
    assert CAPITALS["France"] == "Paris"
    assert CAPITALS["India"] == "New Delhi"
    assert ELEMENTS["iron"] == "Fe"
    assert len(CAPITALS) > 80
    assert len(ELEMENTS) > 40


@pytest.mark.parametrize(
    ("left", "operation", "right", "result"),
    [(3, "+", 4, 7), (3, "-", 4, -1), (3, "*", 4, 12), (12, "/", 4, 3), (13, "mod", 4, 1)],
)
def test_calculations(left, operation, right, result):
    assert calculate(left, operation, right) == result
    assert str(Step(left, operation, right)) == f"{left} {operation} {right} = {result}"
