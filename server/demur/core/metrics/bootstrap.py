"""Resampling problems with replacement: what the interval beside each figure is made from.

Samples and claims of one problem belong together, so problems are drawn, never rows. The work is done on counts: each
problem (above `MOST_BLOCKS` of them: each of that many equal random groups of problems) is one line of a matrix
of counts per confidence level, and a thousand resamples are one product with a thousand lines of multinomial weights.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demur.core.metrics.rows import Floats, Rows
from demur.core.metrics.tally import Tally

REPLICATES = 1000
COVERAGE = 0.95

MOST_BLOCKS = 2000
"""Resampling random groups instead of single problems keeps the variance right to 1/sqrt(2 * 2000), 1.6 %: as close
as a thousand resamples can tell."""

MOST_LEVELS = 2000
"""With more distinct confidences than this, the resamples see them in cells of 1/2000, each at its mean."""

MOST_UNDEFINED = 0.05
"""Share of resamples in which a figure may be undefined before its interval is."""


@dataclass(frozen=True, slots=True)
class Resamples:
    """The rows in the resolution of the resamples, and the resamples: tallies of (L,) and (replicates, L)."""

    observed: Tally
    replicates: Tally


def weights(blocks: int, replicates: int, seed: int) -> Floats:
    """How often each block is drawn in each resample, (replicates, blocks). The same seed gives the same draw."""
    if not blocks:
        return np.zeros((replicates, 0))
    draws = np.random.default_rng(seed).multinomial(blocks, np.full(blocks, 1 / blocks), size=replicates)
    return draws.astype(np.float64)


def block_of(problems: int, seed: int) -> NDArray[np.int64]:
    """The block of each problem, (problems,): itself, or one of MOST_BLOCKS random groups of equal size."""
    if problems <= MOST_BLOCKS:
        return np.arange(problems)
    return np.random.default_rng(seed).permutation(problems) % MOST_BLOCKS


def resample(rows: Rows, *, replicates: int = REPLICATES, seed: int = 0) -> Resamples:
    """The bootstrap over problems: draw as many problems as there are, with replacement, `replicates` times.

    Two runs with one coding of the problems are drawn alike under the same seed, which makes differences paired.
    """
    blocks = min(rows.problems, MOST_BLOCKS)
    block = block_of(rows.problems, seed)[rows.problem]
    drawn = weights(blocks, replicates, seed)
    read = ~np.isnan(rows.confidence)
    level, cell = _cells(rows.confidence[read])

    def counts(correct: NDArray[np.bool_]) -> Floats:
        at = block[read][correct] * len(level) + cell[correct]
        return np.bincount(at, minlength=blocks * len(level)).astype(np.float64).reshape(blocks, len(level))

    def unread(correct: NDArray[np.bool_]) -> Floats:
        return np.bincount(block[~read][correct], minlength=blocks).astype(np.float64)

    verdict, unread_verdict = rows.correct[read], rows.correct[~read]
    parts = counts(verdict), counts(~verdict), unread(unread_verdict), unread(~unread_verdict)
    right, wrong, unread_right, unread_wrong = (part.sum(axis=0) for part in parts)
    return Resamples(
        Tally(level, right, wrong, unread_right, unread_wrong),
        Tally(level, *(drawn @ part for part in parts)),
    )


def _cells(confidence: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Levels, and the level that stands for each row: the distinct confidences if they are few, else fine cells."""
    level = np.unique(confidence) if len(confidence) else np.zeros(1)
    if len(level) <= MOST_LEVELS:
        return level, np.searchsorted(level, confidence)
    cell = (confidence * MOST_LEVELS).astype(np.int64)
    size = np.bincount(cell)
    used = np.flatnonzero(size)
    mean = np.bincount(cell, confidence)[used] / size[used]
    return mean, (np.cumsum(size > 0) - 1)[cell]


def interval(exact: Floats, observed: Floats, replicates: Floats, *, reflect: bool = False) -> tuple[Floats, Floats]:
    """The ends of a 95 % bootstrap interval: the central 95 % of the resampled figures (the "percentile" bootstrap),
    moved by what their resolution lost (exact - observed).

    `replicates` is (replicates, ...), the rest (...). NaN where the figure is undefined in too many resamples.
    `reflect` turns the interval over (the "basic" bootstrap): right for figures that resampling noise pushes upwards,
    as it does any mean of sizes. Either way the estimate itself is never left outside.
    """
    undefined = np.isnan(replicates).mean(axis=0) > MOST_UNDEFINED
    filled = np.where(undefined, 0.0, replicates)
    tail = (1 - COVERAGE) / 2
    low = np.nanquantile(filled, tail, axis=0, method="lower")
    high = np.nanquantile(filled, 1 - tail, axis=0, method="higher")
    low, high = (2 * observed - high, 2 * observed - low) if reflect else (low, high)
    with np.errstate(invalid="ignore"):
        low, high = (np.where(undefined, np.nan, end + exact - observed) for end in (low, high))
    return np.minimum(low, exact), np.maximum(high, exact)
