"""Claims about graded problems are checked exactly, and reasons for doubt are true and name the step."""

import random

import pytest

from demur_smol_lab.problems.mix import MIX, draw
from demur_smol_lab.problems.problem import Problem, Step
from demur_smol_lab.problems.reasons import is_true, names_step, parse_step, true_reasons
from demur_smol_lab.problems.steps import check_steps

TWO = Problem("sum_times", 1, ("+*", "3", "4", "5"), "?", "35", (Step(3, "+", 4), Step(7, "*", 5)), in_words=True)


@pytest.mark.parametrize(
    ("claims", "verdicts"),
    [
        (["3 + 4 = 7", "7 * 5 = 35"], [True, True]),
        (["4 + 3 = 7", "5 * 7 = 35"], [True, True]),
        (["3 + 4 = 8", "8 * 5 = 40"], [False, True]),  # right from a wrong result on
        (["3 + 4 = 8", "7 * 5 = 35"], [False, False]),  # not what was stated before
        (["3 + 4 = 7", "7 * 5 = 36"], [True, False]),
        (["3 * 4 = 12", "7 * 5 = 35"], [False, False]),
        (["3 + 4 = 7", "7 * 5 = 35", "35 + 1 = 36"], [True, True, False]),
        (["it is seven"], [False]),
        ([], []),
    ],
)
def test_steps_are_checked_one_by_one(claims, verdicts):
    assert check_steps(TWO, claims) == verdicts


@pytest.mark.parametrize("claim", ["7 / 0 = 0", "7 mod 0 = 0"])
def test_dividing_by_nothing_is_wrong_not_an_error(claim):
    operation = "mod" if "mod" in claim else "/"
    assert check_steps(Problem("x", 1, (), "?", "1", (Step(7, operation, 7),)), [claim]) == [False]


def test_division_is_right_only_without_remainder():
    problem = Problem("average", 1, (), "?", "4", (Step(3, "+", 5), Step(8, "/", 2)))
    assert check_steps(problem, ["3 + 5 = 9", "9 / 2 = 4"]) == [False, False]


@pytest.mark.parametrize("cell", sorted(c for c in MIX if not c.startswith(("capital", "unknowable"))))
def test_own_solutions_are_right_and_reasons_name_their_step(cell):
    rng = random.Random(cell)
    for _ in range(20):
        problem = draw(cell, rng)
        assert all(check_steps(problem, [str(step) for step in problem.steps]))
        for step in problem.steps:
            reasons = true_reasons(step)
            assert len(reasons) >= 2
            assert all(names_step(reason, step) and '"' not in reason for reason in reasons)


def test_reasons_say_what_is_true():
    assert any("8 make more" in r for r in true_reasons(Step(57, "+", 38)))
    assert any("2 stay below 10" in r for r in true_reasons(Step(57, "+", 32)))
    assert any("fewer than 9" in r for r in true_reasons(Step(54, "-", 39)))
    assert any("enough for 1" in r for r in true_reasons(Step(54, "-", 31)))
    assert any("less" in r for r in true_reasons(Step(3, "-", 5)))


@pytest.mark.parametrize(
    ("reason", "step", "holds"),
    [
        ("ones 7 and 8 make more than 9 in 57 + 38", Step(57, "+", 38), True),
        ("ones 7 and 8 stay below 10 in 57 + 38", Step(57, "+", 38), False),
        ("ones 7 and 8 make more than 9 in 57 + 38", Step(57, "+", 48), False),
        ("long multiplication 12 * 34", Step(12, "*", 34), True),
        ("times table of 12 and 34", Step(12, "*", 34), False),
        ("", Step(2, "+", 3), False),
    ],
)
def test_a_reason_is_checked_against_the_calculation_it_stands_at(reason, step, holds):
    assert is_true(reason, step) is holds


FRANCE = Problem("capital", 1, ("France",), "?", "Paris")


@pytest.mark.parametrize(
    ("claims", "verdicts"),
    [
        (["the answer is Paris"], [True]),
        (["the answer is Rome", "the answer is Paris"], [False, False]),
        (["Paris"], [False]),
    ],
)
def test_without_steps_one_claim_may_name_the_answer(claims, verdicts):
    assert check_steps(FRANCE, claims) == verdicts


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("3 + 4 = 7", (Step(3, "+", 4), 7)),
        (" 13 mod 5 = 3 ", (Step(13, "mod", 5), 3)),
        ("3 + 4 = -7", (Step(3, "+", 4), -7)),
        ("3 + 4 + 5 = 12", None),
        ("three", None),
    ],
)
def test_reading_a_calculation(text, read):
    assert parse_step(text) == read


def test_a_reason_about_other_numbers_does_not_name_the_step():
    assert not names_step("one carry in 15 + 17", Step(3, "+", 4))
