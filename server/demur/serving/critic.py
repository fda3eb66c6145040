"""The critic that a model's manifest names: where it is, how much memory it gets, and when it is loaded."""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.engine.base import EngineError
from demur.engine.critic import Critic, CriticUnavailable, LazyCritic
from demur.engine.restarting import RestartBudget
from demur.manifest import Manifest, is_hub_id
from demur.named_file import shown

if TYPE_CHECKING:
    from demur.settings import Settings

logger = logging.getLogger("demur")

SHARED = frozenset({"download_dir", "dtype", "enforce_eager", "gpu_memory_utilization", "hf_token", "load_format"})
SHARED |= {"kv_cache_memory_bytes", "tensor_parallel_size", "trust_remote_code"}
"""Arguments for the generator's engine that say how this machine is used, and so hold for the critic's engine too."""


def memory_shares(manifest: Manifest, settings: "Settings") -> tuple[float, float]:
    """The generator's and the critic's shares of the memory that vLLM may take; they add up to 1."""
    if not is_served(manifest, settings):
        return 1.0, 0.0
    return 1 - settings.critic_memory, settings.critic_memory


def is_served(manifest: Manifest, settings: "Settings") -> bool:
    """Whether the model has a critic and the operator wants it."""
    return manifest.critic is not None and settings.critic != "off"


def critic_for(
    model: str, manifest: Manifest, settings: "Settings", engine_args: Mapping[str, Any], max_model_len: int | None
) -> LazyCritic | None:
    """The critic of `model`, not loaded yet; None where none is served. It takes what the generator can write."""
    described = manifest.critic
    if described is None or not is_served(manifest, settings):
        return None
    shared = {name: value for name, value in engine_args.items() if name in SHARED}
    _, share = memory_shares(manifest, settings)

    async def load() -> Critic:
        from demur.engine.vllm.startup import existing

        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            place = existing(await asyncio.to_thread(locate, model, described.path))
            if await asyncio.to_thread(on_cpu):
                critic: Critic = await in_process(place, max_model_len, shared)
            else:
                critic = await in_vllm(place, max_model_len, shared, share, settings.engine_silence)
        except EngineError as error:
            logger.error("the critic cannot be loaded", extra={"fields": {"cause": str(error)}})
            raise CriticUnavailable(f"the critic cannot be loaded: {error}") from error
        logger.info("the critic is loaded", extra={"fields": {"seconds": round(clock() - began, 1)}})
        return critic

    return LazyCritic(load, RestartBudget(settings.engine_restarts, settings.engine_restart_window))


def on_cpu() -> bool:
    """Whether vLLM, which runs the generator, has no GPU here."""
    from vllm.platforms import current_platform

    return bool(current_platform.is_cpu())


async def in_process(place: str, max_model_len: int | None, shared: Mapping[str, Any]) -> Critic:
    """The critic in this process, which is there in seconds."""
    from demur.engine.transformers_critic import TransformersCritic

    taken = {name: shared[name] for name in ("dtype", "trust_remote_code") if name in shared}
    return await TransformersCritic.start(place, max_model_len=max_model_len, **taken)


async def in_vllm(
    place: str, max_model_len: int | None, shared: Mapping[str, Any], share: float, silence: float
) -> Critic:
    """The critic in an engine of its own, which takes `share` of the memory."""
    from demur.engine.vllm import VLLMCritic

    return await VLLMCritic.start(place, memory_share=share, silence=silence, max_model_len=max_model_len, **shared)


def locate(model: str, path: str) -> str:
    """The critic's folder: `path` inside the model's folder or hub repository, else a hub id of its own.

    Raises EngineError when there is no such place, or when it is outside.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return _within(folder, path)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(model, allow_patterns=f"{path}/*"))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError) as error:
        raise EngineError(f"no hub to get the critic {path} of {model} from: {error}") from error
    return _within(folder, path)


def _within(folder: Path, path: str) -> str:
    """The folder `path` of a model, wherever its links lead; a hub id where the model has no such folder."""
    inside = folder / path
    if not inside.resolve().is_relative_to(folder.resolve()):
        raise EngineError(f"the critic {path} of the model in {shown(folder)} lies outside of that folder")
    return path if not inside.is_dir() and is_hub_id(path) else str(inside)
