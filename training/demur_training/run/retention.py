"""Which checkpoints of a run stay on disk: the newest, and the best by each figure of the validation.

verl's own rotation knows only what the present process saved, so that every resume would leave two checkpoints behind
for good, and it removes the best like any other. Our loops turn it off and call `prune` after each save.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from demur_training.run import checkpoints
from demur_training.run.training_metrics import read_log

REWARD = "val-core/{source}/reward/mean@1"
"""The mean validation reward of one data set, as verl names it."""
SMECE = "val-calibration/{source}/smece"
"""The smooth calibration error of one data set (arXiv:2309.12236), as our trainers name it."""

FIGURES: Mapping[str, tuple[str, int]] = {"reward": (REWARD, 1), "smece": (SMECE, -1)}
"""The name of a figure in the log, and 1 where high is good, -1 where low is."""


def prune(run: Path, keep: int | None) -> list[int]:
    """Remove what is neither among the newest `keep` whole checkpoints nor the best; returns the steps removed.

    None and 0 keep everything. What is newer than the newest whole checkpoint is left to whoever is writing it.
    """
    whole = [step for step in checkpoints.steps(run) if checkpoints.problem(_folder(run, step)) is None]
    if not keep or not whole:
        return []
    kept = {*whole[-keep:], *(best(run, figure) for figure in FIGURES)}
    surplus = [step for step in checkpoints.steps(run) if step not in kept and step < whole[-1]]
    for step in surplus:
        shutil.rmtree(_folder(run, step))
    return surplus


def best(run: Path, figure: str = "reward") -> int | None:
    """The step of the whole checkpoint with the best of one of FIGURES, the earliest of equals; None where none was
    validated. The best smECE alone may be that of a model that states the same to everything."""
    name, sign = FIGURES[figure]
    logged = ((int(row["step"]), _mean(row, name)) for row in read_log(run / "metrics.jsonl"))
    values = {step: sign * value for step, value in logged if value is not None}
    whole = [step for step in checkpoints.steps(run) if checkpoints.problem(_folder(run, step)) is None]
    return max((step for step in whole if step in values), key=lambda step: values[step], default=None)


def _mean(row: Mapping[str, float], name: str) -> float | None:
    """The mean over the validation sets; each counts alike."""
    before, after = name.split("{source}")
    found = [value for key, value in row.items() if key.startswith(before) and key.endswith(after)]
    return fmean(found) if found else None


def _folder(run: Path, step: int) -> Path:
    return run / f"global_step_{step}"
