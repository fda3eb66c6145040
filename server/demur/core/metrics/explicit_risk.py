"""Runs of an explicit-risk model: t is in the prompt, one run for each t of a grid, and there is no confidence."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demur.core.metrics.bootstrap import REPLICATES, block_of, weights
from demur.core.metrics.outcomes import Outcomes, trapezoid
from demur.core.metrics.rows import Floats, RowsError, number


@dataclass(frozen=True, slots=True)
class RiskRow:
    """One output at one threshold. `sample` tells outputs for the same problem and t apart."""

    problem: Hashable
    sample: int
    risk_threshold: float
    abstained: bool
    correct: bool


def risk_outcomes(rows: Sequence[RiskRow], *, replicates: int = REPLICATES, seed: int = 0) -> tuple[Outcomes, Outcomes]:
    """Outcomes over the grid of thresholds that was run, and the same for each resample of the problems.

    An abstention counts as `could` when the same sample of the same problem was right at t = 0. Raises RowsError
    without rows, or for a threshold outside [0, 1].
    """
    if not rows:
        raise RowsError("no rows")
    grid = np.unique([row.risk_threshold for row in rows])
    if grid[0] < 0 or grid[-1] > 1:
        raise RowsError(f"risk_threshold must be in [0, 1]; the rows hold {grid[0]:g} to {grid[-1]:g}")
    codes = number(row.problem for row in rows)
    block = block_of(len(codes), seed)
    blocks = int(block.max()) + 1
    at = np.array([block[codes[row.problem]] for row in rows]) * len(grid)
    at = at + np.searchsorted(grid, [row.risk_threshold for row in rows])
    drawn = weights(blocks, replicates, seed)
    counts = [_count(at[kind], blocks, len(grid)) for kind in _kinds(rows)]
    return (
        Outcomes(grid, trapezoid(grid), *(part.sum(axis=0) for part in counts)),
        Outcomes(grid, trapezoid(grid), *(drawn @ part for part in counts)),
    )


def _kinds(rows: Sequence[RiskRow]) -> list[NDArray[np.bool_]]:
    """Masks over the rows: right, wrong, could, rest."""
    able = {(row.problem, row.sample) for row in rows if row.risk_threshold == 0 and row.correct and not row.abstained}
    abstained = np.array([row.abstained for row in rows])
    right = np.array([row.correct for row in rows])
    could = np.array([(row.problem, row.sample) in able for row in rows])
    return [~abstained & right, ~abstained & ~right, abstained & could, abstained & ~could]


def _count(at: NDArray[np.int64], blocks: int, thresholds: int) -> Floats:
    return np.bincount(at, minlength=blocks * thresholds).astype(np.float64).reshape(blocks, thresholds)
