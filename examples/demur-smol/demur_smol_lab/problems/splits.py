"""Which problems are for training, which for choosing, which for measuring once.

A problem's split is a hash of its numbers and operations, and of those of each of its steps, so that no other wording,
order or story of the same calculation, nor a step of a longer one, can leak from one split into another. Whole families
are held out besides, and `frames` splits the wording.
"""

import hashlib
from typing import Literal

from demur_smol_lab.problems import adjacent
from demur_smol_lab.problems.arithmetic import facts_of
from demur_smol_lab.problems.frames.grammar import Side
from demur_smol_lab.problems.problem import Problem

Split = Literal["train", "validation", "test", "choosing", "transfer"]

Measured = Literal["validation", "choosing", "familiar", "test", "adjacent", "transfer"]
"""The tables; `curriculum` says what each asks."""

HELD_OUT = frozenset({"half", "average", "perimeter", "element", "word_divide"}) | {
    name for name, family in adjacent.FAMILIES.items() if family.kind == adjacent.HELD_OUT
}
"""Families that no training problem comes from: they measure whether doubt transfers."""
CHOOSING = frozenset(name for name, family in adjacent.FAMILIES.items() if family.kind == adjacent.VALIDATED)
"""Families that no training problem comes from either, asked to choose between ways of training."""

_VALIDATION, _TEST = 12, 20  # per cent


def split_of(problem: Problem) -> Split:
    """`transfer` and `choosing` for the families held out whole. Else by hash: 68 % of the calculations are for
    training, 12 % for validation, 20 % for the test; a problem of several steps is where its most held-out step is."""
    if problem.family in HELD_OUT:
        return "transfer"
    if problem.family in CHOOSING:
        return "choosing"
    found = {_side(facts) for facts in every_fact(problem)}
    return "test" if "test" in found else "validation" if "validation" in found else "train"


def every_fact(problem: Problem) -> tuple[tuple[str, ...], ...]:
    """What must not be known beforehand: the problem's own numbers, and those of each step of a longer solution."""
    steps = problem.steps if len(problem.steps) > 1 else ()
    return (problem.facts, *(facts_of((step,)) for step in steps))


def may_be_shown(problem: Problem) -> bool:
    """Whether a training problem may be shown worked out. The other half is for asking: a model knows what it was shown
    by heart, and what it learnt there about its chances would not hold elsewhere."""
    return _hash(problem.facts)[4] % 2 == 0


def _side(facts: tuple[str, ...]) -> Side:
    bucket = int.from_bytes(_hash(facts)[:4]) % 100
    if bucket < _TEST:
        return "test"
    return "validation" if bucket < _TEST + _VALIDATION else "train"


def _hash(facts: tuple[str, ...]) -> bytes:
    return hashlib.sha256("|".join(facts).encode()).digest()
