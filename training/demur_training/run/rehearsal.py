"""Rehearsal: the longest step that a run can have, before the run.

What does not fit fails at the first batch of long outputs, which may be hours away. A rehearsal takes the longest
prompts there are, lets every output run to its limit, updates both models, and does that once more: the moments of
Adam exist after the first update only, and from then on lie beside everything else. Memory and time of a step are then
known as upper bounds.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from demur_training.base_model import load_tokenizer
from demur_training.checks import preflight
from demur_training.data.preparation import write_parquet
from demur_training.errors import RecipeError
from demur_training.run.training_metrics import read_log

FOLDER = "rehearsal"
STEPS = 2
SETTINGS: Mapping[str, Any] = {
    "trainer.total_training_steps": STEPS,
    "trainer.critic_warmup": 0,  # both models are updated from the first step on
    "trainer.save_freq": -1,
    "trainer.test_freq": -1,
    "trainer.val_before_train": False,
    "trainer.resume_mode": "disable",
    "trainer.logger": ["console"],
    "actor_rollout_ref.rollout.ignore_eos": True,
}


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What one step at its longest took: questions, seconds, tokens of an output, GiB reserved on the first device
    (None on a CPU or where verl does not say), and the steps that the run will have."""

    questions: int
    seconds: float
    output_tokens: float
    reserved_gib: float | None
    steps: int | None

    def sentences(self) -> list[str]:
        """For a terminal."""
        memory = "" if self.reserved_gib is None else f", and {self.reserved_gib:.1f} GiB on a device while it trains"
        asked = f"{self.questions} questions whose outputs all have {self.output_tokens:.0f} tokens"
        said = [f"a step of {asked} took {self.seconds:.0f} s{memory}"]
        if self.steps:
            hours = self.steps * self.seconds / 3600
            such = f"{self.steps} such steps, of {self.questions} questions each"
            said.append(f"{such}, take at most {hours:.1f} h, validation and checkpoints aside")
        return said


def prepare(config: DictConfig) -> DictConfig:
    """The configuration of the rehearsal, and its questions in the folder `rehearsal` of the run's. Raises
    TrainingError."""
    if config.demur.loop != "verl":
        raise RecipeError(f"{config.demur.recipe} trains one device by a loop of its own: there is nothing to rehearse")
    folder = Path(config.trainer.default_local_dir).absolute() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    questions = folder / "longest.parquet"
    write_parquet(questions, longest(config))
    rehearsed = copy.deepcopy(config)
    for key, value in SETTINGS.items():
        OmegaConf.update(rehearsed, key, value)
    rehearsed.trainer.default_local_dir = str(folder)
    rehearsed.data.train_files = rehearsed.data.val_files = [str(questions)]
    (folder / "metrics.jsonl").unlink(missing_ok=True)
    return rehearsed


def longest(config: DictConfig) -> list[dict[str, Any]]:
    """The questions of one batch with the longest prompts that are not left out, for each step. Raises
    TrainingError."""
    named = config.data.train_files
    files = [named] if isinstance(named, str) else named
    tokenizer = load_tokenizer(config.actor_rollout_ref.model.path)
    rows = [row for name in files for row in preflight.read_rows(name, "train_files")]
    lengths = list(preflight.prompt_lengths(rows, tokenizer))
    return STEPS * _longest(rows, lengths, config.data.max_prompt_length, config.data.train_batch_size)


def _longest(rows: Sequence[dict[str, Any]], lengths: Sequence[int], limit: int, count: int) -> list[dict[str, Any]]:
    fitting = [i for i, length in enumerate(lengths) if length <= limit]
    chosen = sorted(fitting, key=lambda i: lengths[i], reverse=True)[:count]
    return [rows[i] for i in chosen]


def outcome(config: DictConfig, rehearsed: DictConfig) -> Rehearsal:
    """What the rehearsal's log says of its last step. Raises RecipeError where that is not there."""
    log = read_log(Path(rehearsed.trainer.default_local_dir) / "metrics.jsonl")
    rows = [row for row in log if row["step"] == STEPS]
    if not rows:
        raise RecipeError(f"the rehearsal did not get through its {STEPS} steps: what it printed says why")
    memory = [value for key, value in rows[-1].items() if key.endswith("max_memory_reserved_gb") and value > 0]
    return Rehearsal(
        config.data.train_batch_size,
        rows[-1]["timing_s/step"],
        rows[-1]["response_length/max"],
        max(memory, default=None),
        config.trainer.total_training_steps,
    )
