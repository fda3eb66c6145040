"""What happens at each risk threshold t: right answers, wrong answers, abstentions (arXiv:2512.19920, section 3.1)."""

from dataclasses import dataclass

import numpy as np

from demur.core.metrics.rows import Floats
from demur.core.metrics.scores import ratio
from demur.core.metrics.tally import Tally


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Row counts at each threshold `t` (T,); every count is (..., T), leading axes being resamples.

    `right` and `wrong` were answered. `could` were abstained from and would have been right at t = 0; `rest` would
    not. `weight` (T,) sums to one: with it a mean over t is an integral.
    """

    t: Floats
    weight: Floats
    right: Floats
    wrong: Floats
    could: Floats
    rest: Floats

    @property
    def n(self) -> Floats:
        """Rows at each t."""
        return self.right + self.wrong + self.could + self.rest

    @property
    def accuracy(self) -> Floats:
        """Acc(t): answered and right, of all rows."""
        return ratio(self.right, self.n)

    @property
    def hallucination(self) -> Floats:
        """Hal(t): answered and wrong, of all rows."""
        return ratio(self.wrong, self.n)

    @property
    def abstention(self) -> Floats:
        """Abstained from, of all rows."""
        return ratio(self.could + self.rest, self.n)

    @property
    def true_positive(self) -> Floats:
        """TP(t): right among the answered; at least t is wanted. NaN where nothing was answered."""
        return ratio(self.right, self.right + self.wrong)

    @property
    def false_negative(self) -> Floats:
        """FN(t): would have been right among the abstained; at most t is wanted. NaN where nothing was."""
        return ratio(self.could, self.could + self.rest)


def outcomes(rows: Tally, t: Floats, weight: Floats | None = None) -> Outcomes:
    """Apply each threshold to the stated confidences: abstain if and only if p < t. Unread rows are left out."""
    first = np.searchsorted(rows.level, t, side="left")
    below_right, below_wrong = (_up_to(counts, first) for counts in (rows.right, rows.wrong))
    right, wrong = rows.right.sum(axis=-1)[..., None], rows.wrong.sum(axis=-1)[..., None]
    weight = np.full(len(t), 1 / len(t)) if weight is None else weight
    return Outcomes(t, weight, right - below_right, wrong - below_wrong, below_right, below_wrong)


def midpoints(cells: int = 200) -> Floats:
    """Thresholds for integrals over [0, 1]. Exact for confidences of two decimals, within 1/400 for any other."""
    return (np.arange(cells) + 0.5) / cells


def trapezoid(t: Floats) -> Floats:
    """Weights of the trapezoidal rule over the range of `t` (T,), ascending; they sum to one."""
    if len(t) == 1:
        return np.ones(1)
    gap = np.diff(t)
    return (np.r_[gap, 0] + np.r_[0, gap]) / 2 / (t[-1] - t[0])


def _up_to(counts: Floats, first: np.ndarray) -> Floats:
    sums = np.concatenate([np.zeros((*counts.shape[:-1], 1)), np.cumsum(counts, axis=-1)], axis=-1)
    return sums[..., first]
