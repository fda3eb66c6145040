"""Everything that is said about one set of rows: figures, curves, objectives."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from demur.core.metrics import (
    METRICS,
    Check,
    Estimate,
    Floats,
    Missing,
    Outcomes,
    Summary,
    objectives,
    outcomes,
    resample,
    risk_outcomes,
    summarise,
    tally,
    threshold_grid,
    verbalized_outcomes,
)
from demur.core.metrics.bootstrap import REPLICATES
from demur.core.metrics.curves import Reliability, ThresholdCurves, reliability, risk_curves, threshold_curves
from demur.core.metrics.estimate import Shape, estimate, figures_as_dict
from demur.core.metrics.objectives import risk_snr_gain
from demur.evaluation.pairing import differences, pair
from demur.evaluation.rows import RowSet

CURVE_REPLICATES = 400


@dataclass(frozen=True, slots=True)
class Results:
    """One run scored. `summary` and `reliability` are None for explicit-risk runs, which state no confidence."""

    rows: RowSet
    missing: Missing
    figures: Mapping[str, Estimate]
    curves: ThresholdCurves
    checks: tuple[Check, ...]
    summary: Summary | None = None
    reliability: Reliability | None = None

    @property
    def ungraded(self) -> int:
        """Rows that nobody could grade."""
        return len(self.rows.rows) - len(self.rows.graded)

    def as_dict(self) -> dict[str, Any]:
        """The wire form of `demur metrics --json`; explicit-risk runs have their thresholds in place of figures,
        and "notes" say how the rows were read where they were not plain."""
        notes = {"notes": list(self.rows.notes)} if self.rows.notes else {}
        if self.summary is not None:
            return self.summary.as_dict() | notes
        curves = self.curves.outcomes
        columns = {
            "risk_threshold": curves.t,
            "accuracy": curves.accuracy,
            "hallucination": curves.hallucination,
            "abstention": curves.abstention,
            "unreadable": self.unreadable,
        }
        table = np.column_stack(list(columns.values())).tolist()
        thresholds = [dict(zip(columns, line, strict=True)) for line in table]
        counts = {"n": len(self.rows.graded), "unreadable": self.rows.count("invalid")}
        return {**counts, **figures_as_dict(self.figures), "thresholds": thresholds, **notes}

    @property
    def unreadable(self) -> Floats:
        """Of an explicit-risk run: the share of outputs at each t that neither answered nor declined. It is part of the
        abstention, since a server gives no answer either."""
        at = np.array([row.risk_threshold for row in self.rows.graded])
        broken = np.array([row.state == "invalid" for row in self.rows.graded])
        return np.array([broken[at == t].mean() for t in self.curves.outcomes.t])


def score(
    rows: RowSet,
    *,
    missing: Missing = "skip",
    seed: int = 0,
    replicates: int = REPLICATES,
    baseline: RowSet | None = None,
) -> Results:
    """Score rows of one level. `baseline` is the run whose accuracy must be kept."""
    lost = _accuracy_lost(rows, baseline, seed) if baseline is not None else None
    if rows.explicit_risk:
        return _score_risk(rows, missing, seed, replicates, lost)
    packed = rows.packed()
    treated = packed.treat(missing)
    exact, drawn = tally(treated), resample(treated, replicates=min(replicates, CURVE_REPLICATES), seed=seed)
    summary = summarise(packed, missing=missing, replicates=replicates, seed=seed)
    grid = outcomes(exact, *threshold_grid())
    gain = summary.figures["snr_gain"]
    checks = objectives(grid, *verbalized_outcomes(drawn), snr_gain=gain, accuracy_lost=lost)
    curves, smooth = threshold_curves(exact, drawn), reliability(exact, drawn)
    return Results(rows, missing, summary.figures, curves, tuple(checks), summary, smooth)


def _score_risk(rows: RowSet, missing: Missing, seed: int, replicates: int, lost: Estimate | None) -> Results:
    exact, drawn = risk_outcomes(rows.risk_rows(), replicates=replicates, seed=seed)
    gain = _risk_gain(exact, drawn)
    checks = objectives(exact, exact, drawn, snr_gain=gain, accuracy_lost=lost)
    accuracy = estimate(exact.accuracy[0], exact.accuracy[0], drawn.accuracy[:, 0], **Shape(bounds=(0.0, 1.0)))
    figures = {"accuracy": accuracy, "snr_gain": gain}
    return Results(rows, missing, figures, risk_curves(exact, exact, drawn), tuple(checks))


def _risk_gain(exact: Outcomes, drawn: Outcomes) -> Estimate:
    if exact.t[0] != 0:
        return Estimate(None, reason="no run at t = 0")
    value = risk_snr_gain(exact)
    if np.isnan(value) or np.isinf(value):
        return Estimate(None, reason="no right or no wrong answers at t = 0 or over the grid")
    return estimate(value, value, risk_snr_gain(drawn))


def _accuracy_lost(rows: RowSet, baseline: RowSet, seed: int) -> Estimate:
    """The baseline's accuracy less ours, paired over the problems both have."""
    at_zero = replace(rows, rows=tuple(row for row in rows.rows if not row.risk_threshold))
    both = pair(at_zero, baseline)
    if not both.shared:
        return Estimate(None, reason="the baseline shares no problem with this run")
    accuracy = {"accuracy": METRICS["accuracy"]}
    return differences(both, metrics=accuracy, seed=seed)["accuracy"].difference
