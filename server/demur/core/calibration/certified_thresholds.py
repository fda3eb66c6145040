"""Thresholds on a confidence with a certified error rate: sequential testing with exact binomial tails.

The answers are ordered by confidence and tested from the most confident down: the hypothesis at each threshold is
that more than `max_error` of the answers at or above it are wrong. A hypothesis that is rejected hands its share of
delta on to the next, so that delta need not be shared among all thresholds. Most of it lies on the first; the rest
waits at a later one, where testing goes on if the most confident answers are not right often enough. This is the
fallback procedure; with all of delta on the first it is fixed-sequence testing. The lowest threshold that is rejected
is served. Where the graded answers are independent and come as the traffic will, and the order was not chosen by their
own grades, P(wrong | answered) <= max_error then holds with probability at least 1 - delta over the draw of the graded
answers.

References: Angelopoulos, Bates, Candès, Jordan and Lei, "Learn then Test", arXiv:2110.01052; Wiens and Dmitrienko 2005,
"The fallback procedure for evaluating a single family of hypotheses"; for one bound at a time Bates, Angelopoulos, Lei,
Malik and Jordan, "Distribution-free, risk-controlling prediction sets", arXiv:2101.02703.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demur.core.calibration.binomial import least_answers, tail
from demur.core.calibration.signals import Floats

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
"""The error rates that are certified unless others are named before the grades are seen."""

DELTA = 0.1
STEP = 0.05
"""Ranks that are tested, as a share of all answers."""

RESTART, KEPT = 0.25, 0.1
"""Where testing begins a second time, as a share of all answers, and the part of delta that is kept for it.

Of the places and parts tried on simulated populations (`bench guarantee`) these lost least where confidences are
ordered well, and won most where the surest answers are not the best ones, as when a model states 99 % for its slips.
Whether a promise is kept does not depend on them."""

FINEST = 0.01
"""Step of the error rates that `smallest_max_error` looks at."""

WHAT_HELPS = "more graded answers, a larger max_error, or signals that tell right from wrong better (more samples)"
"""What somebody can do where nothing is certified."""

UNANSWERED = -1.0
"""Stands for a missing confidence: it sorts below every other, and no threshold reaches it."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A threshold with a certified error rate, or the reason why there is none.

    P(wrong | confidence >= `threshold`) is at most `max_error`, with probability at least 1 - `delta` over the draw of
    the graded answers. `answered` of these have such a confidence, `wrong` of the answered are wrong, and `coverage` is
    the answered share of all graded answers, in [0, 1]. `threshold` is None where nothing is certified: then `reason`
    says why, `coverage` is 0, and the counts are those of the first test that failed, or 0 where no test was possible.
    """

    max_error: float
    delta: float
    threshold: float | None
    answered: int
    wrong: int
    coverage: float
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """The hypotheses in the order of their tests, each (..., G), and the exact p-value of each.

    `answered` and `wrong` count graded answers with confidence >= `threshold`. `share`, (G,), is the part of delta that
    lies on each hypothesis before anything is tested; the parts add up to 1.
    """

    threshold: Floats
    answered: NDArray[np.int64]
    wrong: NDArray[np.int64]
    p_value: Floats
    share: Floats

    def last_rejected(self, delta: float) -> NDArray[np.int64]:
        """The place of the last hypothesis that is rejected, (...); -1 where none is.

        With probability at least 1 - `delta` no true hypothesis is among the rejected ones.
        """
        last = np.full(self.p_value.shape[:-1], -1, dtype=np.int64)
        level = np.zeros(self.p_value.shape[:-1])
        for place, part in enumerate(np.moveaxis(self.parts(), -1, 0)):
            level = level + delta * part
            rejected = (level > 0) & (self.p_value[..., place] <= level)
            last, level = np.where(rejected, place, last), np.where(rejected, level, 0.0)
        return last

    def parts(self) -> Floats:
        """The part of delta that each hypothesis is tested with first, (..., G): `share`, but hypotheses at one
        threshold are one hypothesis, so the first of them has the parts of all."""
        parts = np.broadcast_to(self.share, self.threshold.shape).copy()
        for place in range(parts.shape[-1] - 1, 0, -1):
            same = self.threshold[..., place] == self.threshold[..., place - 1]
            parts[..., place - 1] += np.where(same, parts[..., place], 0.0)
            parts[..., place] = np.where(same, 0.0, parts[..., place])
        return parts


def ranks(n: int, max_error: float, delta: float, step: float = STEP) -> tuple[NDArray[np.int64], Floats]:
    """The ranks tested among n answers, ascending, and the part of delta that lies on each; both (G,).

    First the least rank that may hold one error, then every `step` of n below it. They are fixed before anything is
    known but n. Testing restarts once, unless it begins too late for that. Empty where n is too small for max_error.
    Raises ValueError unless max_error and delta lie in (0, 1).
    """
    restart = math.ceil(n * RESTART - 1e-9)
    kept = KEPT if restart > least_answers(max_error, delta) else 0.0
    first = least_answers(max_error, delta * (1 - kept))
    if n < first:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    steps = np.ceil(n * step * np.arange(1, math.ceil(1 / step) + 1) - 1e-9).astype(np.int64)
    found = np.r_[first, np.minimum(steps[steps > first], n)]
    share = np.zeros(len(found))
    share[0] = 1 - kept
    share[min(int(np.searchsorted(found, restart)), len(found) - 1)] += kept
    return found, share


def hypotheses(
    confidence: ArrayLike, wrong: ArrayLike, max_error: float, delta: float = DELTA, *, step: float = STEP
) -> Hypotheses:
    """The hypotheses for answers (..., n): leading axes are separate sets of graded answers. NaN: never answered.

    Each rank is extended to the end of its tie, since a threshold cannot tell equal confidences apart. Raises
    ValueError for unequal shapes, a confidence outside [0, 1], or max_error or delta outside (0, 1).
    """
    p, v = checked(confidence, wrong)
    order = np.argsort(-p, axis=-1, kind="stable")
    p, v = np.take_along_axis(p, order, axis=-1), np.take_along_axis(v, order, axis=-1)
    found, share = ranks(p.shape[-1], max_error, delta, step)
    threshold, end = p[..., found - 1], _ends_of_ties(p)[..., found - 1]
    counted = np.take_along_axis(np.cumsum(v, axis=-1, dtype=np.int64), end, axis=-1)
    p_value = np.where(threshold == UNANSWERED, 1.0, tail(counted, end + 1, max_error))
    return Hypotheses(threshold, end + 1, counted, p_value, share)


def certify(
    confidence: ArrayLike, wrong: ArrayLike, max_error: float, delta: float = DELTA, *, step: float = STEP
) -> Certificate:
    """The lowest threshold that sequential testing certifies for `max_error` at `delta`.

    `confidence` and `wrong` are (n,), one row a problem: rows must be independent. NaN stands for no confidence. Raises
    ValueError as `hypotheses` does.
    """
    tests = hypotheses(confidence, wrong, max_error, delta, step=step)
    given = np.asarray(confidence, dtype=np.float64)
    return conclude(tests, given.shape[-1], int((~np.isnan(given)).sum()), max_error, delta)


def spent(delta: float, *, levels: int = 1, look: int = 0) -> float:
    """The delta that one test may use.

    All `levels` of them hold together at delta by Bonferroni. `look` is 0 where the number of graded answers was fixed
    beforehand; where certification is tried again as more are graded, try k counts from 1 and gets delta / 2^k, so that
    all tries together stay within delta. Raises ValueError for less than one level or a negative look.
    """
    if levels < 1 or look < 0:
        raise ValueError(f"levels must be at least 1 and look at least 0, not {levels} and {look}")
    return delta / levels / 2**look


def smallest_max_error(certificate: Callable[[float], Certificate]) -> float | None:
    """The least error rate, in steps of FINEST, that rows certify at any threshold; None where none is.

    `certificate` certifies the rows at one error rate. The answer was found by looking at the grades, so it says what
    to ask for with new rows and is no certificate itself.
    """
    rates = np.round(np.arange(FINEST, 1, FINEST), 10).tolist()
    return next((rate for rate in rates if certificate(rate).threshold is not None), None)


def conclude(tests: Hypotheses, n: int, stated: int, max_error: float, delta: float) -> Certificate:
    """The certificate that tests in their order give: the threshold of the last hypothesis that is rejected. `n` is
    the number of graded answers, or of problems for claims, and makes the coverage; `stated` of them have a
    confidence."""
    first = ranks(n, max_error, delta)[0][:1]
    needed = int(first[0]) if len(first) else least_answers(max_error, delta)
    if stated < needed:
        return Certificate(max_error, delta, None, 0, 0, 0.0, _too_few(stated, max_error, needed))
    last = int(tests.last_rejected(delta))
    place = max(last, 0)
    answered, wrong = int(tests.answered[place]), int(tests.wrong[place])
    if last >= 0:
        return Certificate(max_error, delta, float(tests.threshold[place]), answered, wrong, answered / n)
    reason = _too_many_wrong(answered, wrong, max_error, delta * float(tests.parts()[0]))
    return Certificate(max_error, delta, None, answered, wrong, 0.0, reason)


def checked(confidence: ArrayLike, wrong: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    """Confidences with UNANSWERED for NaN, and verdicts as booleans.

    Raises ValueError for unequal shapes, single numbers, a confidence outside [0, 1] or a verdict that is not 0 or 1.
    """
    p, v = np.asarray(confidence, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    if p.shape != v.shape or not p.ndim:
        raise ValueError(f"confidence and wrong must have one shape; they have {p.shape} and {v.shape}")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("a confidence is outside [0, 1]")
    if not ((v == 0) | (v == 1)).all():
        raise ValueError("wrong must be true or false")
    return np.where(np.isnan(p), UNANSWERED, p), v.astype(np.bool_)


def _ends_of_ties(descending: Floats) -> NDArray[np.int64]:
    """For each place the last one with the same confidence, (..., n)."""
    n = descending.shape[-1]
    last = np.ones(descending.shape, dtype=np.bool_)
    last[..., :-1] = descending[..., :-1] != descending[..., 1:]
    end = np.where(last, np.arange(n, dtype=np.int64), n)
    return np.minimum.accumulate(end[..., ::-1], axis=-1)[..., ::-1]


def _too_few(stated: int, max_error: float, needed: int) -> str:
    return f"{stated} graded answers with a confidence are too few: max_error {max_error:g} needs at least {needed}"


def _too_many_wrong(answered: int, wrong: int, max_error: float, delta: float) -> str:
    allowed = int((tail(np.arange(answered + 1), answered, max_error) <= delta).sum()) - 1
    percent = 100 * wrong / answered
    share, most = f"{percent:.{0 if percent >= 10 else 1}f} %", f"{allowed} or fewer" if allowed else "none"
    return f"{wrong} of the {answered} most confident graded answers are wrong ({share}); only {most} would be certain"
