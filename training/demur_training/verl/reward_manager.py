"""verl's reward manager for calibration: it sees token ids, so it knows which output was cut off.

Overlong comes before violation before score. The soft overlong punishment (arXiv:2512.19920,
section 4.1) is added once, here.
"""

from dataclasses import dataclass
from typing import Any

from verl import DataProto
from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

from demur.core.reward_rules import overlong_penalty
from demur.grading import Grader
from demur_training.base_model import end_tokens
from demur_training.confidence_label import label_end


@dataclass(frozen=True, slots=True)
class Lengths:
    """Limits in tokens. `context` is prompt and response together, None where the engine sets no limit of its own."""

    limit: int
    buffer: int
    factor: float
    context: int | None = None

    def cut(self, prompt: int, response: int) -> bool:
        """Whether an output of so many tokens, without an end token, ran into a limit."""
        return response >= self.limit or (self.context is not None and prompt + response >= self.context)

    def penalty(self, response: int) -> float:
        """The soft overlong punishment, 0 or below."""
        return overlong_penalty(response, self.limit, self.buffer, self.factor)


class CalibrationRewardManager(RewardManagerBase):
    """Scores one output at a time with our reward function, graded in a process of its own that can be killed."""

    def __init__(
        self,
        config: Any,
        tokenizer: Any,
        compute_score: Any,
        reward_router_address: str | None = None,
        reward_model_tokenizer: Any = None,
    ) -> None:
        super().__init__(config, tokenizer, compute_score)
        self._tokenizer, self._compute_score = tokenizer, compute_score
        rollout, overlong = config.actor_rollout_ref.rollout, config.reward.reward_kwargs.overlong_buffer_cfg
        self._lengths = Lengths(
            config.data.max_response_length, overlong.len, overlong.penalty_factor, rollout.max_model_len
        )
        self._decoupled = config.demur.advantages == "decoupled"
        self._end_tokens = end_tokens(config.actor_rollout_ref.model.path, tokenizer)
        self._grader = Grader().start()

    async def run_single(self, data: DataProto) -> dict[str, Any]:
        """The reward of the last output in `data`, and the figures for the log."""
        last: Any = data[-1:]
        item = last[0]
        width = item.batch["responses"].shape[-1]
        mask = item.batch["attention_mask"]
        prompt, length = int(mask[:-width].sum()), int(mask[-width:].sum())
        ids = item.batch["responses"][:length].tolist()
        ended = bool(ids) and ids[-1] in self._end_tokens
        truncated = not ended and self._lengths.cut(prompt, length)
        reward = await self._grader.run(self._score, item, ids[:-1] if ended else ids, truncated)
        penalty = self._lengths.penalty(length)
        figures = {**reward, "overlong_penalty": penalty, "response_tokens": float(length)}
        if self._decoupled:
            stated = reward["confidence"] is not None
            figures["confidence_start"] = label_end(ids, self._tokenizer) if stated else None
        return {"reward_score": reward["score"] + penalty, "reward_extra_info": figures}

    def close(self) -> None:
        """End the grading process. verl never does: it ends with the worker."""
        self._grader.close()

    def _score(self, item: Any, ids: list[int], truncated: bool) -> dict[str, Any]:
        row = item.non_tensor_batch
        return self._compute_score(
            data_source=row["data_source"],
            solution_str=self._tokenizer.decode(ids, skip_special_tokens=True),
            ground_truth=row["reward_model"]["ground_truth"],
            extra_info={**(row.get("extra_info") or {}), "truncated": truncated},
            grade=self._grader.correct,
        )
