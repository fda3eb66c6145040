"""This machine, as a run finds it: the GPUs and their driver, host memory, shared memory."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from demur_training.checks.resource_estimate import GIB

DRIVER = Path("/proc/driver/nvidia/version")
SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU of this machine."""

    name: str
    gib: float


@dataclass(frozen=True, slots=True)
class Driver:
    """NVIDIA's driver, None where there is none, and the CUDA that torch was built for, None for a build without."""

    version: str | None
    cuda: str | None
    works: bool


def gpus() -> list[Device]:
    """The CUDA devices torch sees."""
    import torch

    if not torch.cuda.is_available():
        return []
    found = (torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count()))
    return [Device(device.name, device.total_memory / GIB) for device in found]


def driver(path: Path = DRIVER) -> Driver:
    """Read from the kernel's own file, so that it is known where nothing else works."""
    import torch

    found = re.search(r"Kernel Module.*?\s(\d{3,}[\d.]*)\s", path.read_text()) if path.is_file() else None
    return Driver(found[1] if found else None, torch.version.cuda, torch.cuda.is_available())


def host_memory_gib() -> float:
    """This machine's memory, or what its container may take."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.is_file() and limit.read_text().strip().isdigit():
        sizes.append(int(limit.read_text()))
    return min(sizes) / GIB


def shared_memory_gib(path: Path = SHARED_MEMORY) -> float:
    """The size of the file system that Ray's object store, NCCL and data loaders share; 0 where there is none."""
    return shutil.disk_usage(path).total / GIB if path.is_dir() else 0.0
