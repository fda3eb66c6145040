"""What is shown and what is asked stay apart."""

from collections import Counter

import pytest

from demur_smol_lab import curriculum
from demur_smol_lab.pipeline import ROUNDS
from demur_smol_lab.plan import Plan
from demur_smol_lab.problems.adjacent import FAMILIES as ADJACENT
from demur_smol_lab.problems.adjacent import TAUGHT
from demur_smol_lab.problems.mix import DOUBTED
from demur_smol_lab.problems.splits import CHOOSING, HELD_OUT, split_of

PLAN = Plan(warm=(400, 100), school=(20, 40), worked=(60, 40))
NUMBERS = range(len(ROUNDS))


def families(cells):
    return {cell.partition("/")[0] for cell in cells}


def test_what_is_shown_is_never_asked():
    shown = [*curriculum.warm_start(PLAN), *(pair for number in NUMBERS for pair in curriculum.worked(PLAN, number))]
    asked = [*curriculum.posed(300, 2, 0), *curriculum.graded(100, 1)]
    school = [p for number in NUMBERS for p in curriculum.school(PLAN, number)["response"]]
    facts = {problem.facts for problem, _ in shown}
    assert not facts & {problem.facts for problem in (*asked, *school)}
    assert not {problem.family for problem, _ in shown} & families(DOUBTED)
    assert {problem.family for problem in asked} & families(DOUBTED)
    assert {split_of(problem) for problem in (*asked, *school)} == {"train"}


def test_a_posed_problem_comes_in_so_many_wordings_one_after_the_other():
    chosen = curriculum.posed(50, 3, 0)
    groups = [chosen[i : i + 3] for i in range(0, 150, 3)]
    assert len(groups) == 50
    assert all(len({p.key for p in group}) == 1 for group in groups)
    assert sum(len({p.question for p in group}) == 3 for group in groups) > 40
    assert curriculum.posed(50, 3, 0) == chosen != curriculum.posed(50, 3, 1)


def test_school_problems_are_other_ones_each_time_while_there_are_some():
    rounds = [curriculum.school(PLAN, number) for number in NUMBERS]
    answered = [p.question for chosen in rounds for p in chosen["response"]]
    assert len(answered) == len(set(answered)) == 40 * len(ROUNDS)
    assert all(len(chosen["claims"]) == 10 for chosen in rounds)
    many = curriculum.school(Plan(school=(0, 300)), len(ROUNDS))["response"]
    assert len(many) == 300
    shown = [(p.question, contract) for p, contract in curriculum.warm_start(PLAN) if p.family == "gsm8k"]
    assert Counter(contract for _, contract in shown) == {"response": 15, "claims": 5}
    assert not {question for question, _ in shown} & set(answered)


@pytest.mark.parametrize("table", ["validation", "test", "familiar"])
def test_claims_are_measured_on_calculations_and_on_what_nobody_knows(table):
    assert all(p.steps or p.family == "unknowable" for p in curriculum.measured(table, "claims", 200, 0))
    assert any(p.family == "capital" for p in curriculum.measured(table, "response", 200, 0))


@pytest.mark.parametrize("contract", curriculum.CONTRACTS)
def test_each_table_asks_what_it_says(contract):
    asked = {table: curriculum.measured(table, contract, 300, 0) for table in curriculum.MEASURED}
    assert {p.family for p in asked["transfer"]} <= HELD_OUT
    assert {p.family for p in asked["choosing"]} <= CHOOSING
    assert {ADJACENT[p.family].kind for p in asked["adjacent"]} == {TAUGHT}
    assert {split_of(p) for p in (*asked["familiar"], *asked["test"], *asked["adjacent"])} == {"test"}
    assert not {p.question for p in asked["familiar"]} & {p.question for p in asked["test"]}
