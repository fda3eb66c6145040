"""All figures of a set of rows, each with its interval, and the paired comparison of two sets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from demur.core.metrics import scores
from demur.core.metrics.bootstrap import REPLICATES, Resamples, resample
from demur.core.metrics.estimate import Estimate, Shape, estimate, figures_as_dict
from demur.core.metrics.rows import Floats, Missing, Rows
from demur.core.metrics.smooth import smece
from demur.core.metrics.tally import Tally, tally

UNIT: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure: how it is computed, which way is better, what it needs, and how its interval is shaped."""

    label: str
    compute: Callable[[Tally], Floats]
    better: Literal["higher", "lower", "neither"]
    needs: Literal["rows", "confidence", "both"]
    shape: Shape


METRICS: dict[str, Metric] = {
    "accuracy": Metric("accuracy", scores.accuracy, "higher", "rows", Shape(bounds=UNIT)),
    "snr_gain": Metric("SNR-gain", scores.snr_gain, "higher", "both", Shape()),
    "auc": Metric("confidence AUC", scores.auc, "higher", "both", Shape(bounds=UNIT)),
    "abstention_accuracy": Metric(
        "abstention accuracy", scores.abstention_accuracy, "higher", "confidence", Shape(bounds=UNIT)
    ),
    "brier": Metric("Brier", scores.brier, "lower", "confidence", Shape(bounds=UNIT)),
    "nll": Metric("NLL", scores.nll, "lower", "confidence", Shape(bounds=(0.0, np.inf))),
    "smece": Metric("smECE", smece, "lower", "confidence", Shape(bounds=UNIT, reflect=True)),
    "ece10": Metric("ECE (10 bins)", scores.ece10, "lower", "confidence", Shape(bounds=UNIT, reflect=True)),
    "mean_confidence": Metric("mean confidence", scores.mean_confidence, "neither", "confidence", Shape(bounds=UNIT)),
}


@dataclass(frozen=True, slots=True)
class Summary:
    """`n` rows about `problems` problems, `missing` of them without a confidence, and the figures by name."""

    n: int
    missing: int
    problems: int
    figures: dict[str, Estimate]

    def as_dict(self) -> dict[str, Any]:
        """The wire form of `demur metrics --json`."""
        return {"n": self.n, **figures_as_dict(self.figures), "missing": self.missing}


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of two runs over the same problems, and the second less the first with a paired interval."""

    first: Estimate
    second: Estimate
    difference: Estimate


def summarise(rows: Rows, *, missing: Missing = "skip", replicates: int = REPLICATES, seed: int = 0) -> Summary:
    """Every metric (arXiv:2512.19920, section 4) with 95 % bootstrap intervals over problems.

    `missing` decides about rows without a confidence: `abstain` scores them as p = 0, `skip` leaves them out of
    everything but accuracy.
    """
    treated = rows.treat(missing)
    exact, drawn = tally(treated), resample(treated, replicates=replicates, seed=seed)
    figures = {name: _figure(metric, exact, drawn, rows.problems) for name, metric in METRICS.items()}
    return Summary(len(rows), rows.missing, rows.problems, figures)


def compare(
    first: Rows,
    second: Rows,
    *,
    metrics: Mapping[str, Metric] = METRICS,
    missing: Missing = "skip",
    replicates: int = REPLICATES,
    seed: int = 0,
) -> dict[str, Difference]:
    """Each figure of two runs and their difference, the same problems drawn for both in every resample.

    Both must have been built with one coding of the problems (`Rows.of(..., coding=...)`). Raises ValueError
    otherwise.
    """
    if first.problems != second.problems:
        raise ValueError("the two runs do not share one coding of the problems")
    pair = [rows.treat(missing) for rows in (first, second)]
    exact = [tally(rows) for rows in pair]
    drawn = [resample(rows, replicates=replicates, seed=seed) for rows in pair]
    return {name: _difference(metric, exact, drawn, first.problems) for name, metric in metrics.items()}


def why_undefined(metric: Metric, t: Tally) -> str | None:
    """Why the figure has no number on these rows; None where it has one."""
    right, wrong = float(t.right.sum()), float(t.wrong.sum())
    if right + wrong + float(t.unread_right + t.unread_wrong) == 0:
        return "no rows"
    if metric.needs == "rows":
        return None
    if right + wrong == 0:
        return "no row has a confidence"
    if metric.needs == "both" and right == 0:
        return "no right rows"
    if metric.needs == "both" and wrong == 0:
        return "no wrong rows"
    return _why_infinite(float(metric.compute(t)))


def _why_infinite(value: float) -> str | None:
    if np.isnan(value):
        return "no row has a confidence above 0"
    if np.isinf(value):
        return f"infinite: every {'wrong' if value > 0 else 'right'} row has confidence 0"
    return None


def _figure(metric: Metric, exact: Tally, drawn: Resamples, problems: int) -> Estimate:
    reason = why_undefined(metric, exact)
    if reason is not None:
        return Estimate(None, reason=reason)
    value = metric.compute(exact)
    if problems < 2:
        return Estimate(float(value), reason="no interval: a single problem")
    return estimate(value, metric.compute(drawn.observed), metric.compute(drawn.replicates), **metric.shape)


def _difference(metric: Metric, exact: list[Tally], drawn: list[Resamples], problems: int) -> Difference:
    first, second = (_figure(metric, t, d, problems) for t, d in zip(exact, drawn, strict=True))
    if first.value is None or second.value is None:
        return Difference(first, second, Estimate(None, reason=first.reason or second.reason))
    if problems < 2:
        return Difference(first, second, Estimate(second.value - first.value, reason=first.reason))
    values = [metric.compute(t) for t in exact]
    observed = [metric.compute(d.observed) for d in drawn]
    replicates = [metric.compute(d.replicates) for d in drawn]
    with np.errstate(invalid="ignore"):  # an infinite resample of both is undefined, and counted as such
        gaps = replicates[1] - replicates[0]
    gap = estimate(values[1] - values[0], observed[1] - observed[0], gaps)
    return Difference(first, second, gap)
