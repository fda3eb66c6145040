"""Signals as features of a logistic map: clipped log odds, and an indicator for each that is missing."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SignalName = Literal["verbalized", "critic", "answer_logprob", "agreement", "p_true"]
SIGNALS: tuple[SignalName, ...] = ("verbalized", "critic", "answer_logprob", "agreement", "p_true")
"""Signals about one answer, each in [0, 1]. The first one that is present is its uncalibrated confidence."""

CLIP = (0.005, 0.995)
"""Signals are clipped to this range before the log odds are taken, so that a stated 0 or 1 is not infinitely sure."""


def log_odds(p: Floats) -> Floats:
    """ln(p / (1 - p)) of probabilities of any shape after clipping to CLIP; NaN stays NaN."""
    clipped = np.clip(p, *CLIP)
    return np.log(clipped) - np.log1p(-clipped)


def probability(odds: Floats) -> Floats:
    """1 / (1 + exp(-x)) without overflow, the inverse of the log odds."""
    small = np.exp(-np.abs(odds))
    return np.where(odds >= 0, 1.0, small) / (1.0 + small)


def features(values: Floats) -> Floats:
    """The features of a logistic map: (n, k) signals in [0, 1], NaN where missing, to (n, 2 k).

    The first k columns are log odds, 0 where the signal is missing; the last k are 1 there and 0 elsewhere. Raises
    ValueError for another shape or a signal outside [0, 1].
    """
    checked = check_signals(values)
    missing = np.isnan(checked)
    return np.hstack([np.where(missing, 0.0, log_odds(checked)), missing.astype(np.float64)])


def check_signals(values: Floats) -> Floats:
    """The same signals as float64 (n, k). Raises ValueError for another shape or a signal outside [0, 1]."""
    checked = np.asarray(values, dtype=np.float64)
    if checked.ndim != 2:
        raise ValueError(f"signals must be (answers, signals); their shape is {checked.shape}")
    bad = np.argwhere((checked < 0) | (checked > 1))
    if len(bad):
        row, column = bad[0]
        raise ValueError(f"signal {column} of answer {row} is {checked[row, column]:g}; it must be in [0, 1]")
    return checked
