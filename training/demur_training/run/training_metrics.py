"""What to look at while a run goes on: the calibration figures of a batch, kept step by step."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from demur.core.metrics import METRICS, Rows, tally

OutputInfos = Sequence[Mapping[str, Any]]
"""What the reward manager noted about each output of a batch; `question` is the same for all samples of one."""

SHARES = {"accuracy": "valid", "format": "format", "overlong": "overlong", "abstained": "abstained"}
CALIBRATION = ("snr_gain", "auc", "smece", "brier")


def summarise(outputs: OutputInfos, *, calibration: bool = False) -> dict[str, float]:
    """Shares, mean and spread of the stated confidences, and with `calibration` the paper's figures.

    Confidence figures are over the outputs that state one; a figure that is undefined on this batch is left out.
    """
    if not outputs:
        return {}
    summary = {name: float(np.mean([o[key] for o in outputs])) for name, key in SHARES.items()}
    summary["overlong_penalty"] = float(np.mean([o.get("overlong_penalty", 0.0) for o in outputs]))
    summary |= _alike(outputs)
    stated = [o for o in outputs if o["confidence"] is not None]
    if not stated:
        return summary
    confidence = np.array([o["confidence"] for o in stated])
    summary |= {"confidence": float(confidence.mean()), "confidence_spread": float(confidence.std())}
    if calibration:
        counts = tally(Rows.of(confidence, [bool(o["valid"]) for o in stated]))
        figures = {name: float(METRICS[name].compute(counts)) for name in CALIBRATION}
        summary |= {name: value for name, value in figures.items() if np.isfinite(value)}
    return summary


def _alike(outputs: OutputInfos) -> dict[str, float]:
    """The share of questions whose samples all earned the same, of those with several samples."""
    scores: dict[Any, list[float]] = {}
    for output in outputs:
        if "question" in output:
            scores.setdefault(output["question"], []).append(output["score"])
    groups = [group for group in scores.values() if len(group) > 1]
    return {"groups_alike": float(np.mean([len(set(group)) == 1 for group in groups]))} if groups else {}


class RunLog:
    """The figures of every step as JSON lines, kept across a kill and a resume: verl's own file logger starts anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def rewind(self, step: int) -> None:
        """Forget what comes after `step`: those steps are about to be done again."""
        kept = [row for row in read_log(self._path) if row["step"] <= step]
        self._path.write_text("".join(json.dumps(row) + "\n" for row in kept))

    def append(self, step: int, figures: Mapping[str, Any]) -> None:
        """Add one step; what is no number is left out."""
        numbers = {key: value for key in figures if (value := _number(figures[key])) is not None}
        with self._path.open("a") as file:
            file.write(json.dumps({"step": step, **numbers}) + "\n")


def read_log(path: Path) -> list[dict[str, float]]:
    """The rows of a run's log; a last line that a kill cut short is left out."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


def one_line(step: int, total: int, figures: Mapping[str, Any]) -> str:
    """What a person wants to see of a step."""
    wanted = {
        "reward": "critic/score/mean",
        "accuracy": "calibration/accuracy",
        "confidence": "calibration/confidence",
        "spread": "calibration/confidence_spread",
        "format": "calibration/format",
        "overlong": "calibration/overlong",
        "seconds": "timing_s/step",
    }
    shown = [f"{name} {float(figures[key]):.3f}" for name, key in wanted.items() if key in figures]
    return f"step {step}/{total}  " + "  ".join(shown)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) else None
