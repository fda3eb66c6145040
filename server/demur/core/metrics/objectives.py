"""The four objectives of behavioral calibration (arXiv:2512.19920, section 3.1) as checks that can fail.

Each check is one number with an interval and a bound. It passes by its value; it is conclusive when the whole interval
lies on the same side of the bound.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from demur.core.metrics.bootstrap import Resamples
from demur.core.metrics.estimate import Estimate, Shape, estimate
from demur.core.metrics.outcomes import Outcomes, midpoints, outcomes
from demur.core.metrics.rows import Floats
from demur.core.metrics.scores import ratio

MARGIN = 0.02
"""Two points in a hundred: how far accuracy may fall below the baseline, and how many rows in a hundred, integrated
over t, may stand on the wrong side of TP(t) >= t and FN(t) <= t."""

LAST_HALLUCINATION = 0.01
"""How much may still be hallucinated at the highest threshold."""
NOTHING_ANSWERED = Estimate(None, reason="nothing is answered there")

Objective = Literal["adaptive_risk", "accuracy_kept", "hallucination_reduced", "quantitative_calibration"]


@dataclass(frozen=True, slots=True)
class Check:
    """One number of one objective against its bound. `passed` is None where the number is undefined."""

    objective: Objective
    name: str
    figure: Estimate
    bound: float
    side: Literal["above", "below"]

    @property
    def passed(self) -> bool | None:
        """Whether the value is on the wanted side of the bound."""
        return None if self.figure.value is None else self._good(self.figure.value)

    @property
    def conclusive(self) -> bool:
        """Whether the interval leaves no doubt about it."""
        ends = self.figure.low, self.figure.high
        return all(end is not None and self._good(end) == self.passed for end in ends)

    def _good(self, value: float) -> bool:
        return value > self.bound if self.side == "above" else value <= self.bound


def objectives(
    exact: Outcomes,
    observed: Outcomes,
    replicates: Outcomes,
    *,
    snr_gain: Estimate,
    accuracy_lost: Estimate | None = None,
) -> list[Check]:
    """The checks of all four objectives.

    The three outcomes are over one grid of t with integration weights: exact, as the resamples see it, and resampled.
    `accuracy_lost` is the baseline's accuracy less ours at t = 0; without it the second objective is undefined.
    """

    def checked(statistic: Callable[[Outcomes], Floats], shape: Shape) -> Estimate:
        return _check_figure(statistic, exact, observed, replicates, shape)

    unsigned = Shape(reflect=True, bounds=(0.0, np.inf))
    lost = accuracy_lost or Estimate(None, reason="no baseline given")
    return [
        Check("adaptive_risk", "gain over a fixed stance", checked(adaptive_gain, Shape()), 0, "above"),
        Check("accuracy_kept", "accuracy lost", lost, MARGIN, "below"),
        Check("hallucination_reduced", "SNR-gain", snr_gain, 0, "above"),
        Check(
            "hallucination_reduced",
            "hallucination at the last t",
            checked(last_hallucination, Shape(bounds=(0, 1))) if answers_last(exact) else NOTHING_ANSWERED,
            LAST_HALLUCINATION,
            "below",
        ),
        Check("quantitative_calibration", "TP short of t", checked(true_positive_gap, unsigned), MARGIN, "below"),
        Check("quantitative_calibration", "FN beyond t", checked(false_negative_gap, unsigned), MARGIN, "below"),
    ]


def threshold_grid() -> tuple[Floats, Floats]:
    """Thresholds and weights for the objectives: 0 and 1 themselves, weighing nothing, around the midpoints."""
    middle = midpoints()
    return np.r_[0.0, middle, 1.0], np.r_[0.0, np.full(len(middle), 1 / len(middle)), 0.0]


def verbalized_outcomes(resamples: Resamples) -> tuple[Outcomes, Outcomes]:
    """What `objectives` takes for stated confidences: as the resamples see the rows, and resampled."""
    grid = threshold_grid()
    return outcomes(resamples.observed, *grid), outcomes(resamples.replicates, *grid)


def adaptive_gain(o: Outcomes) -> Floats:
    """Mean over t of the bounded reward (+1 right, 2t - 1 abstained, -1 wrong), less that of the better fixed stance:
    behaving at every t as at t = 0, or always abstaining. A policy that t does not move gains nothing."""
    reward = (o.accuracy - o.hallucination + (2 * o.t - 1) * o.abstention) @ o.weight
    abstaining = 2 * float(o.t @ o.weight) - 1
    first = o.accuracy[..., 0] - o.hallucination[..., 0] + abstaining * o.abstention[..., 0]
    return reward - np.maximum(first, abstaining)


def last_hallucination(o: Outcomes) -> Floats:
    """Hal(t) at the highest threshold: the share of all rows that is answered there, and wrong."""
    return o.hallucination[..., -1]


def answers_last(o: Outcomes) -> bool:
    """Whether any row is answered at the highest threshold: without one, no wrong answer there shows nothing."""
    return bool((o.right + o.wrong)[..., -1].any())


def risk_snr_gain(o: Outcomes) -> Floats:
    """SNR-gain of an explicit-risk run: ln(SNR(I) / SNR(0)), with SNR = Acc / Hal (arXiv:2512.19920, section 4.2).

    SNR(I) is of Acc and Hal integrated numerically over the thresholds run, of which the first must be t = 0. Infinite
    or NaN where one of the four is 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.log(o.accuracy @ o.weight) - np.log(o.hallucination @ o.weight)
        return whole - np.log(o.accuracy[..., 0]) + np.log(o.hallucination[..., 0])


def true_positive_gap(o: Outcomes) -> Floats:
    """Right answers lacking for TP(t) >= t, as a share of all rows, integrated over t."""
    lacking = o.t * (o.accuracy + o.hallucination) - o.accuracy
    return np.maximum(lacking, 0) @ o.weight


def false_negative_gap(o: Outcomes) -> Floats:
    """Needless abstentions too many for FN(t) <= t, as a share of all rows, integrated over t."""
    return np.maximum(ratio(o.could, o.n) - o.t * o.abstention, 0) @ o.weight


def _check_figure(
    statistic: Callable[[Outcomes], Floats], exact: Outcomes, observed: Outcomes, replicates: Outcomes, shape: Shape
) -> Estimate:
    value = statistic(exact)
    if not np.isfinite(value):
        return Estimate(None, reason="no row has a confidence")
    return estimate(value, statistic(observed), statistic(replicates), **shape)
