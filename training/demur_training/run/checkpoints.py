"""verl's checkpoints: which are whole, which one a run resumes from."""

import json
import re
from pathlib import Path

from demur_training.errors import CheckpointError

TRACKER = "latest_checkpointed_iteration.txt"
ROLES = ("actor", "critic")
PLAIN = "model"
"""A checkpoint of the exact loop: the model as transformers saves it, and then the state of the run."""
PLAIN_STATE = "state.pt"


def steps(run: Path) -> list[int]:
    """The steps a run has checkpoint folders for, in order, whole or not."""
    found = (re.fullmatch(r"global_step_(\d+)", path.name) for path in run.glob("global_step_*"))
    return sorted(int(match[1]) for match in found if match)


def problem(checkpoint: Path) -> str | None:
    """Why a checkpoint cannot be used, None when it is whole.

    The critic may be absent (GRPO has none). verl writes `data.pt` last.
    """
    if (checkpoint / PLAIN).is_dir():
        return None if (checkpoint / PLAIN_STATE).is_file() else f"{checkpoint} is half written: no {PLAIN_STATE}"
    if not (checkpoint / "actor").is_dir():
        return f"{checkpoint} is no checkpoint: it has no actor folder"
    if not (checkpoint / "data.pt").is_file():
        return f"{checkpoint} is half written: data.pt is missing"
    present = (checkpoint / role for role in ROLES if (checkpoint / role).is_dir())
    return next((why for why in map(_shards_missing, present) if why), None)


def require_whole(checkpoint: Path) -> None:
    """Raise CheckpointError for a checkpoint that is missing or half written."""
    if not checkpoint.is_dir():
        raise CheckpointError(f"no such checkpoint: {checkpoint}")
    why = problem(checkpoint)
    if why:
        raise CheckpointError(why)


def latest(run: Path) -> Path | None:
    """The newest whole checkpoint of a run."""
    whole = (run / f"global_step_{step}" for step in reversed(steps(run)))
    return next((path for path in whole if problem(path) is None), None)


def repair_tracker(run: Path) -> str | None:
    """Point verl's tracker file at the newest whole checkpoint; returns what was done, None when nothing was.

    A kill can leave the tracker empty, or pointing at a folder somebody cut short.
    """
    tracker = run / TRACKER
    if not tracker.exists():
        return None
    text = tracker.read_text().strip()
    if text.isdigit() and problem(run / f"global_step_{text}") is None:
        return None
    newest = latest(run)
    if newest is None:
        tracker.unlink()
        return f"no whole checkpoint in {run}: starting from the beginning"
    tracker.write_text(newest.name.removeprefix("global_step_"))
    return f"the last checkpoint in {run} is not whole: resuming from {newest.name}"


def _shards_missing(folder: Path) -> str | None:
    description = folder / "fsdp_config.json"
    if not description.is_file():
        return f"{folder} is half written: {description.name} is missing"
    ranks = range(json.loads(description.read_text())["world_size"])
    names = [f"{kind}_world_size_{len(ranks)}_rank_{rank}.pt" for kind in ("model", "optim") for rank in ranks]
    missing = [name for name in names if not (folder / name).is_file()]
    return f"{folder} is half written: {missing[0]} is missing" if missing else None
