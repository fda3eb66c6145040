"""Engine arguments for vLLM: what the user said, over defaults that start on a small machine without a GPU."""

import dataclasses
import difflib
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from vllm.engine.arg_utils import AsyncEngineArgs

_ENVIRONMENT: Mapping[str, str] = {
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_NO_USAGE_STATS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
    "PYTHONWARNINGS": "ignore::FutureWarning,ignore::UserWarning:multiprocessing.resource_tracker",
    # Seconds: a contract's expression takes some, more on a busy machine. They are ours, so none is hostile.
    "VLLM_REGEX_COMPILATION_TIMEOUT_S": "120",
    # On a CPU vLLM would leave one core idle, of two.
    "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",
}

_DEFAULTS: Mapping[str, Any] = {"enable_prefix_caching": True, "use_tqdm_on_load": False}

_CPU_DEFAULTS: Mapping[str, Any] = {
    # Compiling takes minutes on a CPU.
    "enforce_eager": True,
    # The longest context of the model, or what fits into the cache.
    "max_model_len": -1,
    # vLLM's own way, a share of the memory, refuses to start when that share is not free.
    "kv_cache_memory_bytes": 1 << 30,
}

SEED = "demur_seed"
"""The name of a sample's seed among vLLM's `SamplingParams.extra_args`, for the logits processor that draws with it."""
SEEDED_SAMPLING = "demur.engine.vllm.seeded_sampling:SeededSampling"
"""That logits processor, as vLLM imports it."""
Seeding = Literal["engine", "processor", "none"]
"""What draws seeded samples: vLLM itself, that processor, or nothing that is safe."""


class UnknownEngineArgument(ValueError):
    """vLLM has no engine argument of that name."""


def set_environment() -> None:
    """Make vLLM quiet and use the whole machine, in this process and those it starts; what is set already stays.

    vLLM reads its environment when it is imported.
    """
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    # Until vLLM has configured its loggers, which comes after the import.
    logging.getLogger("vllm").setLevel(os.environ["VLLM_LOGGING_LEVEL"].upper())


def engine_arguments(model: str | Path, given: Mapping[str, Any], share: float = 1.0) -> "AsyncEngineArgs":
    """vLLM's engine arguments for `model`: what was `given`, over defaults that suit this machine.

    `share`, in (0, 1], is of the memory that one engine alone would take: it holds for gpu_memory_utilization, not for
    kv_cache_memory_bytes, which says how much each engine's cache gets.

    Raises UnknownEngineArgument, naming the argument, and ValueError or TypeError for values vLLM refuses.
    """
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.platforms import current_platform

    _check_names(given, [field.name for field in dataclasses.fields(AsyncEngineArgs)])
    defaults = dict(_DEFAULTS)
    if current_platform.is_cpu():
        defaults |= _cpu_defaults(given)
    chosen: dict[str, Any] = {**defaults, **given, "model": str(model)}
    if current_platform.is_cpu() and takes_processors(chosen):
        chosen["logits_processors"] = [*(chosen.get("logits_processors") or ()), SEEDED_SAMPLING]
    if share < 1:
        whole = chosen.get("gpu_memory_utilization", AsyncEngineArgs.gpu_memory_utilization)
        chosen["gpu_memory_utilization"] = whole * share
    return AsyncEngineArgs(**chosen)


def seeding(processors: Sequence[Any]) -> Seeding:
    """Who draws seeded samples in an engine that was started with these logits processors."""
    from vllm.platforms import current_platform

    if SEEDED_SAMPLING in processors:
        return "processor"
    return "none" if current_platform.is_cpu() else "engine"


def takes_processors(arguments: Mapping[str, Any]) -> bool:
    """Whether vLLM runs logits processors of ours: not in a pooling model, and not with speculative decoding."""
    return arguments.get("runner") != "pooling" and not arguments.get("speculative_config")


def _check_names(given: Mapping[str, Any], known: list[str]) -> None:
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UnknownEngineArgument(f"vLLM has no engine argument {name}{hint}")


def _cpu_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    defaults = dict(_CPU_DEFAULTS)
    if "gpu_memory_utilization" in given:  # a share of the memory instead: despite its name it holds on a CPU too
        del defaults["kv_cache_memory_bytes"]
    if not _has_bfloat16():
        defaults["dtype"] = "float32"
    return defaults


def _has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16; where it does not, that is several times slower than float32."""
    import torch

    return any(has for name, has in torch.cpu.get_capabilities().items() if name.endswith("bf16"))
