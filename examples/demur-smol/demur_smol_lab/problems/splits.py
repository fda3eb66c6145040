"""Which problems are for training, which for choosing, which for measuring once.

A problem's split is a hash of its numbers and operations, so that no other wording, order or story of the same
calculation can leak from one split into another. Whole families are held out besides.
"""

import hashlib
from typing import Literal

from demur_smol_lab.problems.problem import Problem

Split = Literal["train", "validation", "test", "transfer"]

HELD_OUT = frozenset({"half", "average", "perimeter", "element", "word_divide"})
"""Families that no training problem comes from: they measure whether doubt transfers."""

_VALIDATION, _TEST = 12, 20  # per cent


def split_of(problem: Problem) -> Split:
    """`transfer` for the held-out families, else by hash: 68 % train, 12 % validation, 20 % test."""
    if problem.family in HELD_OUT:
        return "transfer"
    bucket = int.from_bytes(_hash(problem)[:4]) % 100
    if bucket < _TEST:
        return "test"
    return "validation" if bucket < _TEST + _VALIDATION else "train"


def may_be_shown(problem: Problem) -> bool:
    """Whether a training problem may be shown worked out. The other half is for asking: a model knows what it was shown
    by heart, and what it learnt there about its chances would not hold elsewhere."""
    return _hash(problem)[4] % 2 == 0


def _hash(problem: Problem) -> bytes:
    return hashlib.sha256("|".join(problem.facts).encode()).digest()
