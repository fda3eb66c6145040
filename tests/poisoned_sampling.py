"""A vLLM logits processor that raises inside the engine process, over any request of one temperature."""

from vllm import SamplingParams
from vllm.v1.sample.logits_processor import LogitsProcessor

POISON = 1.625
"""A temperature that nothing else uses."""


class Poisoned(LogitsProcessor):
    def __init__(self, vllm_config, device, is_pin_memory):
        self._poisoned = False

    def is_argmax_invariant(self) -> bool:
        return True

    def update_state(self, batch_update) -> None:
        added = batch_update.added if batch_update else ()
        self._poisoned = any(params.temperature == POISON for _, params, _, _ in added)

    def apply(self, logits):
        if self._poisoned:
            raise RuntimeError("a step of the engine failed")
        return logits

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Anything goes."""
