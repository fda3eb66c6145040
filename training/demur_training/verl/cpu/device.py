"""A CPU as verl's platforms go: one device, always there, nothing to wait for, no memory of its own."""

import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry


def device_module() -> types.ModuleType:
    """What verl uses as it does `torch.cuda`; anything not named here is `torch.cpu`'s."""
    module = types.ModuleType("demur_training.verl.cpu.as_device")
    zero = ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved")
    nothing = ("empty_cache", "ipc_collect", "set_device", "synchronize", "reset_peak_memory_stats")
    answers: dict[str, Any] = {
        **{name: lambda *_: 0 for name in zero},
        **{name: lambda *_: None for name in nothing},
        "__getattr__": lambda name: getattr(torch.cpu, name),
        "current_device": lambda: "cpu",
        "device_count": lambda: 1,
        "is_available": lambda: False,
        "mem_get_info": lambda *_: (0, 0),
        "get_device_name": lambda *_: "cpu",
        "manual_seed": torch.manual_seed,
        "manual_seed_all": torch.manual_seed,
        "get_rng_state": torch.get_rng_state,
        "set_rng_state": torch.set_rng_state,
    }
    for name, answer in answers.items():
        setattr(module, name, answer)
    return module


_MODULE = device_module()


@PlatformRegistry.register(platform="cpu")
class PlatformCPU(PlatformBase):
    """verl counts Ray's "GPU" and "NPU" resources only, so this asks for GPUs: logical ones, which the recipe's
    scale gives to `ray.init`."""

    @property
    def device_name(self) -> str:
        return "cpu"

    @property
    def vendor_name(self) -> str:
        return "cpu"

    @property
    def device_module(self) -> types.ModuleType:
        return _MODULE

    def is_available(self) -> bool:
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        return True

    def current_device(self) -> Any:  # verl hands it to torch as a device: "cpu" has no index
        return "cpu"

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: Any) -> None:
        """There is one."""

    def synchronize(self, device_index: Any = None) -> None:
        """Everything has happened already."""

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        """torch's allocator has none on a CPU."""

    def empty_cache(self) -> None:
        """No cache."""

    def get_device_capability(self, device_index: int = 0) -> tuple[None, None]:
        return (None, None)

    def communication_backend_name(self) -> str:
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    @contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        yield

    def profiler_start(self) -> None:
        """No profiler."""

    def profiler_stop(self) -> None:
        """No profiler."""

    def ray_resource_name(self) -> str:
        return "GPU"

    def ray_noset_envvars(self) -> list[str]:
        return ["RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"]

    def is_ipc_supported(self) -> bool:
        return False  # weights go to vLLM through shared memory

    def cudart(self) -> None:
        return None
