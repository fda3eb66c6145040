"""The figures of one run, each a function of the tally (arXiv:2512.19920, section 4.2).

Every function takes a Tally whose counts are (..., L) and returns (...): one number, or one for each resample. Where a
figure is undefined the number is NaN; `demur.core.metrics.summary` says why.
"""

import numpy as np

from demur.core.metrics.rows import Floats
from demur.core.metrics.tally import Tally

NLL_CLIP = 1e-6
"""The log likelihood clips p to [NLL_CLIP, 1 - NLL_CLIP]."""

ABSTENTION_THRESHOLD = 0.5
ECE_BINS = 10


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where the whole is zero."""
    return np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=np.asarray(whole) != 0)


def accuracy(t: Tally) -> Floats:
    """Share of right answers with no abstention, rows without a confidence included."""
    right = t.right.sum(axis=-1) + t.unread_right
    return ratio(right, right + t.wrong.sum(axis=-1) + t.unread_wrong)


def mean_confidence(t: Tally) -> Floats:
    """Mean stated confidence of the rows that state one."""
    return ratio(t.count @ t.level, t.read)


def brier(t: Tally) -> Floats:
    """Brier score: the mean squared error between confidence and verdict, in [0, 1]; 0 is best."""
    return ratio(t.right @ (1 - t.level) ** 2 + t.wrong @ t.level**2, t.read)


def nll(t: Tally) -> Floats:
    """Mean negative log likelihood of the verdicts (log loss, cross-entropy), in nats per row."""
    p = np.clip(t.level, NLL_CLIP, 1 - NLL_CLIP)
    return ratio(-(t.right @ np.log(p) + t.wrong @ np.log(1 - p)), t.read)


def abstention_accuracy(t: Tally) -> Floats:
    """Abstention accuracy: the share of rows that answer rightly or abstain from a wrong answer, when a confidence
    below one half abstains."""
    answers = t.level >= ABSTENTION_THRESHOLD
    return ratio(t.right[..., answers].sum(axis=-1) + t.wrong[..., ~answers].sum(axis=-1), t.read)


def snr_gain(t: Tally) -> Floats:
    """ln(mean(p | right) / mean(p | wrong)): the paper's gain of signal over noise, integrated exactly over t.

    +inf where every wrong row states 0, -inf where every right row does; NaN where both do, and without right or
    without wrong rows.
    """
    right = ratio(t.right @ t.level, t.right.sum(axis=-1))
    wrong = ratio(t.wrong @ t.level, t.wrong.sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(right) - np.log(wrong)


def auc(t: Tally) -> Floats:
    """Area under the ROC curve (AUROC) of the confidence: the chance that a right row states more than a wrong one,
    ties counting half. 0.5 tells nothing apart; NaN without right or without wrong rows."""
    wrong_below = np.cumsum(t.wrong, axis=-1) - t.wrong / 2
    pairs = t.right.sum(axis=-1) * t.wrong.sum(axis=-1)
    return ratio((t.right * wrong_below).sum(axis=-1), pairs)


def ece10(t: Tally) -> Floats:
    """Expected calibration error (ECE) over ten bins of equal width, closed on the left, in [0, 1]: for comparison
    with other papers."""
    edges = np.arange(ECE_BINS) / ECE_BINS
    start = np.searchsorted(t.level, edges, side="left")
    gap = t.right - t.count * t.level
    sums = np.concatenate([np.zeros((*gap.shape[:-1], 1)), np.cumsum(gap, axis=-1)], axis=-1)
    bins = np.diff(sums[..., np.r_[start, gap.shape[-1]]], axis=-1)
    return ratio(np.abs(bins).sum(axis=-1), t.read)
