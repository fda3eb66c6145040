"""Which checkpoints of a run stay on disk: the newest, and the one whose validation reward was highest.

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


def prune(run: Path, keep: int | None) -> list[int]:
    """Remove what is neither among the newest `keep` whole checkpoints nor the best; returns the steps removed.

    None and 0 keep everything. What is newer than the newest whole checkpoint is left to whoever is writing it.
    """
    whole = [step for step in checkpoints.steps(run) if checkpoints.problem(_folder(run, step)) is None]
    if not keep or not whole:
        return []
    kept = {*whole[-keep:], best(run)}
    surplus = [step for step in checkpoints.steps(run) if step not in kept and step < whole[-1]]
    for step in surplus:
        shutil.rmtree(_folder(run, step))
    return surplus


def best(run: Path) -> int | None:
    """The step of the whole checkpoint with the highest validation reward, the earliest of equals; None where no
    checkpoint was validated."""
    logged = ((int(row["step"]), _reward(row)) for row in read_log(run / "metrics.jsonl"))
    rewards = {step: reward for step, reward in logged if reward is not None}
    whole = [step for step in checkpoints.steps(run) if checkpoints.problem(_folder(run, step)) is None]
    return max((step for step in whole if step in rewards), key=lambda step: rewards[step], default=None)


def _reward(row: Mapping[str, float]) -> float | None:
    """The mean over the validation sets; each counts alike."""
    before, after = REWARD.split("{source}")
    found = [value for key, value in row.items() if key.startswith(before) and key.endswith(after)]
    return fmean(found) if found else None


def _folder(run: Path, step: int) -> Path:
    return run / f"global_step_{step}"
