"""Draws outputs with transformers and scores them: what the exact form is computed from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from omegaconf import DictConfig

from demur.core.reward_rules import overlong_penalty
from demur.grading import Grader
from demur_training import recipes
from demur_training.base_model import end_tokens
from demur_training.confidence_label import label_end
from demur_training.rewards import Reward, compute_score

GENERATED_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class ScoredSample:
    """One output. `label` counts the response tokens up to and including the confidence's label, None where there is
    no confidence to expect over; `score` is what it earned as it was sampled."""

    prompt: list[int]
    response: list[int]
    reward: Reward
    score: float
    label: int | None


class Sampler:
    """Draws outputs with transformers and scores them."""

    def __init__(self, config: DictConfig, model: Any, tokenizer: Any, grader: Grader) -> None:
        self._config, self._model, self._tokenizer, self._grader = config, model, tokenizer, grader
        self._ends = end_tokens(config.actor_rollout_ref.model.path, tokenizer)
        self._settings = recipes.reward_settings(config)

    def draw(
        self, rows: Sequence[dict[str, Any]], n: int, temperature: float, top_p: float
    ) -> list[list[ScoredSample]]:
        """`n` outputs for each row."""
        asked = [row for row in rows for _ in range(n)]
        texts = [
            self._tokenizer.apply_chat_template(row["prompt"], add_generation_prompt=True, tokenize=False)
            for row in asked
        ]
        prompts = [self._tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
        samples: list[ScoredSample] = []
        for start in range(0, len(asked), GENERATED_AT_ONCE):
            part = slice(start, start + GENERATED_AT_ONCE)
            responses = self._generate(prompts[part], temperature, top_p)
            samples += map(self._score, asked[part], prompts[part], responses)
        return [samples[i : i + n] for i in range(0, len(samples), n)]

    def _generate(self, prompts: list[list[int]], temperature: float, top_p: float) -> list[list[int]]:
        pad, width = self._tokenizer.pad_token_id or 0, max(map(len, prompts))
        ids = torch.tensor([[pad] * (width - len(prompt)) + prompt for prompt in prompts])
        mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts])
        with torch.no_grad():
            drawn = self._model.generate(
                input_ids=ids.to(self._model.device),
                attention_mask=mask.to(self._model.device),
                do_sample=True,
                temperature=temperature,
                top_p=top_p,
                top_k=0,
                max_new_tokens=self._config.data.max_response_length,
                eos_token_id=sorted(self._ends),
                pad_token_id=pad,
            )
        return [self._until_end(row) for row in drawn[:, width:].tolist()]

    def _until_end(self, ids: list[int]) -> list[int]:
        end = next((i for i, token in enumerate(ids) if token in self._ends), None)
        return ids if end is None else ids[: end + 1]

    def _score(self, row: dict[str, Any], prompt: list[int], response: list[int]) -> ScoredSample:
        ended = response[-1] in self._ends
        limit, overlong = self._config.data.max_response_length, self._config.reward.reward_kwargs.overlong_buffer_cfg
        reward = compute_score(
            row["data_source"],
            self._tokenizer.decode(response[:-1] if ended else response, skip_special_tokens=True),
            row["reward_model"]["ground_truth"],
            {**row["extra_info"], "truncated": not ended},
            grade=self._grader.correct,
            **self._settings,
        )
        penalty = overlong_penalty(len(response), limit, overlong.len, overlong.penalty_factor)
        label = label_end(response, self._tokenizer) if reward["confidence"] is not None else None
        return ScoredSample(prompt, response, reward, reward["score"] + penalty, label)
