"""vLLM's worker in a run of verl: takes weights of a model whose output layer is its embedding."""

from collections.abc import Iterable
from typing import Any

from torch import Tensor
from torch.nn import Module
from verl.workers.rollout.vllm_rollout.utils import vLLMColocateWorkerExtension

Weights = list[tuple[str, Tensor]]


class RolloutWorkerExtension(vLLMColocateWorkerExtension):
    """verl sends weights in buckets, each loaded by itself, and a tied weight under both of its names; vLLM refuses a
    second name whose first was in another bucket. Leave second names out: their weight is loaded under the first.
    Needed for verl 0.9.1 with vLLM 0.31.0."""

    model_runner: Any
    """Of vLLM's worker, which takes this class among its bases."""

    def _update_weights(self, weights: Weights, peft_config: Any, base_sync_done: bool) -> None:
        second = second_names(self.model_runner.model)
        super()._update_weights([pair for pair in weights if pair[0] not in second], peft_config, base_sync_done)


def second_names(model: Module) -> set[str]:
    """The names of parameters that have another one before."""
    first: dict[int, str] = {}
    named: Iterable[tuple[str, Tensor]] = model.named_parameters(remove_duplicate=False)
    return {name for name, tensor in named if first.setdefault(id(tensor), name) != name}
