"""Calibrator files for the servers of tests, as `demur calibrate` would make them of answers that these gave."""

from pathlib import Path
from typing import Any

from demur.calibration.calibrator import Calibrator
from demur.calibration.calibrator_file import sealed, write
from demur.calibration.matching import OWN

MADE = "2026-11-20T12:00:00Z"
DOUBTS = {"kind": "logistic", "intercept": -1.0, "weights": [0.5], "missing": [0.0]}
"""Turns a stated 0.9 into 0.5246... and a stated 0.5 into 0.2689..."""


def level(max_error: float, threshold: float | None, reason: str = "too few") -> dict[str, Any]:
    counts = {"answered": 200, "wrong": 5, "coverage": 0.4}
    return {
        "max_error": max_error,
        "delta": 0.1,
        "threshold": threshold,
        **(counts if threshold is not None else {"answered": 0, "wrong": 0, "coverage": 0.0}),
        "reason": None if threshold is not None else reason,
    }


def calibrator(conditions: dict[str, Any], fingerprint: str | None = "files:one", **changes: Any) -> Calibrator:
    """For answers drawn under `conditions` by the model of `fingerprint`; `changes` are other fields of the file."""
    own = {name: conditions[name] for name in OWN if name in conditions}
    fields = {
        "parent": None,
        "made": MADE,
        "model": {"name": "demur-test", "fingerprint": fingerprint},
        "level": conditions.get("granularity", "response"),
        **own,
        "questions": "sums about eggs",
        "sampling": {name: value for name, value in conditions.items() if name not in OWN},
        "signals": ["verbalized"],
        "map": DOUBTS,
        "rows": 500,
        "problems": 500,
        "before": {"auc": {"value": 0.7, "low": 0.6, "high": 0.8}},
        "after": {"auc": {"value": 0.8, "low": 0.7, "high": 0.9}},
        "certification": {
            "mode": "split",
            "exact": True,
            "rows": 300,
            "delta": 0.1,
            "simultaneous": False,
            "look": 0,
            "seed": 0,
        },
        "guarantees": [level(0.05, None), level(0.1, 0.5), level(0.2, 0.3)],
        "smallest_max_error": 0.08,
        "groups": {},
    }
    return sealed(fields | changes)


def file(path: Path, conditions: dict[str, Any], **changes: Any) -> Path:
    write(path, calibrator(conditions, **changes))
    return path
