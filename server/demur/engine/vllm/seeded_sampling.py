"""Seeded sampling as a vLLM logits processor, for builds on which a request's own random generator is not safe.

vLLM draws a seeded request from a `torch.Generator` of its own. A step that reads only a part of a prompt samples a
token all the same and throws it away, so vLLM then sets that generator back by its offset. Generators on the CPU have
no offset: the engine process ends with "CPU Generator does not use offset". A part of a prompt is read whenever the
tokens of one step (`max_num_batched_tokens`) do not hold all that waits: many requests at once, one long prompt, or one
that comes back after it was preempted.

Here the noise of a draw is a function of the seed and the position alone, so that there is nothing to set back, and a
sample does not depend on what else is in the batch.

Importing this module needs vLLM. vLLM imports it by name, in its engine process.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from vllm import SamplingParams
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor
from vllm.v1.sample.logits_processor.builtin import process_dict_updates
from vllm.v1.sample.ops.topk_topp_sampler import apply_top_k_top_p

from demur.engine.vllm.arguments import SEED

if TYPE_CHECKING:
    from vllm.config import VllmConfig

_64_BITS = 2**64 - 1


@dataclass(frozen=True, slots=True)
class SeededRequest:
    """One seeded request of the batch. vLLM appends to `written` while it generates."""

    seed: int
    top_k: int
    top_p: float
    written: Sequence[int]

    def noise(self, vocabulary: int) -> np.ndarray:
        """Exponential noise for each token of the vocabulary, the same for the same seed and position."""
        random = np.random.Generator(np.random.Philox(key=[self.seed & _64_BITS, len(self.written)]))
        return random.standard_exponential(vocabulary, dtype=np.float32)


class SeededSampling(LogitsProcessor):
    """Draws the next token of each seeded request and leaves it as the only possible one."""

    def __init__(self, vllm_config: "VllmConfig", device: torch.device, is_pin_memory: bool) -> None:
        self._rows: dict[int, SeededRequest] = {}

    def is_argmax_invariant(self) -> bool:
        """True puts it where it belongs: after the temperature, and only where something is drawn at all."""
        return True

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        process_dict_updates(self._rows, batch_update, _row)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """`logits` has the shape (requests, vocabulary), already divided by each request's temperature.

        The draw is vLLM's own: of the probabilities within top-k and top-p, each divided by its noise, the largest.
        """
        if not self._rows:
            return logits
        rows, seeded = list(self._rows), list(self._rows.values())
        probabilities = _truncated(logits[rows], seeded).softmax(dim=-1, dtype=torch.float32)
        noise = torch.from_numpy(np.stack([row.noise(logits.shape[-1]) for row in seeded])).to(logits.device)
        chosen = probabilities.div_(noise).argmax(dim=-1)
        logits[rows] = -torch.inf
        logits[rows, chosen] = 0.0
        return logits


def _row(params: SamplingParams, prompt: list[int] | None, written: list[int]) -> SeededRequest | None:
    """What to keep of a request that joins the batch; None for one without a seed."""
    seed = (params.extra_args or {}).get(SEED)
    return None if seed is None else SeededRequest(seed, params.top_k, params.top_p, written)


def _truncated(logits: torch.Tensor, rows: Sequence[SeededRequest]) -> torch.Tensor:
    """Everything outside top-k and top-p made impossible, as vLLM does it."""
    whole = logits.shape[-1]
    top_k = torch.tensor([row.top_k if 0 < row.top_k < whole else whole for row in rows])
    top_p = torch.tensor([row.top_p for row in rows])
    return apply_top_k_top_p(logits, top_k if (top_k < whole).any() else None, top_p if (top_p < 1).any() else None)
