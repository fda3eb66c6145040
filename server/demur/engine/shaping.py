"""What shapes the next token's distribution besides temperature and top-p, in the words of OpenAI's and vLLM's APIs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class LogitShaping:
    """Penalties, truncation and biases of one sample; the defaults change nothing.

    `frequency_penalty` and `presence_penalty` are in [-2, 2] and are taken from a token's logit, times its count or
    once. `repetition_penalty` divides the logits of tokens that were seen, and is above 0. `top_k` keeps so many
    tokens, 0 keeps all; `min_p` keeps those with this share of the likeliest one's probability. `logit_bias` is added
    to the logits of token ids, in [-100, 100].
    """

    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repetition_penalty: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict[int, float])

    def changed(self) -> dict[str, Any]:
        """The settings that are not at their default, by name."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != _NEUTRAL[each.name]}


UNSHAPED = LogitShaping()
_NEUTRAL = {each.name: getattr(UNSHAPED, each.name) for each in fields(UNSHAPED)}
