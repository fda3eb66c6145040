from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demur_training.errors import RecipeError
from demur_training.trl import reward_function

END = 2
RIGHT, WRONG, NONSENSE = "Answer: 4\nConfidence: 0.8", "Answer: 5\nConfidence: 0.8", "four"


def score(recipe: str, texts: list[str], ids: list[list[int]] | None = None, **columns: Any) -> list[float]:
    """Called as TRL calls reward functions: prompts, completions, token ids and the data set's columns, by keyword."""
    reward = reward_function(recipe, end_tokens={END}, max_completion_length=10, overlong_buffer=4)
    return reward(
        prompts=["?"] * len(texts),
        completions=texts,
        completion_ids=ids or [[7, END]] * len(texts),
        answer=columns.pop("answer", ["4"] * len(texts)),
        trainer_state=None,
        **columns,
    )


def test_completions_are_scored_as_verl_would_score_them() -> None:
    assert score("confidence-brier", [RIGHT, WRONG, NONSENSE]) == pytest.approx([0.96, -0.64, -1.0])


@pytest.mark.parametrize("accepted", [["4", "four"], ("5", "4"), np.array([4, 5]), 4, "4"])
def test_any_accepted_answer_is_right(accepted: Any) -> None:
    assert score("confidence-brier", [RIGHT], answer=[accepted]) == pytest.approx([0.96])
    assert score("confidence-brier", [RIGHT.replace("4", "7")], answer=[accepted]) == pytest.approx([-0.64])


def test_conversations_are_scored_by_the_assistants_words() -> None:
    completions: list[Any] = [[{"role": "assistant", "content": RIGHT}]]
    assert score("confidence-brier", completions) == pytest.approx([0.96])


def test_a_completion_without_an_end_abstains_and_is_punished_for_its_length() -> None:
    ids = [[7] * 10, [7] * 7 + [END], [7] * 2]
    assert score("confidence-brier", [RIGHT, RIGHT, RIGHT], ids) == pytest.approx([-1.0, 0.96 - 0.5, 0.0])
    assert score("confidence-brier", [NONSENSE], [[7] * 2]) == [0.0]  # cut off comes before badly formed


def test_explicit_risk_takes_the_threshold_from_its_column() -> None:
    texts = ["Answer: 4", "Answer: <IDK>", "Answer: 5"]
    assert score("explicit-risk", texts, risk_threshold=[0.5, 0.5, 0.8]) == pytest.approx([1.0, 0.0, -4.0])


def test_an_unknown_recipe_is_refused() -> None:
    with pytest.raises(RecipeError, match="did you mean confidence-brier"):
        reward_function("confidence-brie", end_tokens={END}, max_completion_length=10)


def test_trl_trains_with_it(tiny_model: Path, tmp_path: Path) -> None:
    import trl
    from datasets import Dataset

    asked = [{"prompt": [{"role": "user", "content": f"What is {i}+{i}?"}], "answer": str(2 * i)} for i in range(4)]
    trainer = trl.GRPOTrainer(
        model=str(tiny_model),
        reward_funcs=reward_function("confidence-brier", end_tokens={END}, max_completion_length=8),
        train_dataset=Dataset.from_list(asked),
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=1,
            num_generations=2,
            per_device_train_batch_size=2,
            max_completion_length=8,
            use_cpu=True,
            report_to=[],
            bf16=False,
        ),
    )
    trainer.train()
    assert any("rewards/confidence-brier/mean" in row for row in trainer.state.log_history)
