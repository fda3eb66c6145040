"""Load the engine, listen, say so in one line, and end when the engine does."""

import asyncio
import errno
import gc
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI

from demur.api.admission import Admission
from demur.api.app import create_app
from demur.api.context import Context
from demur.api_keys import ApiKeyStore, KeysError
from demur.calibration.errors import CalibratorFileError
from demur.calibration.store import CalibratorStore
from demur.fingerprint import of_name
from demur.grading import Grader
from demur.manifest import Manifest
from demur.observability.logs import configure_logging, logger
from demur.serving.engines import ENGINES
from demur.serving.errors import CannotLoad, CannotServe
from demur.serving.exporting import tracer_for
from demur.serving.protocol import bounded_protocol
from demur.serving.standard_error import never_waited_for
from demur.settings import Settings, is_loopback

if TYPE_CHECKING:
    from demur.feedback.service import Feedback

EXIT_ENGINE_DIED = 70
"""EX_SOFTWARE of sysexits.h: a supervisor should start the process again."""

ABORT_GRACE = 5
"""Seconds to send the last replies once the time to finish them has passed."""


class AnnouncingServer(uvicorn.Server):
    """Tells when it accepts connections. When it stops, it refuses queued requests, and aborts running ones late."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], admission: Admission, patience: float
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._admission = admission
        self._patience = patience

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logger.info("stopping", extra={"fields": {"running_samples": self._admission.running.samples}})
        self._admission.close()
        ending = asyncio.get_running_loop().call_later(self._patience, self._admission.abort_running)
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()


def serve(settings: Settings, engine_args: Mapping[str, Any]) -> int:
    """Serve until told to stop; returns the exit code. Raises CannotServe."""
    loop_factory = uvicorn.Config("", log_config=None).get_loop_factory()
    with bind(settings.host, settings.port) as listener, asyncio.Runner(loop_factory=loop_factory) as runner:
        check_exposure(settings)
        log = configure_logging(settings.log_format, settings.log_level)
        try:
            with never_waited_for(log):
                return runner.run(_serve(settings, engine_args, listener))
        finally:
            log.flush()


def bind(host: str, port: int) -> socket.socket:
    """A bound socket, taken before the model loads: a busy port must not be found out after minutes."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror:
        raise CannotServe(f"there is no address {host!r}; give another --host") from None
    bound = socket.socket(family, kind, protocol)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise CannotServe(f"port {port} on {host} is in use; give another --port") from None
        raise CannotServe(f"cannot listen on {host} port {port}: {error.strerror}") from None
    return bound


def check_exposure(settings: Settings) -> None:
    """Raises CannotServe when anybody could use this server and nobody said so, and for keys that cannot be read."""
    try:
        ApiKeyStore(settings.keys_file, settings.keys)
    except KeysError as error:
        raise CannotServe(str(error)) from None
    if not (settings.guarded or settings.allow_anonymous or is_loopback(settings.host)):
        raise CannotServe(
            f"others can reach {settings.host}: give --keys-file (made by demur keys create), or --allow-anonymous"
        )


async def _serve(settings: Settings, engine_args: Mapping[str, Any], listener: socket.socket) -> int:
    async with AsyncExitStack() as stack:
        try:
            app = await stack.enter_async_context(open_app(settings, engine_args))
        except CannotLoad as error:
            raise CannotServe(str(error)) from None
        address = _address_line(listener, settings.host, app.state.context.answerer.manifest)
        return await serve_app(app, settings, listener, lambda: print(address, flush=True))


@asynccontextmanager
async def open_app(settings: Settings, engine_args: Mapping[str, Any]) -> AsyncGenerator[FastAPI, None]:
    """The app around what the settings name; what it holds is closed in the end. Raises CannotLoad."""
    async with AsyncExitStack() as stack:
        loaded = await ENGINES[settings.engine].load(settings, engine_args)
        stack.push_async_callback(loaded.engine.close)
        if loaded.critic is not None:
            stack.push_async_callback(loaded.critic.close)
        grader = stack.enter_context(await start_grader(settings))
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


def _calibrators(paths: Sequence[Path], fingerprint: str) -> CalibratorStore:
    """Raises CannotLoad, which names the file."""
    try:
        return CalibratorStore(paths, fingerprint)
    except CalibratorFileError as error:
        raise CannotLoad(f"--calibrator: {error}") from None


@contextmanager
def keeping(settings: Settings, manifest: Manifest, fingerprint: str) -> Iterator["Feedback | None"]:
    """What keeps answers to be graded, where the operator wants that; its libraries are loaded then only. `fingerprint`
    tells models of one name apart.

    Raises CannotLoad.
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
    """Raises CannotLoad for a signal that is to decide by default and that this model does not have."""
    answerer = context.answerer
    name, has = answerer.settings.confidence_source, answerer.confidence_sources
    if name is not None and name not in has:
        raise CannotLoad(f"--confidence-source {name} is not served with this model; it has {', '.join(has)}")


async def start_grader(settings: Settings) -> AbstractContextManager[Grader | None]:
    """What groups the answers of a vote by value; nothing where no model writes formulas or nobody may vote."""
    if not ENGINES[settings.engine].compares_formulas or settings.max_samples == 1:
        return nullcontext()
    return await asyncio.to_thread(Grader().start)


async def serve_app(app: FastAPI, settings: Settings, listener: socket.socket, ready: Callable[[], None]) -> int:
    """Serve until told to stop by a signal, or until the engine dies; returns the exit code.

    Requests in flight get `settings.shutdown_timeout` seconds, and are then told that the server stops. `ready` is
    called when connections are accepted.
    """
    config = uvicorn_config(app, settings)
    context: Context = app.state.context
    server, health = AnnouncingServer(config, ready, context.admission, settings.shutdown_timeout), context.health
    health.on_death(lambda: setattr(server, "should_exit", True))
    with _signals_left_to_uvicorn(), loaded_heap_frozen():
        await server.serve(sockets=[listener])
    if health.cause_of_death is None:
        return 0
    logger.critical("the engine died; start the server again", extra={"fields": {"cause": health.cause_of_death}})
    return EXIT_ENGINE_DIED


def uvicorn_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """How every server of ours listens; see `protocol` for what it takes."""
    return uvicorn.Config(
        app,
        http=bounded_protocol(settings.receive_timeout),
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_timeout + ABORT_GRACE,
    )


@contextmanager
def loaded_heap_frozen() -> Iterator[None]:
    """Keep the garbage collector away from what is loaded now, which lives as long as the server.

    vLLM with torch and transformers is about 760,000 objects: a full collection that walks them all holds the event
    loop for 0.3 to 0.4 s, every 10 to 25 s under load, and finds nothing.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _signals_left_to_uvicorn() -> Iterator[None]:
    """uvicorn ends in good order on SIGINT and SIGTERM and then raises them again, which would end the process
    before the engine is closed: here that second time does nothing."""
    handled = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: None) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _address_line(listener: socket.socket, host: str, manifest: Manifest) -> str:
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    calibrated = "calibrated" if manifest.calibrated else "not calibrated"
    return f"demur answers on http://{shown}:{port} with {manifest.name} ({calibrated})"
