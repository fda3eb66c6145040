"""No rewording of one problem may stand on both sides of a split."""

import random
from collections import Counter
from typing import get_args

import pytest

from demur_smol_lab.problems.arithmetic import FAMILIES
from demur_smol_lab.problems.mix import MIX, SHOWN, TAUGHT, WIDE, distinct, draw, problems
from demur_smol_lab.problems.problem import Problem
from demur_smol_lab.problems.splits import CHOOSING, HELD_OUT, Split, every_fact, may_be_shown, split_of
from demur_training.errors import DataError


def test_rewordings_of_one_calculation_share_its_split():
    seen: dict[tuple[str, ...], set[str]] = {}
    wordings: dict[tuple[str, ...], set[str]] = {}
    rng = random.Random(0)
    for cell in ["add/1", "word_add/1", "subtract/1", "word_subtract/1", "multiply/11", "word_multiply/1"] * 300:
        problem = draw(cell, rng)
        seen.setdefault(problem.facts, set()).add(split_of(problem))
        wordings.setdefault(problem.facts, set()).add(problem.question)
    assert all(len(splits) == 1 for splits in seen.values())
    assert max(len(questions) for questions in wordings.values()) > 3


def test_an_unfamiliar_wording_shares_the_split_of_its_calculation():
    pairs = [("area/1", "multiply/21"), ("left_over/1", "remainder/2"), ("third/1", "divide/2"), ("older/1", "add/1")]
    rng = random.Random(0)
    for unfamiliar, shown in pairs:
        alike = {draw(unfamiliar, rng).facts[0], draw(shown, rng).facts[0]}
        assert len(alike) == 1
        problem = draw(unfamiliar, rng)
        assert list(problem.facts[1:]) == sorted(problem.facts[1:], key=int)


def test_order_of_the_operands_changes_nothing():
    rng = random.Random(1)
    for _ in range(200):
        problem = FAMILIES["add"](rng, 2)
        swapped = Problem("word_add", 2, (problem.facts[0], *sorted(problem.facts[1:], key=int)), "?", problem.answer)
        assert split_of(problem) == split_of(swapped)


def test_calculations_of_train_and_test_are_disjoint():
    made = {split: {(p.facts, p.steps) for p in distinct(split, 400, 0)} for split in ("train", "validation", "test")}
    assert not made["train"] & made["test"]
    assert not made["train"] & made["validation"]
    assert not made["validation"] & made["test"]


def test_half_of_the_training_problems_are_may_be_shown_whatever_their_wording():
    drawn = distinct("train", 600, 0)
    assert sum(map(may_be_shown, drawn)) / 600 == pytest.approx(0.5, abs=0.08)
    by_facts: dict[tuple[str, ...], set[bool]] = {}
    for problem in drawn:
        by_facts.setdefault(problem.facts, set()).add(may_be_shown(problem))
    assert all(len(sides) == 1 for sides in by_facts.values())
    chosen = distinct("train", 50, 1, wanted=lambda problem: not may_be_shown(problem))
    assert len(chosen) == 50
    assert not any(map(may_be_shown, chosen))


def test_no_step_of_a_training_problem_is_a_calculation_of_the_test():
    tested, shown = distinct("test", 3000, 0, {**MIX, **TAUGHT}), distinct("train", 6000, 0, WIDE)
    single = {p.facts for p in tested if len(p.steps) == 1}
    known = {facts for problem in shown for facts in every_fact(problem)}
    assert any(len(problem.steps) > 1 for problem in shown)
    assert len(single & known) == 0
    assert [problem for problem in tested if known.issuperset(every_fact(problem))] == []


def test_a_longer_problem_is_where_its_most_held_out_step_is():
    order = ("train", "validation", "test")
    rng = random.Random(5)
    for problem in (FAMILIES["three_step"](rng, 1) for _ in range(300)):
        single = [split_of(Problem("x", 1, facts, "", "1")) for facts in every_fact(problem)]
        assert len(single) == 4
        assert split_of(problem) == max(single, key=order.index)


def test_shares_of_the_splits():
    rng = random.Random(2)
    count = Counter(split_of(draw("multiply/33", rng)) for _ in range(4000))
    assert count["train"] / 4000 == pytest.approx(0.68, abs=0.03)
    assert count["test"] / 4000 == pytest.approx(0.20, abs=0.03)


@pytest.mark.parametrize("family", sorted(HELD_OUT))
def test_held_out_families_are_for_transfer_only(family):
    rng = random.Random(3)
    assert {split_of(draw(f"{family}/1", rng)) for _ in range(20)} == {"transfer"}
    for other in get_args(Split):
        if other != "transfer":
            with pytest.raises(DataError, match="held out"):
                next(problems(other, 0, {f"{family}/1": 1}))


def test_transfer_is_of_all_families_that_are_held_out_and_no_other():
    chosen = distinct("transfer", 1500, 0)
    assert {problem.family for problem in chosen} == HELD_OUT
    assert {problem.family for problem in distinct("choosing", 800, 0)} == CHOOSING
    assert not (HELD_OUT | CHOOSING) & {cell.partition("/")[0] for cell in (*WIDE, *SHOWN)}
    assert len(HELD_OUT) >= 25
