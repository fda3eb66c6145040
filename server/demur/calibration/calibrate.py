"""From graded rows to a calibrator: a map, what it changes on rows that it never saw, and certified thresholds."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from demur.calibration.calibrator import Calibrator
from demur.calibration.calibrator_file import map_fields, sealed
from demur.calibration.errors import CalibrationError
from demur.calibration.fit import Graded, fit
from demur.calibration.graded_source import GradedSource
from demur.calibration.row_checks import check_enough
from demur.calibration.rows import SignalRows
from demur.core.calibration.certified_thresholds import DELTA, LEVELS, Certificate, certify, smallest_max_error, spent
from demur.core.calibration.claims import certify_claims
from demur.core.calibration.folds import Bools, fold_of, held_out, one_a_problem, split
from demur.core.calibration.maps import Identity, Map, trimmed
from demur.core.calibration.signals import Floats, log_odds
from demur.core.metrics import METRICS, Difference, Rows, compare, scores, tally
from demur.core.metrics.bootstrap import REPLICATES

FIT_SHARE = 0.4
"""Of the problems that choose the map under `split`; the others certify it."""

FOLDS = 10
FIGURES = "auc", "smece", "brier", "snr_gain"

Mode = Literal["split", "cross-fit", "raw"]


@dataclass(frozen=True, slots=True)
class Options:
    """How a calibrator is made. `raw` names a signal that is certified as it is, without any map; `resamples` are those
    behind the intervals of the figures. `questions` says in a few words what the graded ones were, and `parent` is the
    id of the calibrator that the new one follows."""

    levels: tuple[float, ...] = LEVELS
    delta: float = DELTA
    certify: Literal["split", "cross-fit"] = "split"
    raw: str | None = None
    simultaneous: bool = False
    look: int = 0
    seed: int = 0
    resamples: int = REPLICATES
    questions: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """Rows that the map never saw when it gave them their confidence, (n,) each, and the map that will be served."""

    rows: Bools
    confidence: Floats
    map: Map
    mode: Mode


@dataclass(frozen=True, slots=True)
class SignalShare:
    """One signal: its AUC alone, how many rows lack it, its weight on log odds, and its share of what the map moves."""

    name: str
    auc: float | None
    missing: int
    weight: float
    share: float


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A calibrator and what people are shown beside it. `before` and `after` are the rows that judged the map."""

    calibrator: Calibrator
    before: Rows
    after: Rows
    differences: dict[str, Difference]
    shares: tuple[SignalShare, ...]
    ungraded: int


def calibrate(source: GradedSource, options: Options, made: str, where: str = "the rows") -> Calibrated:
    """Fit, judge and certify. `made` is the time in ISO form.

    Raises CalibrationError for rows that are too few, of one class or without the signal that `raw` names, for a run in
    which questions failed, and for a run card that a calibrator cannot hold.
    """
    if source.failures:
        raise CalibrationError(
            f"{where}: {source.failures:,} questions got no answer: leaving them out would choose among the graded"
            " answers, and a promise of the rest would not hold. Go on with the run by the same demur evaluate command"
        )
    rows = source.rows.graded()
    check_enough(rows, where)
    graded = rows.packed()
    judged = _judged(graded, rows.signals, options, source.fitting)
    seen = graded.at(judged.rows)
    before, after = (Rows.of(p, seen.correct, seen.problem.tolist()) for p in (_raw(seen, judged), judged.confidence))
    metrics = {name: METRICS[name] for name in FIGURES}
    differences = compare(before, after, metrics=metrics, replicates=options.resamples, seed=options.seed)
    fields = {
        "made": made,
        "model": source.model,
        **source.asked,
        "parent": options.parent,
        "questions": options.questions,
        **_described(rows, graded, judged),
        "before": {name: gap.first.as_dict() for name, gap in differences.items()},
        "after": {name: gap.second.as_dict() for name, gap in differences.items()},
        **_certified(seen, judged, rows.level, options),
    }
    ungraded = len(source.rows.rows) - len(rows.rows)
    return Calibrated(sealed(fields), before, after, differences, _shares(rows, seen, judged), ungraded)


def _described(rows: SignalRows, graded: Graded, judged: Judged) -> dict[str, Any]:
    """The rows and the map, as the file holds them."""
    served, columns = trimmed(judged.map)
    names = tuple(rows.signals[column] for column in columns)
    return {
        "level": rows.level,
        "signals": names,
        "map": map_fields(served, names),
        "rows": len(graded),
        "problems": len(np.unique(graded.problem)),
        "groups": _groups(rows, judged),
    }


def _judged(graded: Graded, signals: tuple[str, ...], options: Options, fitting: Bools | None = None) -> Judged:
    """Confidences for rows by a map that was chosen without them."""
    everything = np.ones(len(graded), dtype=np.bool_)
    if options.raw is not None:
        if options.raw not in signals:
            raise CalibrationError(f"--raw {options.raw}: the rows have {', '.join(signals)}")
        raw = Identity(signals.index(options.raw))
        return Judged(everything, raw(graded.signals), raw, "raw")
    if options.certify == "split":
        fitting = split(graded.problem, FIT_SHARE, options.seed) if fitting is None else fitting
        chosen = fit(graded.at(fitting), options.seed).map
        return Judged(~fitting, chosen(graded.signals[~fitting]), chosen, "split")
    confidence = cross_fitted(graded, options.seed)
    return Judged(everything, confidence, fit(graded, options.seed).map, "cross-fit")


def cross_fitted(graded: Graded, seed: int = 0) -> Floats:
    """Out-of-fold confidences (n,): each row's map was fitted and chosen on the problems of the other folds."""
    confidence = np.full(len(graded), np.nan)
    fold = fold_of(graded.problem, min(FOLDS, len(np.unique(graded.problem))), seed)
    for seen, unseen in held_out(graded.problem, fold):
        confidence[unseen] = fit(graded.at(seen), seed).map(graded.signals[unseen])
    return confidence


def _raw(seen: Graded, judged: Judged) -> Floats:
    """The number that is served without a calibrator: the first signal, or the one that is certified as it is."""
    return seen.signals[:, judged.map.signal if isinstance(judged.map, Identity) else 0]


def _certified(seen: Graded, judged: Judged, level: str, options: Options) -> dict[str, Any]:
    each = spent(options.delta, levels=len(options.levels) if options.simultaneous else 1, look=options.look)
    at = certifier(seen, judged.confidence, level, each, options.seed)
    return {
        "certification": {
            "mode": judged.mode,
            "exact": judged.mode != "cross-fit",
            "rows": len(np.unique(seen.problem)),
            "delta": options.delta,
            "simultaneous": options.simultaneous,
            "look": options.look,
            "seed": options.seed,
        },
        "guarantees": [asdict(at(rate)) for rate in options.levels],
        "smallest_max_error": smallest_max_error(at),
    }


def certifier(seen: Graded, confidence: Floats, level: str, delta: float, seed: int) -> Callable[[float], Certificate]:
    """A function that certifies one error rate in (0, 1) on independent rows: one answer a problem, or, at level
    "claims", one claim a problem and threshold. `delta` is the chance that a certificate is false."""
    wrong = ~seen.correct
    if level == "claims":
        return lambda rate: certify_claims(confidence, wrong, seen.problem, rate, delta, seed=seed)
    rows = one_a_problem(seen.problem, seed)
    return lambda rate: certify(confidence[rows], wrong[rows], rate, delta)


def _shares(rows: SignalRows, seen: Graded, judged: Judged) -> tuple[SignalShare, ...]:
    """What each signal is worth alone, and in the map: its weight times the spread of its log odds."""
    weights = judged.map.weights_of(len(rows.signals))
    spreads = np.array([_spread(column) for column in seen.signals.T])
    moved = weights * spreads
    share = moved / moved.sum() if moved.sum() > 0 else moved
    missing = np.isnan(seen.signals).sum(axis=0)
    return tuple(
        SignalShare(name, _auc(column, seen.correct), int(lacking), float(weight), float(part))
        for name, column, lacking, weight, part in zip(
            rows.signals, seen.signals.T, missing, weights, share, strict=True
        )
    )


def _spread(signal: Floats) -> float:
    read = signal[~np.isnan(signal)]
    return float(log_odds(read).std()) if len(read) else 0.0


def _auc(signal: Floats, correct: Bools) -> float | None:
    value = float(scores.auc(tally(Rows.of(signal, correct))))
    return None if np.isnan(value) else value


def _groups(rows: SignalRows, judged: Judged) -> dict[str, dict[str, Any]]:
    """Rows, right answers and mean confidence of each kind of question, where rows name theirs."""
    kept = [row for row, seen in zip(rows.rows, judged.rows, strict=True) if seen]
    by_group: dict[str, list[tuple[bool, float]]] = {}
    for row, confidence in zip(kept, judged.confidence.tolist(), strict=True):
        if row.group is not None:
            by_group.setdefault(row.group, []).append((bool(row.correct), confidence))
    return {name: _group(of) for name, of in sorted(by_group.items())}


def _group(of: list[tuple[bool, float]]) -> dict[str, Any]:
    stated = [confidence for _, confidence in of if not np.isnan(confidence)]
    right = sum(correct for correct, _ in of) / len(of)
    return {"rows": len(of), "right": right, "confidence": float(np.mean(stated)) if stated else None}
