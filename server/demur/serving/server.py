"""Listen, say so in one line, and end when the engine does."""

import asyncio
import errno
import gc
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from demur.api.admission import Admission
from demur.api.context import Context
from demur.api_keys import ApiKeyStore, KeysError
from demur.manifest import Manifest
from demur.observability.logs import configure_logging, logger
from demur.serving.app_loading import open_app
from demur.serving.errors import CannotLoad, CannotServe
from demur.serving.huge_pages import collapse_heap_aside
from demur.serving.protocol import bounded_protocol
from demur.serving.standard_error import never_waited_for
from demur.settings import Settings, is_loopback

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
        collapse_heap_aside()
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
        timeout_keep_alive=settings.idle_timeout,
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
