"""Certified thresholds for claims: one asserted claim of each problem, drawn at random, at each threshold.

Claims of one answer stand and fall together, so counting all of them would take a hundred claims of three answers for a
hundred independent grades. The promise weighs problems alike: of a problem at random that asserts something, a random
asserted claim is wrong with probability at most `max_error`.
"""

import numpy as np
from numpy.typing import ArrayLike

from demur.core.calibration.binomial import tail
from demur.core.calibration.certified_thresholds import (
    DELTA,
    STEP,
    UNANSWERED,
    Certificate,
    Hypotheses,
    checked,
    conclude,
    hypotheses,
)
from demur.core.calibration.folds import Bools, Ints
from demur.core.calibration.signals import Floats


def certify_claims(
    confidence: ArrayLike,
    wrong: ArrayLike,
    problem: ArrayLike,
    max_error: float,
    delta: float = DELTA,
    *,
    step: float = STEP,
    seed: int = 0,
) -> Certificate:
    """The lowest threshold certified for asserted claims, by sequential testing over problems.

    `confidence`, `wrong` and `problem` are (claims,); NaN is a claim without a confidence, which is never asserted.
    `seed` decides which claim of a problem is drawn. Counts and coverage of the certificate are of problems that assert
    a claim. Raises ValueError as `certified_thresholds.certify` does.
    """
    p, v = checked(confidence, wrong)
    names, code = np.unique(np.asarray(problem), return_inverse=True)
    surest = np.full(len(names), UNANSWERED)
    np.maximum.at(surest, code, p)
    placed = hypotheses(
        np.where(surest == UNANSWERED, np.nan, surest), np.zeros(len(names)), max_error, delta, step=step
    )
    rng = np.random.default_rng(seed)
    drawn = [wrong_of_one_each(p >= t, v, code, rng) for t in placed.threshold.tolist()]
    counted = np.array(drawn, dtype=np.int64)
    p_value = np.where(placed.threshold == UNANSWERED, 1.0, tail(counted, placed.answered, max_error))
    tests = Hypotheses(placed.threshold, placed.answered, counted, p_value, placed.share)
    return conclude(tests, len(names), int((surest != UNANSWERED).sum()), max_error, delta)


def wrong_of_one_each(asserted: Bools, wrong: Bools, problem: Ints, rng: np.random.Generator) -> int:
    """How many are wrong when one asserted claim (or given answer) of each problem is drawn; all are (rows,)."""
    places = rng.permutation(np.flatnonzero(asserted))
    _, first = np.unique(problem[places], return_index=True)
    return int(wrong[places[first]].sum())


def error_of_claims(confidence: Floats, wrong: Bools, problem: ArrayLike, threshold: float) -> float:
    """The error rate of asserted claims, which `certify_claims` bounds: the mean over problems of the share of their
    asserted claims that is wrong, in [0, 1].

    A claim is asserted at a confidence >= `threshold`; problems without such a claim do not count. NaN where no claim
    is asserted. The first three are (claims,).
    """
    asserted = confidence >= threshold
    if not asserted.any():
        return float("nan")
    _, code = np.unique(np.asarray(problem)[asserted], return_inverse=True)
    return float((np.bincount(code, wrong[asserted]) / np.bincount(code)).mean())
