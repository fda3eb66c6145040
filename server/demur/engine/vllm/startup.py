"""From a model's name to a running AsyncLLM and its processes."""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.engine.base import EngineError
from demur.engine.vllm.arguments import UnknownEngineArgument, engine_arguments, set_environment
from demur.engine.vllm.reaper import Reaper

if TYPE_CHECKING:
    from vllm.v1.engine.async_llm import AsyncLLM

_LOOKED_FOR_EVERY = 0.1
"""Seconds between two looks for processes that vLLM has started."""


@dataclass(frozen=True, slots=True)
class Launched:
    """A running engine, the processes that vLLM started for it, and who ends them when this process is killed."""

    llm: "AsyncLLM"
    processes: list[BaseProcess]
    reaper: Reaper


def existing(model: str | Path) -> str:
    """The model's name for vLLM. What can only be a path has to be there; raises EngineError.

    vLLM would ask the hub for it and report that.
    """
    name, folder = str(model), Path(model).expanduser()
    if folder.is_dir():
        return str(folder)
    if isinstance(model, Path) or name.startswith(("/", ".", "~")) or name.count("/") > 1:
        raise EngineError(f"there is no model folder {folder}")
    return name


def import_vllm() -> None:
    """Import vLLM, which takes some 6 s. Raises ModuleNotFoundError where it is not installed."""
    set_environment()
    if "vllm.v1.engine.async_llm" not in sys.modules:
        with _no_collection():
            import vllm.v1.engine.async_llm  # noqa: F401

    # Its own handler writes to standard error at once, and so waits for whoever reads that.
    named = logging.getLogger("vllm")
    named.handlers, named.propagate = [], True


@contextmanager
def _no_collection() -> Iterator[None]:
    """The garbage collector waits, and never looks through what was made meanwhile: 750,000 objects that stay, which
    it would walk ten times as they grow, a quarter of the time that the import takes."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if enabled:
            gc.enable()


async def launch(model: str, given: Mapping[str, Any], share: float = 1.0) -> Launched:
    """Load the model in a thread. The processes are guarded from their start on: loading may take minutes, and whoever
    loses patience with it kills this process.

    `share` is of the memory that one engine alone would take. Only one may be launched at a time. Raises
    UnknownEngineArgument and EngineError.
    """
    others = engine_processes()
    async with _guarding_new(others) as reaper:
        try:
            llm = await asyncio.to_thread(_launch, model, given, share)
        except asyncio.CancelledError:
            for process in _besides(others):
                process.kill()  # then the thread that waits for them ends, too
            raise
    return Launched(llm, _besides(others), reaper)


@asynccontextmanager
async def _guarding_new(others: list[BaseProcess]) -> AsyncIterator[Reaper]:
    """Every engine process started inside, so none of `others`, ends with this one. An error dismisses the reaper.

    vLLM tells of a process only once its model is loaded, hence the looking.
    """
    reaper, guarded = Reaper(), set[int]()

    def guard() -> None:
        for pid in {process.pid for process in _besides(others) if process.pid} - guarded:
            reaper.guard(pid)
            guarded.add(pid)

    async def keep_looking() -> None:
        while True:
            guard()
            await asyncio.sleep(_LOOKED_FOR_EVERY)

    looking = asyncio.create_task(keep_looking())
    try:
        yield reaper
        guard()
    except BaseException:
        reaper.dismiss()
        raise
    finally:
        looking.cancel()


async def shut_down(llm: "AsyncLLM") -> None:
    """End an engine's processes; takes a few seconds. Streams still open raise EngineDead."""
    listener = llm.output_handler
    if listener is not None and llm.get_num_unfinished_requests() == 0:
        listener.cancel()  # with nobody to tell, it would only write a traceback to the log: the engine is gone
    await asyncio.to_thread(llm.shutdown)


def _launch(model: str, given: Mapping[str, Any], share: float) -> "AsyncLLM":
    try:
        return _without_interrupts(engine_arguments(model, given, share))
    except UnknownEngineArgument:
        raise
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise EngineError(f"vLLM cannot load {model}: {_reason(error)}") from error


def engine_processes() -> list[BaseProcess]:
    """vLLM's engine processes that this one started; their workers end with them."""
    return [process for process in active_children() if process.name.startswith("EngineCore")]


def _besides(others: list[BaseProcess]) -> list[BaseProcess]:
    return [process for process in engine_processes() if process not in others]


def _without_interrupts(arguments: Any) -> "AsyncLLM":
    """Ctrl-C in a terminal reaches every process of it, and would end the engine before the server has finished
    what is running. The engine inherits from this thread that it is blocked."""
    from vllm.envs import disable_envs_cache, enable_envs_cache
    from vllm.usage.usage_lib import UsageContext
    from vllm.v1.engine.async_llm import AsyncLLM

    resource_tracker.ensure_running()  # starting it unblocks the signal, so not later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    disable_envs_cache()  # an engine before this one enabled it, and starting one writes to the environment
    try:
        # The context chooses the batch sizes that vLLM's own API server has.
        return AsyncLLM.from_engine_args(arguments, usage_context=UsageContext.OPENAI_API_SERVER)
    finally:
        enable_envs_cache()  # as vLLM does in its engine's process: its statistics look a setting up for each token
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _reason(error: Exception) -> str:
    """A validation error is reduced to its fields and messages."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return str(error)
    return "; ".join(": ".join([*map(str, detail["loc"]), detail["msg"]]) for detail in error.errors())
