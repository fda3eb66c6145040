"""Splits and folds by problem: what is fitted on a problem never judges another answer to it."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def fold_of(problem: ArrayLike, folds: int, seed: int = 0) -> Ints:
    """The fold of each row, (n,), in [0, folds): rows of one problem share it, folds hold nearly equal many problems.

    Raises ValueError for fewer problems than folds, or fewer than two folds.
    """
    names, code = np.unique(np.asarray(problem), return_inverse=True)
    if not 2 <= folds <= len(names):
        raise ValueError(f"{len(names)} problems cannot make {folds} folds")
    return (np.random.default_rng(seed).permutation(len(names)) % folds)[code]


def split(problem: ArrayLike, share: float, seed: int = 0) -> Bools:
    """A random `share` of the problems, as a mask over rows (n,): all rows of a problem are on one side.

    Both sides hold at least one problem. Raises ValueError for fewer than two problems or a share outside (0, 1).
    """
    names, code = np.unique(np.asarray(problem), return_inverse=True)
    if len(names) < 2 or not 0 < share < 1:
        raise ValueError(f"cannot take {share:g} of {len(names)} problems")
    taken = min(max(round(share * len(names)), 1), len(names) - 1)
    return (np.random.default_rng(seed).permutation(len(names)) < taken)[code]


def check_folds(problem: ArrayLike, fold: ArrayLike) -> None:
    """Raise ValueError, naming one, where the rows of a problem lie in several folds: grades would leak."""
    pairs = np.unique(np.column_stack([np.unique(np.asarray(problem), return_inverse=True)[1], fold]), axis=0)
    twice = np.flatnonzero(np.bincount(pairs[:, 0]) > 1)
    if len(twice):
        raise ValueError(f"problem {np.unique(np.asarray(problem))[twice[0]]} lies in more than one fold")


def held_out(problem: ArrayLike, fold: ArrayLike) -> Iterator[tuple[Bools, Bools]]:
    """For each fold the rows to fit on and the rows to judge, masks (n,). Raises ValueError as `check_folds` does."""
    check_folds(problem, fold)
    fold = np.asarray(fold)
    for one in np.unique(fold):
        yield fold != one, fold == one


def one_a_problem(problem: ArrayLike, seed: int = 0) -> Ints:
    """One row of each problem at random, as ascending positions (problems,).

    Rows of one problem are not independent, and certificates need rows that are.
    """
    code = np.unique(np.asarray(problem), return_inverse=True)[1]
    shuffled = np.random.default_rng(seed).permutation(len(code))
    _, first = np.unique(code[shuffled], return_index=True)
    return np.sort(shuffled[first])
