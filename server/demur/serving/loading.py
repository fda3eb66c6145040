"""The engine that the settings name, with the manifest of its model."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from demur.answering.plan import forces
from demur.core.answers import CONTRACTS
from demur.engine.base import Engine, EngineError
from demur.engine.critic import OnDemand
from demur.engine.restarting import RestartingEngine, Restarts
from demur.engine.scripted import ScriptedEngine
from demur.forcing import constraint
from demur.grading import Grader
from demur.manifest import Manifest, ManifestError
from demur.serving.critic import critic_for, is_served, memory_shares
from demur.settings import Settings, UpstreamSettings

if TYPE_CHECKING:
    from demur.engine.upstreams import Upstream

DEMO_DELAY = 0.03
"""Seconds between two words of the demo: about as fast as a person reads along."""
NEEDS_VLLM = 'serving a model needs vLLM: pip install "demur[cpu]" or "demur[gpu]"; --engine scripted needs no model'


class CannotLoad(Exception):
    """There is no engine; the message says why and what to do."""


async def load_engine(settings: Settings, engine_args: Mapping[str, Any]) -> tuple[Engine, Manifest]:
    """Raises CannotLoad. Shows progress on standard error."""
    if settings.engine == "scripted":
        return ScriptedEngine(delay=DEMO_DELAY), Manifest(name="demur-scripted", contracts=CONTRACTS)
    if settings.engine == "openai":
        return await _connect(settings)
    model = settings.model or prepare_embedded()
    try:
        manifest = Manifest.load(model)
        return await _start_vllm(model, manifest, settings, engine_args), manifest
    except (EngineError, ManifestError) as error:
        raise CannotLoad(str(error)) from None


async def load_critic(
    engine: Engine, manifest: Manifest, settings: Settings, engine_args: Mapping[str, Any]
) -> OnDemand | None:
    """The critic of the model that `load_engine` loaded, if one is served; loaded now where the settings want that.

    Raises CannotLoad.
    """
    if settings.engine != "vllm" or not is_served(manifest, settings):
        return None
    from demur.model.folder import default_folder

    model = settings.model or str(default_folder())
    critic = critic_for(model, manifest, settings, engine_args, engine.max_model_len)
    if critic is not None and settings.critic == "at_start":
        try:
            await critic.ready()
        except EngineError as error:
            raise CannotLoad(f"{error}; --critic off serves the model without it") from None
    return critic


async def start_grader(settings: Settings) -> AbstractContextManager[Grader | None]:
    """What groups the answers of a vote by value; nothing where no model writes formulas or nobody may vote."""
    if settings.engine == "scripted" or settings.max_samples == 1:
        return nullcontext()
    return await asyncio.to_thread(Grader().start)


async def _connect(settings: Settings) -> tuple[Engine, Manifest]:
    """Ask the upstreams what they serve. Without a manifest the model counts as not calibrated."""
    from demur.engine.openai import OpenAIEngine
    from demur.engine.upstreams import find_served

    if not settings.upstreams:
        raise CannotLoad("--engine openai needs at least one --upstream URL")
    upstreams = [_upstream(upstream, settings) for upstream in settings.upstreams]
    try:
        served = await find_served(upstreams, settings.model)
        manifest = (
            Manifest.uncalibrated(served.model) if settings.manifest is None else Manifest.read(settings.manifest)
        )
    except (EngineError, ManifestError) as error:
        raise CannotLoad(str(error)) from None
    except OSError as error:
        raise CannotLoad(f"cannot read {settings.manifest}: {error.strerror}") from None
    forces, forced = served.structured_outputs, settings.upstream_structured_outputs
    engine = OpenAIEngine(
        upstreams,
        served.model,
        structured_outputs=forces if forced is None else forced,
        max_model_len=served.max_model_len,
    )
    return engine, manifest


def _upstream(described: UpstreamSettings, settings: Settings) -> "Upstream":
    from demur.engine.upstreams import Upstream

    key = settings.upstream_key.get_secret_value() if settings.upstream_key is not None else None
    if described.key_env is not None and (key := os.environ.get(described.key_env)) is None:
        raise CannotLoad(f"the key for {described.url} should be in {described.key_env}, which is not set")
    return Upstream(described.url, key, described.limit or settings.upstream_limit)


async def _start_vllm(model: str, manifest: Manifest, settings: Settings, engine_args: Mapping[str, Any]) -> Engine:
    from demur.engine.vllm import Progress, UnknownEngineArgument, VLLMEngine
    from demur.model import progress_bar

    constraints = [constraint(contract) for contract in manifest.contracts] if forces(settings, manifest) else []

    async def start(progress: Progress = lambda doing, share: None) -> VLLMEngine:
        return await VLLMEngine.start(
            model,
            constraints=constraints,
            progress=progress,
            memory_share=memory_shares(manifest, settings)[0],
            silence=settings.engine_silence,
            **engine_args,
        )

    try:
        with progress_bar(manifest.name) as report:
            engine = await start(report)
        return RestartingEngine(engine, start, Restarts(settings.engine_restarts, settings.engine_restart_window))
    except UnknownEngineArgument as error:
        raise CannotLoad(str(error)) from None
    except ModuleNotFoundError as error:
        if error.name != "vllm":
            raise
        raise CannotLoad(NEEDS_VLLM) from None


def prepare_embedded() -> str:
    """The folder of the embedded model, made now unless it is there. Raises CannotLoad."""
    from demur.model import CannotPrepare, SourceError, prepare, progress_bar

    try:
        with progress_bar("embedded model") as report:
            return str(prepare(progress=report))
    except (CannotPrepare, SourceError) as error:
        raise CannotLoad(str(error)) from None
