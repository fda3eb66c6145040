"""Curves with a band around them: what the figures draw."""

from dataclasses import dataclass

import numpy as np

from demur.core.metrics.bootstrap import Resamples, interval
from demur.core.metrics.outcomes import Outcomes, outcomes
from demur.core.metrics.rows import Floats
from demur.core.metrics.smooth import smece_and_width, smooth_curve
from demur.core.metrics.tally import Tally

POINTS = 201

WIDEST = 0.1
"""Widest kernel the diagram is drawn with: at the bandwidth of a large error everything would be one straight line."""


@dataclass(frozen=True, slots=True)
class Band:
    """A curve over `x` (T,) and the ends of its pointwise 95 % interval; NaN where undefined."""

    x: Floats
    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Reliability:
    """The smooth reliability diagram: accuracy given confidence, the density of confidences, error and bandwidth."""

    accuracy: Band
    density: Floats
    error: float
    width: float


@dataclass(frozen=True, slots=True)
class ThresholdCurves:
    """What happens at each risk threshold, and TP(t) and FN(t) with their bands."""

    outcomes: Outcomes
    true_positive: Band
    false_negative: Band


def reliability(exact: Tally, drawn: Resamples) -> Reliability:
    """Smooth accuracy against confidence at the bandwidth of the smooth calibration error, or at WIDEST."""
    x = np.linspace(0, 1, POINTS)
    error, fixed_point = (float(part) for part in smece_and_width(exact))
    width = min(fixed_point, WIDEST)
    value, density = smooth_curve(exact, width, x)
    observed, _ = smooth_curve(drawn.observed, width, x)
    replicates, _ = smooth_curve(drawn.replicates, width, x)
    low, high = interval(value, observed, replicates)
    return Reliability(Band(x, value, np.maximum(low, 0), np.minimum(high, 1)), density, error, width)


def threshold_curves(exact: Tally, drawn: Resamples) -> ThresholdCurves:
    """Outcomes and calibration of the decisions of stated confidences, at POINTS risk thresholds t from 0 to 1."""
    t = np.linspace(0, 1, POINTS)
    return risk_curves(outcomes(exact, t), outcomes(drawn.observed, t), outcomes(drawn.replicates, t))


def risk_curves(exact: Outcomes, observed: Outcomes, replicates: Outcomes) -> ThresholdCurves:
    """Outcomes and calibration of the decisions at the thresholds of `exact`: for runs with the threshold in the
    prompt. The three are as `objectives` takes them."""
    true_positive = _band(exact.t, exact.true_positive, observed.true_positive, replicates.true_positive)
    false_negative = _band(exact.t, exact.false_negative, observed.false_negative, replicates.false_negative)
    return ThresholdCurves(exact, true_positive, false_negative)


def _band(x: Floats, value: Floats, observed: Floats, replicates: Floats) -> Band:
    low, high = interval(value, observed, replicates)
    return Band(x, value, np.maximum(low, 0), np.minimum(high, 1))
