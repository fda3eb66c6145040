"""Accuracy as a function of k, from n samples a problem: Mean@k, Best@k, each rule (arXiv:2512.19920, section 4.4).

Each figure is the expected value over a random subset of k of the n samples: in closed form for Mean and Best, over all
subsets where these are few, over a stated number of random ones otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, fsum
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from demur.core.selection import RULES, SCALE, GroupTally, SelectionRule

Subsets = NDArray[np.bool_]
"""[subsets, samples]: which samples are in each."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The samples of one problem, in parallel: `answer_key` or None, stated confidence or None, right or not."""

    keys: Sequence[str | None]
    confidences: Sequence[float | None]
    valid: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Point:
    """Every figure at one k, one value a problem: [problems]. `exact` is False where subsets were drawn at random."""

    k: int
    figures: Mapping[str, NDArray[np.float64]]
    exact: bool
    subsets: int


@dataclass(frozen=True, slots=True)
class _Tallies:
    """`selection.GroupTally` of every group in every subset: arrays [subsets, groups]."""

    members: NDArray[np.int64]
    stated: NDArray[np.int64]
    total: NDArray[np.int64]
    top: NDArray[np.int64]


def scaling_curves(problems: Sequence[Problem], ks: Sequence[int], *, subsets: int = 512, seed: int = 0) -> list[Point]:
    """One point for each k. `subsets` is how many are enough: fewer are enumerated, more are sampled with `seed`.

    Raises ValueError for a k below 1, or above the number of samples of a problem.
    """
    return [_point(problems, k, subsets, np.random.default_rng([seed, k])) for k in ks]


def mean_at(problem: Problem) -> float:
    """Mean@k: the expected accuracy of a random sample, which is the share of right samples, whatever k."""
    return fsum(problem.valid) / len(problem.valid)


def best_at(problem: Problem, k: int) -> float:
    """Best@k, also known as pass@k: the chance that a random subset of k samples holds a right one.

    1 - C(wrong, k) / C(n, k), the unbiased estimator of arXiv:2107.03374, section 2.1. k is in [1, n].
    """
    n, wrong = len(problem.valid), len(problem.valid) - sum(problem.valid)
    return 1 - comb(wrong, k) / comb(n, k)


def chosen_right(problem: Problem, chosen: Subsets, rule: SelectionRule) -> NDArray[np.float64]:
    """[subsets]: how right the answer is that the rule chooses in each; 0 where none is readable.

    An answer is as right as the share of its samples that were graded right: all or none, unless grading disagrees
    with grouping.
    """
    keys = sorted({key for key in problem.keys if key is not None})
    if not keys:
        return np.zeros(len(chosen))
    member = np.array([[key == group for group in keys] for key in problem.keys])
    tallies = _tallies(problem, chosen, member)
    best = tallies.members > 0
    for column in RULES[rule].rank(cast(GroupTally, tallies)):
        values = cast(NDArray[np.int64], cast(Any, column))
        best &= values == np.where(best, values, -2).max(axis=1, keepdims=True)
    right = np.array(problem.valid, float) @ member / member.sum(axis=0)
    return np.where(best.any(axis=1), right[best.argmax(axis=1)], 0.0)


def _point(problems: Sequence[Problem], k: int, subsets: int, rng: np.random.Generator) -> Point:
    figures: dict[str, list[float]] = {name: [] for name in ("mean", "best", *RULES)}
    exact, most = True, 0
    for i, problem in enumerate(problems):
        n = len(problem.valid)
        if not 1 <= k <= n:
            raise ValueError(f"problem {i} has {n} samples: k = {k} is not possible")
        chosen = _subsets(n, k, subsets, rng)
        exact &= len(chosen) == comb(n, k)
        most = max(most, len(chosen))
        figures["mean"].append(mean_at(problem))
        figures["best"].append(best_at(problem, k))
        for rule in RULES:
            figures[rule].append(float(chosen_right(problem, chosen, rule).mean()))
    return Point(k, {name: np.array(values) for name, values in figures.items()}, exact, most)


def _subsets(n: int, k: int, enough: int, rng: np.random.Generator) -> Subsets:
    """All subsets of k of n samples, or `enough` random ones if there are more."""
    if comb(n, k) <= enough:
        chosen = np.zeros((comb(n, k), n), bool)
        for row, subset in enumerate(combinations(range(n), k)):
            chosen[row, list(subset)] = True
        return chosen
    return rng.random((enough, n)).argsort(axis=1) < k


def _tallies(problem: Problem, chosen: Subsets, member: NDArray[np.bool_]) -> _Tallies:
    units = np.array([-1 if p is None else round(p * SCALE) for p in problem.confidences])
    counted, stated = chosen.astype(np.int64), units >= 0
    top = np.stack(
        [np.where(chosen & member[:, g], units, -1).max(axis=1, initial=-1) for g in range(member.shape[1])], axis=1
    )
    return _Tallies(
        members=counted @ member,
        stated=counted @ (member & stated[:, None]),
        total=counted @ (member * np.where(stated, units, 0)[:, None]),
        top=top,
    )
