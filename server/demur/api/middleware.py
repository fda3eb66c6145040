"""The outermost layer: gives each request an id, bounds its body, counts it, logs it, and lets no exception through."""

import asyncio
import logging
import re
import time
from typing import Any

from opentelemetry.trace import NoOpTracer, Tracer
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from demur.answering import new_id
from demur.api.errors import BROKEN, ApiError, error_response
from demur.api.hosts import check_host
from demur.api.streams import KEEP_ALIVE
from demur.observability.logs import log_failure, logger
from demur.observability.metrics import Metrics
from demur.settings import Settings
from demur.tracing import UNTRACED, Span

_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_CLOSE = {"connection": "close"}
_PROBES = frozenset({"/health", "/ready", "/metrics"})
"""Asked for every few seconds, so logged only at level debug."""


class RequestMiddleware:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, metrics: Metrics, settings: Settings, tracer: Tracer | None = None) -> None:
        self._app = app
        self._metrics = metrics
        self._settings = settings
        self._tracer = tracer or NoOpTracer()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(scope, receive, send, self._settings, self._span(scope))
        with self._metrics.http.in_flight.track_inprogress():
            try:
                await exchange.run(self._app)
            finally:
                self._record(exchange)

    def _span(self, scope: Scope) -> Span:
        return UNTRACED if scope["path"] in _PROBES else Span.of_request(self._tracer, Headers(scope=scope))

    def _record(self, exchange: "Exchange") -> None:
        endpoint, method, status = exchange.endpoint, exchange.method, str(exchange.status)
        self._metrics.http.requests.labels(method, endpoint, status).inc()
        self._metrics.http.duration.labels(endpoint).observe(exchange.seconds)
        if exchange.first_byte is not None:
            self._metrics.http.first_event.labels(endpoint).observe(exchange.first_byte)
        level = logging.DEBUG if endpoint in _PROBES else logging.INFO
        logger.log(level, "request", extra={"fields": exchange.fields()})
        exchange.span.name(f"{method} {endpoint}")
        exchange.span.reply(method, endpoint, exchange.status)
        exchange.span.end()


class Exchange:
    """One request and its reply, watched from outside."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, settings: Settings, span: Span) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._settings = settings
        self._without_body = False
        self._received = 0
        self._receive_by: float | None = None
        self._received_all = False
        self._began = time.perf_counter()
        self.status = 499
        """Until a reply begins: what is logged when the client goes away before."""
        self.first_byte: float | None = None
        self.state: dict[str, Any] = scope.setdefault("state", {})
        offered = Headers(scope=scope).get("x-request-id", "")
        self.request_id = offered if _SAFE_ID.fullmatch(offered) else new_id("req")
        self.state["request_id"] = self.request_id
        self.state["span"] = self.span = span
        span.note(request_id=self.request_id)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    @property
    def endpoint(self) -> str:
        """The path of the route, never the path that was sent: that one may hold anything."""
        return getattr(self._scope.get("route"), "path", "unmatched")

    @property
    def method(self) -> str:
        return self._scope["method"] if self._scope["method"] in _METHODS else "other"

    async def run(self, app: ASGIApp) -> None:
        try:
            self._normalize()
            check_host(self._scope, self._settings)
            if _declared_length(self._scope) > self._settings.max_body_bytes:
                await self._fail(ApiError(413, "invalid_request", self._too_large()))
            else:
                await app(self._scope, self.receive, self.send)
        except ApiError as error:  # before the app was asked, which answers its own
            await self._fail(error)
        except Exception as error:  # noqa: BLE001 - the last resort: whatever it is, the caller gets a reply
            log_failure(error, self.request_id)
            if self.first_byte is None and self.status == 499:
                await self._fail(BROKEN)

    def _normalize(self) -> None:
        """A HEAD is a GET whose body is not sent, and a path under /v1 may end in slashes: some clients add one."""
        path = self._scope["path"]
        if path.startswith("/v1/") and path.endswith("/"):
            self._scope["path"] = path.rstrip("/")
            self._scope["raw_path"] = self._scope["path"].encode()
        if self._scope["method"] == "HEAD":
            self._without_body, self._scope["method"] = True, "GET"

    async def receive(self) -> Message:
        message = await (self._receive() if self._received_all else self._receive_in_time())
        self._received += len(message.get("body", b""))
        self._received_all = not message.get("more_body", False)
        if self._received > self._settings.max_body_bytes:
            raise HTTPException(413, self._too_large())
        return message

    async def _receive_in_time(self) -> Message:
        """The time is that of the whole body, however small the pieces are that it comes in."""
        limit = self._settings.receive_timeout
        if self._receive_by is None:
            self._receive_by = asyncio.get_running_loop().time() + limit
        try:
            async with asyncio.timeout_at(self._receive_by):
                return await self._receive()
        except TimeoutError:
            raise HTTPException(408, f"the body did not come within {limit:g} seconds", _CLOSE) from None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)["x-request-id"] = self.request_id
        elif self.first_byte is None and message.get("body") and message["body"] != KEEP_ALIVE:
            self.first_byte = self.seconds
        if self._without_body and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)

    def fields(self) -> dict[str, Any]:
        """What the log says about this exchange."""
        fields: dict[str, Any] = {
            "request_id": self.request_id,
            "method": self.method,
            "endpoint": self.endpoint,
            "status": self.status,
            "seconds": round(self.seconds, 6),
        }
        if self.first_byte is not None:
            fields["first_byte_seconds"] = round(self.first_byte, 6)
        if (trace_id := self.span.trace_id) is not None:
            fields["trace_id"] = trace_id
        if (caller := self.state.get("caller")) is not None and caller.name:
            fields["caller"] = caller.name
        fields |= {name: self.state[name] for name in ("error", "question", "answers") if name in self.state}
        return fields

    async def _fail(self, error: ApiError) -> None:
        self.state["error"] = error.kind
        await error_response(error, self.request_id, self._scope["path"])(self._scope, self._receive, self.send)

    def _too_large(self) -> str:
        return f"the body is over the limit of {self._settings.max_body_bytes} bytes"


def _declared_length(scope: Scope) -> int:
    declared = Headers(scope=scope).get("content-length", "")
    return int(declared[:19]) if declared.isdecimal() else 0
