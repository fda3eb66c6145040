"""`--engine vllm`: vLLM in this process, with the critic that a model may come with."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from demur.core.contracts import CONTRACTS
from demur.engine.base import Engine, EngineError
from demur.engine.critic import LazyCritic
from demur.engine.restarting import RestartBudget, RestartingEngine
from demur.manifest import Manifest, ManifestError
from demur.serving.critic import critic_for, memory_shares
from demur.serving.engine_loaders.base import Loaded
from demur.serving.errors import CannotLoad
from demur.serving.model_identity import fingerprint_of, is_folder, shipped_calibrators

if TYPE_CHECKING:
    from demur.settings import Settings

NEEDS_VLLM = 'serving a model needs vLLM: pip install "demur[cpu]" or "demur[gpu]"; --engine scripted needs no model'


class VLLMLoader:
    """Loads a model into vLLM, in this process."""

    takes_arguments = True
    compares_formulas = True

    async def load(self, settings: "Settings", arguments: Mapping[str, Any]) -> Loaded:
        """The embedded model where the settings name none. Its files are hashed while the engine starts."""
        model = settings.model or prepare_embedded()
        try:
            manifest = Manifest.load(model)
            engine, identity = await _start_and_identify(model, manifest, settings, arguments)
        except (EngineError, ManifestError) as error:
            raise CannotLoad(str(error)) from None
        try:
            critic = await load_critic(model, engine, manifest, settings, arguments)
        except BaseException:
            await engine.close()
            raise
        return Loaded(engine, manifest, critic, identity, () if settings.model else shipped_calibrators())


async def load_critic(
    model: str, engine: Engine, manifest: Manifest, settings: "Settings", arguments: Mapping[str, Any]
) -> LazyCritic | None:
    """The critic of `model`, if one is served; loaded now where the settings want that. Raises CannotLoad."""
    critic = critic_for(model, manifest, settings, arguments, engine.max_model_len)
    if critic is not None and settings.critic == "at_start":
        try:
            await critic.ready()
        except EngineError as error:
            raise CannotLoad(f"{error}; --critic off serves the model without it") from None
    return critic


async def _start_and_identify(
    model: str, manifest: Manifest, settings: "Settings", arguments: Mapping[str, Any]
) -> tuple[Engine, str]:
    """A folder is hashed while its engine starts; what the engine downloads, after that."""
    embedded = settings.model is None

    async def identify() -> str:
        return await asyncio.to_thread(fingerprint_of, model, manifest, arguments, embedded=embedded)

    hashing = asyncio.create_task(identify()) if is_folder(model) else None
    engine = await _start(model, manifest, settings, arguments)
    try:
        return engine, await (hashing or identify())
    except BaseException:
        await engine.close()
        raise


async def _start(model: str, manifest: Manifest, settings: "Settings", arguments: Mapping[str, Any]) -> Engine:
    from demur.answering.server_defaults import forcing
    from demur.answering.tail_forcing import constraints_of
    from demur.engine.vllm import Progress, UnknownEngineArgument, VLLMEngine
    from demur.model import progress_bar

    constraints = constraints_of([CONTRACTS[name] for name in manifest.contracts], forcing(settings, manifest))

    async def start(progress: Progress = lambda doing, share: None) -> VLLMEngine:
        return await VLLMEngine.start(
            model,
            constraints=constraints,
            progress=progress,
            memory_share=memory_shares(manifest, settings)[0],
            silence=settings.engine_silence,
            **arguments,
        )

    try:
        with progress_bar(manifest.name) as report:
            engine = await start(report)
        return RestartingEngine(engine, start, RestartBudget(settings.engine_restarts, settings.engine_restart_window))
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
