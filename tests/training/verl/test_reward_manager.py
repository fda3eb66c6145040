"""Through verl's own loader, on real DataProtos: what verl will do with our manager."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from demur_training import recipes
from demur_training.base_model import end_tokens

LIMIT, BUFFER = 60, 20
Score = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def model(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose generation configuration lists a second end token."""
    folder = Path(shutil.copytree(tiny_model, tmp_path_factory.mktemp("two_ends") / "model"))
    path = folder / "generation_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "eos_token_id": [2, 0]}))
    return folder


@pytest.fixture(scope="module")
def tokenizer(model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model)


@pytest.fixture(scope="module")
def score(model: Path, tokenizer: Any) -> Score:
    """Score one response, given as text and end token or as token ids, under a recipe."""
    from verl.trainer.ppo.reward import load_reward_manager

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # verl's manager keeps the loop it is made in
    managers: dict[tuple[str, ...], Any] = {}

    def run(
        response: str | list[int], end: int | None = 2, recipe: str = "confidence-brier", **row: Any
    ) -> dict[str, Any]:
        overrides = (
            f"actor_rollout_ref.model.path={model}",
            f"data.max_response_length={LIMIT}",
            f"reward.reward_kwargs.overlong_buffer_cfg.len={BUFFER}",
            f"actor_rollout_ref.rollout.max_model_len={row.pop('context', 'null')}",
        )
        key = (recipe, *overrides)
        if key not in managers:
            managers[key] = load_reward_manager(recipes.compose(recipe, "4x8", overrides), tokenizer)
        ids = response if isinstance(response, list) else tokenizer.encode(response)
        return loop.run_until_complete(managers[key].run_single(batch(ids + ([end] if end is not None else []), **row)))

    yield run
    for manager in managers.values():
        manager.close()
    asyncio.set_event_loop(None)
    loop.close()


def batch(response: list[int], prompt: int = 5, padding: int = 0, **info: Any) -> Any:
    """One output as verl's agent loop hands it to a reward manager, padded on the right."""
    import numpy as np
    import torch
    from tensordict import TensorDict
    from verl import DataProto

    ids = torch.tensor([[7] * prompt + response + [7] * padding])  # what pads may be a token like any other
    mask = torch.ones_like(ids)
    mask[:, ids.shape[1] - padding :] = 0
    tensors = {
        "prompts": ids[:, :prompt],
        "responses": ids[:, prompt:],
        "input_ids": ids,
        "attention_mask": mask,
        "position_ids": torch.arange(ids.shape[1])[None],
    }
    row = {"data_source": "toy", "reward_model": {"ground_truth": "1/2", "style": "rule"}, "extra_info": info}
    columns = {key: np.fromiter([value], dtype=object, count=1) for key, value in row.items()}
    return DataProto(batch=TensorDict(tensors, batch_size=1), non_tensor_batch=columns)


GOOD = "Answer: 0.5\nConfidence: 0.8"


def filler(tokenizer: Any, tokens: int) -> list[int]:
    """A good response with thoughts before it, exactly so many tokens long."""
    tail = tokenizer.encode("\n" + GOOD)
    return tokenizer.encode("x" * 200)[:1] * (tokens - len(tail)) + tail


def test_a_right_answer_is_graded_as_mathematics_and_scored(score: Score) -> None:
    result = score(GOOD)
    figures = result["reward_extra_info"]
    assert result["reward_score"] == pytest.approx(2 * 0.8 - 0.64)
    assert (figures["valid"], figures["confidence"], figures["overlong"]) == (1.0, 0.8, 0.0)


@pytest.mark.parametrize("end", [2, 0])
def test_every_end_token_of_the_generation_configuration_ends_an_output(score: Score, tokenizer: Any, end: int) -> None:
    result = score(filler(tokenizer, LIMIT - 1), end)
    assert result["reward_extra_info"]["overlong"] == 0.0
    assert result["reward_extra_info"]["valid"] == 1.0


def test_an_output_cut_at_the_limit_abstains_and_is_punished_once(score: Score, tokenizer: Any) -> None:
    result = score(filler(tokenizer, LIMIT), None)
    figures = result["reward_extra_info"]
    assert (figures["overlong"], figures["confidence"], figures["valid"]) == (1.0, None, 0.0)
    assert figures["score"] == 0.0
    assert result["reward_score"] == -1.0


def test_a_violation_that_was_cut_is_overlong_and_no_violation(score: Score, tokenizer: Any) -> None:
    cut = tokenizer.encode("z" * 400)[:LIMIT]
    assert score(cut, None)["reward_score"] == -1.0
    assert score(cut[:20], 2)["reward_score"] == -1.0
    assert score(cut, None)["reward_extra_info"]["overlong"] == 1.0
    assert score(cut[:20], 2)["reward_extra_info"]["overlong"] == 0.0


def test_the_soft_punishment_grows_inside_the_buffer(score: Score, tokenizer: Any) -> None:
    result = score(filler(tokenizer, LIMIT - BUFFER // 2 - 1))  # and one end token
    assert result["reward_extra_info"]["overlong_penalty"] == pytest.approx(-0.5)
    assert result["reward_score"] == pytest.approx(0.96 - 0.5)


def test_a_full_context_cuts_before_the_response_limit(score: Score, tokenizer: Any) -> None:
    cut = tokenizer.encode("z" * 400)[:30]
    assert score(cut, None, context=35)["reward_extra_info"]["overlong"] == 1.0
    assert score(cut, None, context=90)["reward_extra_info"]["overlong"] == 0.0


def test_an_empty_output_is_a_violation(score: Score) -> None:
    assert score([], 2)["reward_score"] == -1.0


def test_explicit_risk_reads_the_threshold_of_the_row(score: Score) -> None:
    def at(text: str) -> float:
        return score(text, recipe="explicit-risk", risk_threshold=0.75)["reward_score"]

    assert (at("Answer: 0.5"), at("Answer: <IDK>"), at("Answer: 7")) == (1.0, 0.0, -3.0)


def test_padding_after_the_end_is_no_part_of_the_output(score: Score) -> None:
    assert score(GOOD, padding=30) == score(GOOD)


def test_a_decoupled_recipe_is_told_where_the_confidence_begins(score: Score, tokenizer: Any) -> None:
    ids = filler(tokenizer, 30)
    figures = score(ids, recipe="confidence-decoupled")["reward_extra_info"]
    before = tokenizer.decode(ids[: figures["confidence_start"]])
    assert before.endswith("Answer: 0.5\nConfidence:")
    assert score("no form", recipe="confidence-decoupled")["reward_extra_info"]["confidence_start"] is None
    assert (
        score(filler(tokenizer, LIMIT), None, "confidence-decoupled")["reward_extra_info"]["confidence_start"] is None
    )
    assert "confidence_start" not in score(ids)["reward_extra_info"]


def test_the_tokenizers_end_token_ends_an_output_whatever_the_generation_configuration_lists(
    model: Path, tokenizer: Any, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(model, tmp_path / "model"))
    path = folder / "generation_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "eos_token_id": 0}))
    assert end_tokens(str(folder), tokenizer) == {0, 2}
    path.unlink()
    assert end_tokens(str(folder), tokenizer) >= {2}
