"""Lets verl train on a machine without a GPU: a platform plugin, and the few patches that no plugin point covers.

verl imports `cpu_plugin` in every process it starts when `environment()` is set before Ray starts, and that calls
`load`. Everything here was written for verl 0.9.1, and `load` refuses any other version.
"""

import importlib.metadata
from typing import Any

from demur_training.verl import value_model
from demur_training.versions import installed, require_tested_verl

PLUGIN = "demur_training.verl.cpu.plugin"


def environment() -> dict[str, str]:
    """What has to be in the environment of the driver; Ray's workers and vLLM's processes inherit it."""
    return {
        "VERL_PLATFORM": "cpu",
        "VERL_USE_EXTERNAL_MODULES": PLUGIN,
        # FSDP engines are registered for cuda and npu only; this is verl's own switch for which one is looked up.
        "VERL_ENGINE_DEVICE": "cuda",
        # Ray must not hide devices from the logical GPUs that verl's resource pools ask for.
        "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES": "1",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def load() -> None:
    """Register the platform and patch what has no plugin point. Raises EnvironmentProblem for an untested verl."""
    require_tested_verl(installed("verl"))
    _name_vllm()
    import demur_training.verl.cpu.device  # noqa: F401  (registers itself: verl's plugin point for platforms)

    _leave_trl_alone()
    _use_plain_gloo()
    value_model.install()


def _name_vllm() -> None:
    """verl asks for the distribution "vllm"; on CPU it is called "vllm-cpu", and vLLM itself picks its CPU platform
    when the version it is told contains "cpu". Needed for verl 0.9.1 with vllm-cpu 0.31.0."""
    original = importlib.metadata.version

    def version(distribution_name: str) -> str:
        try:
            return original(distribution_name)
        except importlib.metadata.PackageNotFoundError:
            if distribution_name != "vllm":
                raise
            return original("vllm-cpu") + "+cpu"

    importlib.metadata.version = version


def _leave_trl_alone() -> None:
    """Where TRL is installed, verl 0.9.1 asks it for a value-head class that TRL 1.16 does not have, and every worker
    dies. Nothing here uses that class; saying that TRL is absent goes first, before verl copies the question."""
    import verl.utils.import_utils as import_utils

    import_utils.is_trl_available = lambda: False


def _use_plain_gloo() -> None:
    """verl 0.9.1 starts the process group as "cpu:gloo,DEVICE:BACKEND", which names the CPU twice here, and torch
    refuses that."""
    import verl.utils.distributed as distributed

    original = distributed.initialize_global_process_group_ray

    def initialize(timeout_second: int | None = None, backend: str | None = None) -> Any:
        return original(timeout_second, backend or "cpu:gloo")

    distributed.initialize_global_process_group_ray = initialize
