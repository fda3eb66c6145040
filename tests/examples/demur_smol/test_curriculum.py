"""What is shown and what is asked stay apart."""

from collections import Counter

import pytest

from demur_smol_lab import curriculum
from demur_smol_lab.plan import Plan
from demur_smol_lab.problems.hard_negatives import FAMILIES as HARD_NEGATIVES
from demur_smol_lab.problems.splits import HELD_OUT, split_of
from demur_smol_lab.problems.unfamiliar import FAMILIES as UNFAMILIAR

PLAN = Plan(warm=(400, 100), school=(20, 40), worked=(60, 40), unfamiliar=100, near=60, solved=30)
ROUNDS = range(curriculum.LAST + 1)


def test_what_is_shown_is_never_asked():
    shown = [*curriculum.warm_start(PLAN), *(pair for number in ROUNDS for pair in curriculum.worked(PLAN, number))]
    asked = [p for contract in curriculum.CONTRACTS for p in curriculum.asked(contract, 300, 0)]
    more = [p for number in ROUNDS for chosen in curriculum.others(PLAN, number, number).values() for p in chosen]
    facts = {problem.facts for problem, _ in shown}
    assert not facts & {problem.facts for problem in (*asked, *(p for p in more if p.family == "gsm8k"))}
    assert not {problem.family for problem, _ in shown} & (UNFAMILIAR.keys() | HARD_NEGATIVES.keys())
    assert {split_of(problem) for problem in (*asked, *more)} == {"train"}


def test_school_problems_come_once_under_a_contract():
    rounds = [curriculum.others(PLAN, number, number) for number in ROUNDS]
    school = [[p for p in chosen["response"] if p.family == "gsm8k"] for chosen in rounds]
    assert [len(chosen) for chosen in school] == [40] * 5
    assert len({p.question for chosen in school for p in chosen}) == 200
    solved = [chosen["claims"] for chosen in rounds]
    assert [len(chosen) for chosen in solved] == [0, 0, 0, 0, 30]
    assert all(p.family == "gsm8k" and p.steps for p in solved[-1])
    shown = [
        (problem.question, contract) for problem, contract in curriculum.warm_start(PLAN) if problem.family == "gsm8k"
    ]
    assert Counter(contract for _, contract in shown) == {"response": 15, "claims": 5}
    assert not {question for question, _ in shown} & {p.question for chosen in (*school, *solved) for p in chosen}


def test_the_last_round_comes_back_to_school_problems_and_asks_near_misses():
    plan = Plan(school=(80, 200), unfamiliar=5, near=60)
    *earlier, fourth, last = (curriculum.others(plan, number, 0)["response"] for number in ROUNDS)
    first, second, *_, left, again = ([p for p in chosen if p.family == "gsm8k"] for chosen in (*earlier, fourth, last))
    assert (len(left), again) == (40, [*first[160:], *second[:160]])
    near = [p for p in last if p.family in HARD_NEGATIVES]
    assert len({p.question for p in near}) == 60
    assert not {p.family for p in fourth} & HARD_NEGATIVES.keys()


def test_the_other_problems_of_a_round_are_the_same_whenever_they_are_looked_up():
    assert curriculum.others(PLAN, 1, 5) == curriculum.others(PLAN, 1, 5)
    assert curriculum.others(PLAN, 1, 5) != curriculum.others(PLAN, 2, 6)


@pytest.mark.parametrize("split", ["validation", "test"])
def test_claims_are_measured_on_calculations_and_on_what_nobody_knows(split):
    assert all(p.steps or p.family == "unknowable" for p in curriculum.measured("claims", split, 200, 0))
    assert any(p.family == "capital" for p in curriculum.measured("response", split, 200, 0))


@pytest.mark.parametrize("contract", curriculum.CONTRACTS)
def test_held_out_families_are_measured_whole(contract):
    assert {p.family for p in curriculum.measured(contract, "transfer", 200, 0)} == HELD_OUT
