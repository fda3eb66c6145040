"""A calibrator over rows: the same rows with their confidence replaced."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from demur.calibration.calibrator import Calibrator
from demur.calibration.errors import CalibrationError
from demur.calibration.graded_source import read_source
from demur.calibration.rows import SignalRows, read_signal_rows
from demur.calibration.votes import Voting
from demur.evaluation.run_manifest import read_manifest
from demur.named_file import shown


def rows_for(calibrator: Calibrator, place: Path) -> SignalRows:
    """The rows of a file or a run's folder that this calibrator may be applied to: those of its level.

    Raises CalibrationError for a run of another model or contract, and where no row is of its level or has a signal
    that it takes.
    """
    if place.is_dir():
        source = read_source(place, calibrator.level, _voting(calibrator, place))
        _check_same(calibrator, source.model or {}, source.asked.get("contract"), place)
        rows = source.rows
    else:
        rows = read_signal_rows(place, calibrator.level, calibrator.signals[0], graded=False)
    if not rows.rows:
        raise CalibrationError(f"{shown(place)}: no row is of the calibrator's level, {calibrator.level}")
    if np.isnan(rows.values(calibrator.signals)).all():
        raise CalibrationError(
            f"{shown(place)}: no row has a signal that the calibrator takes ({', '.join(calibrator.signals)});"
            f" the rows have {', '.join(rows.signals) or 'none'}"
        )
    return rows


def applied(calibrator: Calibrator, rows: SignalRows) -> Iterator[dict[str, Any]]:
    """Each row as it came, its confidence replaced by the calibrated one and kept as `raw_confidence`; null where every
    signal that counts is missing."""
    confidence = calibrator.confidence(rows.values(calibrator.signals))
    for row, p in zip(rows.rows, confidence.tolist(), strict=True):
        raw = row.record.get("confidence", row.signals.get(calibrator.signals[0]))
        yield {**row.record, "confidence": None if np.isnan(p) else p, "raw_confidence": raw}


def _check_same(calibrator: Calibrator, model: Mapping[str, str | None], contract: str | None, place: Path) -> None:
    if calibrator.model is None:
        return
    ours, theirs = calibrator.model.fingerprint, model.get("fingerprint")
    if None not in (ours, theirs) and ours != theirs:
        raise CalibrationError(
            f"{shown(place)}: the answers are of another model: its fingerprint is {theirs}, the calibrator's is"
            f" {ours} ({calibrator.model.name}); make one for this model with demur calibrate"
        )
    if None not in (calibrator.contract, contract) and calibrator.contract != contract:
        raise CalibrationError(
            f"{shown(place)}: the answers were asked for with contract {contract}, the calibrator is for"
            f" {calibrator.contract}"
        )


def _voting(calibrator: Calibrator, place: Path) -> Voting | None:
    """The vote that the calibrator is for, where the run holds the samples to replay it."""
    plan, sampling = read_manifest(place).get("plan"), calibrator.sampling
    samples, selection = sampling.get("samples"), sampling.get("selection")
    if not isinstance(plan, dict) or cast("dict[str, Any]", plan).get("selection") is not None:
        return None
    if not (isinstance(samples, int) and isinstance(selection, str)) or sampling.get("stopping") != "none":
        return None
    return Voting(samples, selection) if samples > 1 else None
