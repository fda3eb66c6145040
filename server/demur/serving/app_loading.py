"""From settings to an app: the engine, and what else the operator wants around it, opened now and closed in the end."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from demur.api.app import create_app
from demur.api.context import Context
from demur.calibration.errors import CalibratorFileError
from demur.calibration.store import CalibratorStore
from demur.fingerprint import of_name
from demur.grading import Grader, GraderError
from demur.manifest import Manifest
from demur.serving.engine_loaders import ENGINES
from demur.serving.errors import CannotLoad
from demur.serving.exporting import tracer_for
from demur.settings import Settings

if TYPE_CHECKING:
    from demur.feedback.service import Feedback


@asynccontextmanager
async def open_app(settings: Settings, engine_args: Mapping[str, Any]) -> AsyncGenerator[FastAPI, None]:
    """The app around what the settings name; what it holds is closed in the end. Raises CannotLoad."""
    async with AsyncExitStack() as stack:
        starting = asyncio.create_task(start_grader(settings))  # seconds in a process of its own, while a model loads
        try:
            loaded = await ENGINES[settings.engine].load(settings, engine_args)
        except BaseException:
            await _close_unused(starting)
            raise
        stack.push_async_callback(loaded.engine.close)
        if loaded.critic is not None:
            stack.push_async_callback(loaded.critic.close)
        grader = stack.enter_context(await starting)
        tracer = stack.enter_context(tracer_for(settings.otlp_endpoint))
        fingerprint = loaded.fingerprint or of_name(loaded.manifest.name, loaded.manifest)
        feedback = stack.enter_context(keeping(settings, loaded.manifest, fingerprint))
        app = create_app(
            loaded.engine,
            loaded.manifest,
            settings,
            grader=grader,
            critic=loaded.critic,
            calibrators=_calibrators(settings.calibrators or loaded.calibrators, fingerprint),
            fingerprint=fingerprint,
            tracer=tracer,
            feedback=feedback,
        )
        check_confidence_source(app.state.context)
        yield app


async def _close_unused(starting: asyncio.Task[AbstractContextManager[Grader | None]]) -> None:
    with suppress(GraderError), await starting:
        pass


def _calibrators(paths: Sequence[Path], fingerprint: str) -> CalibratorStore:
    """Raises CannotLoad, which names the file."""
    try:
        return CalibratorStore(paths, fingerprint)
    except CalibratorFileError as error:
        raise CannotLoad(f"--calibrator: {error}") from None


@contextmanager
def keeping(settings: Settings, manifest: Manifest, fingerprint: str) -> Iterator["Feedback | None"]:
    """What keeps answers to be graded, open inside the block; None where the operator does not want that, and then its
    libraries are not loaded. `fingerprint` tells models of one name apart.

    Raises CannotLoad where a library is absent or the database cannot be used.
    """
    if not settings.keeps_answers:
        yield None
        return
    try:
        from demur.feedback.errors import StoreUnusable
        from demur.feedback.opening import open_feedback
    except ModuleNotFoundError as error:
        raise CannotLoad(f'--feedback needs {error.name}: pip install "demur[feedback]"') from None
    with ExitStack() as stack:
        try:
            feedback = stack.enter_context(open_feedback(settings, manifest, fingerprint))
        except StoreUnusable as error:
            raise CannotLoad(str(error)) from None
        yield feedback


def check_confidence_source(context: Context) -> None:
    """Check the confidence source that decides by default. Raises CannotLoad where this model does not have it."""
    answerer = context.answerer
    name, has = answerer.settings.confidence_source, answerer.confidence_sources
    if name is not None and name not in has:
        raise CannotLoad(f"--confidence-source {name} is not served with this model; it has {', '.join(has)}")


async def start_grader(settings: Settings) -> AbstractContextManager[Grader | None]:
    """The grader that groups the answers of a vote by value, started and closed by `with`; None where no model writes
    formulas or nobody may vote. Raises GraderError where it does not start."""
    if not ENGINES[settings.engine].compares_formulas or settings.max_samples == 1:
        return nullcontext()
    return await asyncio.to_thread(Grader().start)
