"""A checkpoint as verl leaves it, with empty files."""

import json
from pathlib import Path

from demur_training.run import checkpoints


def write_checkpoint(run: Path, step: int, roles: tuple[str, ...] = ("actor", "critic"), ranks: int = 2) -> Path:
    """The files verl leaves behind, empty."""
    folder = run / f"global_step_{step}"
    for role in roles:
        write_role(folder / role, ranks)
    (folder / "data.pt").touch()
    (run / checkpoints.TRACKER).write_text(str(step))
    return folder


def write_role(folder: Path, ranks: int = 2) -> None:
    """One model's part of it."""
    folder.mkdir(parents=True)
    (folder / "fsdp_config.json").write_text(json.dumps({"FSDP_version": 2, "world_size": ranks}))
    for kind in ("model", "optim", "extra_state"):
        for rank in range(ranks):
            (folder / f"{kind}_world_size_{ranks}_rank_{rank}.pt").touch()
