"""Counts per confidence level: everything the metrics need to know about the rows."""

from dataclasses import dataclass

import numpy as np

from demur.core.metrics.rows import Floats, Rows


@dataclass(frozen=True, slots=True)
class Tally:
    """How many right and wrong rows stand at each confidence level.

    `level` is (L,), ascending, in [0, 1]. `right` and `wrong` are (..., L): leading axes are resamples of the same
    rows. `unread_right` and `unread_wrong`, (...), count rows without a confidence: only accuracy looks at them.
    """

    level: Floats
    right: Floats
    wrong: Floats
    unread_right: Floats
    unread_wrong: Floats

    @property
    def count(self) -> Floats:
        """Rows at each level, (..., L)."""
        return self.right + self.wrong

    @property
    def read(self) -> Floats:
        """Rows with a confidence, (...)."""
        return self.count.sum(axis=-1)


def tally(rows: Rows) -> Tally:
    """Count the rows exactly, one level for every distinct confidence. A million rows take some 30 ms."""
    read = ~np.isnan(rows.confidence)
    unread = rows.correct[~read]
    level, right, wrong = _levels(rows.confidence[read], rows.correct[read])
    return Tally(level, right, wrong, np.float64(unread.sum()), np.float64((~unread).sum()))  # pyright: ignore[reportArgumentType]


def _levels(confidence: Floats, correct: np.ndarray) -> tuple[Floats, Floats, Floats]:
    """Distinct confidences, and the right and wrong rows at each.

    The bits of a non-negative double order as the number does, so one sort of (bits, verdict) packed into an integer
    does the work of a sort of pairs in a quarter of the time.
    """
    if not len(confidence):
        return np.zeros(1), np.zeros(1), np.zeros(1)  # one empty level: no shape of zero to guard against later
    key = np.sort((confidence.view(np.int64) << 1) | correct)
    bits, verdict = key >> 1, key & 1
    start = np.flatnonzero(np.r_[True, bits[1:] != bits[:-1]])
    right = np.add.reduceat(verdict, start).astype(np.float64)
    size = np.diff(np.r_[start, len(key)])
    return bits[start].view(np.float64), right, size - right
