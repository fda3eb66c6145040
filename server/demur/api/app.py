"""The app, made by a factory: engine and model in, FastAPI out. Nothing starts before the app is served."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from fastapi import FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from opentelemetry.trace import Tracer
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette_compress import CompressMiddleware, remove_compress_type

import demur
from demur.answering import Answerer, AnsweringError
from demur.api import answers, docs, grading, models, operations, web
from demur.api import feedback as feedback_api
from demur.api.admission import Admission, Cost
from demur.api.auth import Authenticator
from demur.api.chat import routes as chat
from demur.api.context import Context
from demur.api.errors import ApiError, error_response
from demur.api.health import EngineHealth
from demur.api.middleware import RequestMiddleware
from demur.api.responses import routes as responses
from demur.api.served_document import serve_own_document
from demur.api.streams import cancel
from demur.api_keys import ApiKeyStore
from demur.calibration.store import CalibratorStore
from demur.engine.base import Engine, EngineError
from demur.engine.critic import Critic
from demur.grading import Grader
from demur.manifest import Manifest
from demur.observability.engine import EngineMetrics, UpstreamState
from demur.observability.metrics import Metrics
from demur.settings import Settings

if TYPE_CHECKING:
    from demur.feedback.service import Feedback

COMPRESSED_FROM = 1_000
"""Bytes; replies that are shorter than a packet are sent as they are, and so are streams."""
CHECK_INTERVAL = 2.0
"""Seconds between two looks at the engine when no request tells how it is."""


@runtime_checkable
class CountsRunning(Protocol):
    """An engine that knows how many samples it is working on."""

    @property
    def running(self) -> int: ...


@runtime_checkable
class RestartableEngine(Protocol):
    """An engine that is started again when it dies."""

    def on_restart(self, tell: Callable[[], None]) -> None: ...


@runtime_checkable
class HasUpstreams(Protocol):
    """An engine that passes its work on to hosts, and knows how they are doing."""

    def upstreams(self) -> Sequence[UpstreamState]: ...


def create_app(
    engine: Engine,
    manifest: Manifest,
    settings: Settings | None = None,
    *,
    grader: Grader | None = None,
    critic: Critic | None = None,
    calibrators: CalibratorStore | None = None,
    fingerprint: str | None = None,
    tracer: Tracer | None = None,
    feedback: "Feedback | None" = None,
    clock: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """An app that answers with `engine` under `manifest`. The caller owns engine, grader, critic and feedback, and
    closes them.

    A running `grader` tells which formulas among the answers of a vote are equal. `critic` is the one that the
    manifest describes. `calibrators` are applied where they fit the request and the model, which `fingerprint` tells
    from others; without one its name does.

    `feedback` keeps what is answered, so that it can be graded; without it nothing is kept.

    With a `tracer` requests and samples are recorded; who made it sends them. `clock` gives the seconds that limits
    per minute go by; it never goes back.

    Raises KeysError when the settings name keys that cannot be read.

    `app.state.context.health.on_death` takes what has to happen when the engine dies.
    """
    settings = settings or Settings()
    answerer = Answerer(
        engine, manifest, settings, grader=grader, critic=critic, calibrators=calibrators, fingerprint=fingerprint
    )
    context = _context(answerer, clock, feedback)
    _measure(engine, context.metrics.engine)
    app = _bare_app(context)
    _add_routes(app, guarded=settings.guarded)
    serve_own_document(app, answerer)
    _add_middleware(app, context.metrics, settings, tracer)
    return app


def _bare_app(context: Context) -> FastAPI:
    """No routes yet; every error that routes raise becomes a reply."""
    app = FastAPI(
        title="demur",
        version=demur.__version__,
        summary="Answers, says how sure it is, and declines when that is less than the caller asked for.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_watching,
    )
    app.state.context = context
    for kind in (ApiError, AnsweringError, EngineError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _reply_with_error)
    return app


def _add_routes(app: FastAPI, *, guarded: bool) -> None:
    """The API, where `guarded` shown to need a key; health and metrics, its documentation, and the pages."""
    shown = [Security(HTTPBearer(auto_error=False))] if guarded else []
    for routes in (answers, chat, responses, feedback_api, models):
        app.include_router(routes.router, dependencies=shown)
    app.include_router(operations.router)
    docs.add_docs(app)
    if (folder := web.web_folder()) is not None:
        web.add_page(app, folder)
        grading.add_grading_page(app, folder)


def _add_middleware(app: FastAPI, metrics: Metrics, settings: Settings, tracer: Tracer | None) -> None:
    """The one that is added last sees a request first."""
    remove_compress_type("text/event-stream")
    app.add_middleware(CompressMiddleware, minimum_size=COMPRESSED_FROM)
    app.add_middleware(RequestMiddleware, metrics=metrics, settings=settings, tracer=tracer)
    if settings.cors_origins:
        _allow_origins(app, settings.cors_origins)


def _allow_origins(app: FastAPI, origins: Sequence[str]) -> None:
    """Scripts of these pages may call. Keys go in a header, never in a cookie, so no credentials are allowed."""
    app.add_middleware(
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=["GET", "HEAD", "POST"],
        allow_headers=["*"],
        expose_headers=["x-request-id", "demur-notice", "retry-after"],
        max_age=600,
    )


def _measure(engine: Engine, metrics: EngineMetrics) -> None:
    """Expose what this engine tells about itself."""
    if isinstance(engine, CountsRunning):
        metrics.watch_running(lambda: engine.running)
    if isinstance(engine, HasUpstreams):
        metrics.watch_upstreams([state.name for state in engine.upstreams()], engine.upstreams)
    if isinstance(engine, RestartableEngine):
        engine.on_restart(metrics.restarts.inc)


def _context(answerer: Answerer, clock: Callable[[], float], feedback: "Feedback | None") -> Context:
    metrics, health, settings = Metrics(), EngineHealth(answerer.engine), answerer.settings
    admission = Admission(
        Cost(settings.max_running_samples, settings.max_running_tokens),
        Cost(settings.max_queued_samples, settings.max_queued_tokens),
        metrics,
    )
    metrics.admission.watch(admission)
    metrics.engine.watch_ready(lambda: health.ready)
    metrics.engine.watch_grading(lambda: answerer.equivalence.waiting)
    keys = _key_ring(settings, clock) if settings.guarded else None
    metrics.engine.watch_keys(lambda: 0.0 if keys is None else keys.age)
    if feedback is not None:
        feedback.measure(metrics.registry)
        feedback.calibrators = answerer.calibrators
    auth = Authenticator(keys, settings, metrics, clock=clock)
    return Context(answerer, metrics, health, admission, auth, feedback)


def _key_ring(settings: Settings, clock: Callable[[], float]) -> ApiKeyStore:
    return ApiKeyStore(settings.keys_file, settings.keys, max_age=settings.keys_max_age, clock=clock)


@asynccontextmanager
async def _watching(app: FastAPI) -> AsyncGenerator[None, None]:
    context: Context = app.state.context
    watching = [
        asyncio.create_task(context.health.watch(CHECK_INTERVAL)),
        asyncio.create_task(context.auth.watch_keys()),
        asyncio.create_task(context.answerer.calibrators.watch()),
    ]
    try:
        yield
    finally:
        await cancel(*watching)


async def _reply_with_error(request: Request, error: Exception) -> JSONResponse:
    found = request.app.state.context.fail(request, error)
    return error_response(found, request.state.request_id, request.url.path)
