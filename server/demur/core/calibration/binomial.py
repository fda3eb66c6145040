"""Exact binomial tails: what a count of wrong answers says about the error rate behind it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, betaincinv  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from demur.core.calibration.signals import Floats


def tail(wrong: ArrayLike, answered: ArrayLike, max_error: ArrayLike) -> Floats:
    """P(Bin(answered, max_error) <= wrong): the exact p-value of "the error rate is above max_error".

    All three broadcast; 1 where nothing was answered.
    """
    wrong, answered, a = np.broadcast_arrays(
        *(np.asarray(part, dtype=np.float64) for part in (wrong, answered, max_error))
    )
    p: Any = bdtr(np.minimum(wrong, answered), answered.astype(np.int64), a)
    return np.where(answered > 0, p, 1.0)


def upper_bound(wrong: ArrayLike, answered: ArrayLike, delta: float) -> Floats:
    """The one-sided Clopper-Pearson bound: the error rate is below it with probability at least 1 - delta.

    In [0, 1]; 1 where nothing was answered or all were wrong. Reference: Clopper and Pearson 1934, "The use of
    confidence or fiducial limits illustrated in the case of the binomial".
    """
    wrong, answered = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (wrong, answered)))
    right = answered - wrong
    bound: Any = betaincinv(wrong + 1, np.maximum(right, 1e-9), 1 - delta)
    return np.where(right > 0, bound, 1.0)


def least_answers(max_error: float, delta: float, errors: int = 1) -> int:
    """The least number of answers that certify max_error at delta with so many errors among them.

    With one error 77, 38 and 18 for 0.05, 0.1 and 0.2 at delta 0.1. Raises ValueError unless both lie in (0, 1).
    """
    _check(max_error, delta)
    below, n = errors, errors + 1
    while tail(errors, n, max_error) > delta:
        below, n = n, 2 * n
    while n - below > 1:
        middle = (below + n) // 2
        below, n = (below, middle) if tail(errors, middle, max_error) <= delta else (middle, n)
    return n


def _check(max_error: float, delta: float) -> None:
    for name, value in (("max_error", max_error), ("delta", delta)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie between 0 and 1, not {value}")
