"""The figures of a calibrator, in the manner of the evaluation report: readable in black and white."""

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from demur.calibration.calibrator import Calibrator
from demur.core.metrics import Rows, resample, tally
from demur.core.metrics.curves import reliability, threshold_curves
from demur.evaluation.report.figures import INK, STYLE, smooth_reliability

REPLICATES = 400
"""Resamples behind the bands."""


def reliability_of(rows: Rows, title: str) -> Figure:
    """Share that is right against the confidence, smoothed, with its band over problems."""
    return smooth_reliability(reliability(tally(rows), resample(rows, replicates=REPLICATES)), title)


def risk_and_coverage(rows: Rows, calibrator: Calibrator) -> Figure:
    """Of the answers with confidence >= t, how many are wrong, and how many there are, with certified thresholds."""
    curves = threshold_curves(tally(rows), resample(rows, replicates=REPLICATES))
    t, right = curves.outcomes.t, curves.true_positive
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.6), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title("Wrong and answered over the threshold")
        axes.fill_between(t, 1 - right.high, 1 - right.low, color="#9b4a2b", alpha=0.15, linewidth=0)
        axes.plot(t, 1 - right.value, color="#9b4a2b", linewidth=2.2, label="wrong, of those answered")
        axes.plot(t, 1 - curves.outcomes.abstention, color="#2b6a9b", linewidth=2.2, linestyle="--", label="answered")
        for g in calibrator.guarantees:
            if g.threshold is not None:
                axes.axvline(g.threshold, color=INK, linewidth=0.7, linestyle=":")
                axes.plot(g.threshold, g.max_error, marker="o", markersize=4, color=INK)
        axes.plot([], [], marker="o", linestyle=":", markersize=4, color=INK, label="promised: at most so many wrong")
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence needed (threshold t)", ylabel="share of the questions")
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=1)
        return figure


def any_confidence(rows: Rows) -> bool:
    """Whether there is anything to draw."""
    return bool((~np.isnan(rows.confidence)).any())
