"""Our trainer around verl's: what it saves and removes, and how many steps it takes."""

from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

from demur_training import recipes
from demur_training.data.preparation import DataSettings, write
from demur_training.run import checkpoints
from verl_checkpoint import write_checkpoint, write_role

# verl says which engines are not installed
pytestmark = pytest.mark.filterwarnings("ignore:.* engine is not available:UserWarning")


class Workers:
    """Stands for the processes that hold a model."""

    def __init__(self) -> None:
        self.rotation: list[int | None] = []

    def save_checkpoint(self, local: str, remote: str | None, step: int, max_ckpt_to_keep: int | None = None) -> None:
        self.rotation.append(max_ckpt_to_keep)
        write_role(Path(local))


class Loader:
    """Stands for the training data's loader."""

    def state_dict(self) -> dict[str, Any]:
        return {}


def compose(model: Path, run: Path, *overrides: str, recipe: str = "confidence-brier") -> DictConfig:
    paths = [f"actor_rollout_ref.model.path={model}", f"trainer.default_local_dir={run}"]
    config = recipes.compose(recipe, "cpu-smoke", [*paths, *overrides])
    OmegaConf.resolve(config)  # as the task runner does
    return config


def saving(config: DictConfig, *steps: int) -> Workers:
    """A process of a run that saves at these steps."""
    from demur_training.verl.trainer import CalibrationTrainer  # Ray warns while it is imported

    trainer: Any = CalibrationTrainer(config)  # pyright: ignore[reportAbstractUsage]  (verl's decorator hides it)
    trainer.actor_rollout_wg = trainer.critic_wg = workers = Workers()
    trainer.train_dataloader = Loader()
    for trainer.global_steps in steps:
        trainer._save_checkpoint()
    return workers


def test_a_run_that_is_resumed_twice_leaves_as_little_as_one_that_never_stopped(
    tiny_model: Path, tmp_path: Path
) -> None:
    for steps in ((10, 20), (30, 40), (50,)):
        workers = saving(compose(tiny_model, tmp_path), *steps)
        assert set(workers.rotation) == {None}  # verl's own would remove the best, and forgets between starts
    assert checkpoints.steps(tmp_path) == [40, 50]
    assert all((tmp_path / f"global_step_{step}" / role).is_dir() for step in (40, 50) for role in checkpoints.ROLES)


def test_the_number_that_stays_is_the_users(tiny_model: Path, tmp_path: Path) -> None:
    write_checkpoint(tmp_path, 5)
    saving(compose(tiny_model, tmp_path, "trainer.max_actor_ckpt_to_keep=3"), 10, 20, 30)
    assert checkpoints.steps(tmp_path) == [10, 20, 30]


@pytest.mark.parametrize(
    ("overrides", "steps"),
    [
        ([], 60),
        (["trainer.total_training_steps=null"], 70),
        (["trainer.total_training_steps=null", "trainer.total_epochs=3"], 21),
        (["trainer.total_epochs=2"], 14),  # less than 60: the last step has to be known as such
        (["trainer.total_training_steps=9"], 9),
    ],
)
def test_a_run_ends_where_the_papers_does_unless_the_user_says_otherwise(
    overrides: list[str], steps: int, tiny_model: Path, tmp_path: Path
) -> None:
    from demur_training.verl.trainer import CalibrationTrainer

    rows = [{"question": f"What is {i}+{i}?", "answer": str(2 * i)} for i in range(130)]
    write(rows, "sums", DataSettings("response"), tmp_path)
    files = [f"data.{key}_files=[{tmp_path / f'{key}.parquet'}]" for key in ("train", "val")]
    config = compose(tiny_model, tmp_path / "run", *files, "data.train_batch_size=16", *overrides)
    trainer: Any = CalibrationTrainer(config)  # pyright: ignore[reportAbstractUsage]
    trainer._init_tokenizer()
    trainer._init_dataloader()
    assert (len(trainer.train_dataset), trainer.steps_per_epoch, trainer.total_training_steps) == (117, 7, steps)
    assert trainer.train_dataset.filter_overlong_prompts
    assert trainer.train_dataset.truncation == "error"  # a prompt is never cut: it is left out, or ends the run
