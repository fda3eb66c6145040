"""The longest step that a run can have: which questions it asks, and what it says."""

from pathlib import Path

import pytest

from demur_training import recipes
from demur_training.data.preparation import DataSettings, write
from demur_training.data.rows import read_file
from demur_training.errors import RecipeError
from demur_training.run import rehearsal
from demur_training.run.training_metrics import RunLog


def compose(model: Path, folder: Path, *overrides: str, recipe: str = "confidence-brier"):
    rows = [{"question": f"What is {i} + 1? {'Take care. ' * (i % 50)}", "answer": str(i + 1)} for i in range(120)]
    write(rows, "sums", DataSettings("response", val_size=20), folder)
    paths = [f"actor_rollout_ref.model.path={model}", f"trainer.default_local_dir={folder / 'run'}"]
    files = [f"data.{kind}_files=[{folder / kind}.parquet]" for kind in ("train", "val")]
    return recipes.compose(recipe, "cpu-smoke", [*paths, *files, *overrides])


def test_the_longest_prompts_that_are_not_left_out_are_asked(tiny_model: Path, tmp_path: Path) -> None:
    config = compose(tiny_model, tmp_path, "data.train_batch_size=16", "data.max_prompt_length=190")
    rehearsed = rehearsal.prepare(config)
    from demur_training.base_model import load_tokenizer
    from demur_training.checks.preflight import prompt_lengths

    tokenizer = load_tokenizer(str(tiny_model))
    rows = list(read_file(tmp_path / "train.parquet"))
    fitting = sorted((n for n in prompt_lengths(rows, tokenizer) if n <= 190), reverse=True)
    asked = list(read_file(tmp_path / "run" / "rehearsal" / "longest.parquet"))
    assert list(prompt_lengths(asked, tokenizer)) == 2 * fitting[:16]  # a batch for each step
    assert len(fitting) < len(rows)
    assert rehearsed.actor_rollout_ref.rollout.ignore_eos
    assert rehearsed.trainer.total_training_steps == 2  # the second has the optimisers' moments beside it
    assert rehearsed.trainer.critic_warmup == 0
    assert config.trainer.total_training_steps != 2  # the run's own is as it was


def test_a_rehearsal_leaves_the_run_alone(tiny_model: Path, tmp_path: Path) -> None:
    rehearsed = rehearsal.prepare(compose(tiny_model, tmp_path))
    assert Path(rehearsed.trainer.default_local_dir) == tmp_path / "run" / "rehearsal"
    assert rehearsed.trainer.save_freq == rehearsed.trainer.test_freq == -1


def test_what_a_step_took_is_said_as_an_upper_bound(tiny_model: Path, tmp_path: Path) -> None:
    config = compose(tiny_model, tmp_path, "trainer.total_training_steps=60", "data.train_batch_size=16")
    rehearsed = rehearsal.prepare(config)
    log = RunLog(Path(rehearsed.trainer.default_local_dir) / "metrics.jsonl")
    figures = {"timing_s/step": 300.0, "response_length/max": 32, "actor/perf/max_memory_reserved_gb": 53.0}
    log.append(1, figures)
    with pytest.raises(RecipeError, match="did not get through its 2 steps"):
        rehearsal.outcome(config, rehearsed)
    log.append(2, figures | {"timing_s/step": 360.0, "actor/perf/max_memory_reserved_gb": 61.25})
    said = rehearsal.outcome(config, rehearsed).sentences()
    assert said == [
        "a step of 16 questions whose outputs all have 32 tokens took 360 s, and 61.2 GiB on a device while it trains",
        "60 such steps, of 16 questions each, take at most 6.0 h, validation and checkpoints aside",
    ]


def test_the_loop_of_the_exact_form_has_no_rehearsal(tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="nothing to rehearse"):
        rehearsal.prepare(compose(tiny_model, tmp_path, recipe="confidence-exact"))
