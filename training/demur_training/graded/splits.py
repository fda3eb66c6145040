"""Which problems are for training, which for choosing, which for measuring once.

A problem's split is a hash of its numbers and operations, so that no other wording, order or story of the same
calculation can leak from one split into another. Whole families are held out besides.
"""

import hashlib
from typing import Literal

from demur_training.graded.problem import Problem

Split = Literal["train", "validation", "test", "transfer"]

HELD_OUT = frozenset({"half", "average", "perimeter", "element", "word_divide"})
"""Families that no training problem comes from: they measure whether doubt transfers."""

_VALIDATION, _TEST = 12, 20  # per cent


def split_of(problem: Problem) -> Split:
    """`transfer` for the held-out families, else by hash: 68 % train, 12 % validation, 20 % test."""
    if problem.family in HELD_OUT:
        return "transfer"
    bucket = int.from_bytes(hashlib.sha256("|".join(problem.facts).encode()).digest()[:4]) % 100
    if bucket < _TEST:
        return "test"
    return "validation" if bucket < _TEST + _VALIDATION else "train"
