from pathlib import Path
from typing import Any

import pytest
import torch

from demur import prompts
from demur_training import recipes
from demur_training.data.preparation import DataSettings, write


@pytest.fixture
def create(tiny_model: Path, tmp_path: Path) -> Any:
    """Write a few questions for a recipe and read them back through verl's own loader."""
    from verl.trainer.ppo.utils import create_rl_dataset
    from verl.utils.tokenizer import hf_tokenizer

    def make(recipe: str, split: str) -> Any:
        rows = [{"question": f"What is {i}+{i}?", "answer": str(2 * i)} for i in range(20)]
        write(rows, "sums", DataSettings(recipes.settings_of(recipe)["contract"]), tmp_path / recipe)
        config = recipes.compose(recipe, "cpu-smoke", [f"actor_rollout_ref.model.path={tiny_model}"])
        files = [str(tmp_path / recipe / f"{split}.parquet")]
        return create_rl_dataset(files, config.data, hf_tokenizer(str(tiny_model)), None, is_train=split == "train")

    return make


def test_a_training_question_gets_a_new_threshold_at_every_reading(create: Any) -> None:
    dataset = create("explicit-risk", "train")
    torch.manual_seed(0)
    readings = [dataset[0] for _ in range(200)]
    thresholds = {row["extra_info"]["risk_threshold"] for row in readings}
    assert len(thresholds) > 60
    assert thresholds <= {i / 100 for i in range(100)}
    for row in readings:
        t, question = row["extra_info"]["risk_threshold"], row["extra_info"]["question"]
        assert row["raw_prompt"] == prompts.messages(question, "explicit_risk", domain="maths", risk_threshold=t)


def test_the_same_seed_draws_the_same_thresholds(create: Any) -> None:
    dataset = create("explicit-risk", "train")

    def draw() -> list[float]:
        torch.manual_seed(7)
        return [dataset[i]["extra_info"]["risk_threshold"] for i in range(5)]

    assert draw() == draw()


@pytest.mark.parametrize(("recipe", "split"), [("explicit-risk", "val"), ("confidence-brier", "train")])
def test_other_rows_stay_as_they_were_written(recipe: str, split: str, create: Any) -> None:
    dataset = create(recipe, split)
    assert dataset[0]["raw_prompt"] == dataset[0]["prompt"]
    assert len({dataset[0]["extra_info"].get("risk_threshold") for _ in range(20)}) == 1
