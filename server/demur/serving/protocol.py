"""uvicorn's HTTP protocol with bounds on all of a request that is not its body.

uvicorn takes a request line and headers of any size, waits for them as long as they take, and goes on parsing a body
whose request was answered long ago. All of that comes before a key is asked for, so it is bounded here: in bytes, in
number and in time. What is refused is answered in the one shape of errors, and its connection closed.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from demur.answering import new_id
from demur.api.errors import ApiError, ErrorReply

MAX_HEAD = 65_536
"""Bytes of the request line and the headers."""
MAX_HEADERS = 100
"""Trailers count as well."""
MAX_PIPELINED = 16
"""Requests of one connection that wait for the reply to an earlier one."""
MAX_FRAMING = 16_384
"""Bytes of chunk sizes, their extensions and trailers, beside a sixteenth of the body."""
LINGER_BYTES, LINGER_SECONDS = 1_048_576, 5.0
"""Still taken from a client that is answered before it has sent all: a connection closed at once may lose the reply."""

_SMALLEST_FRAME = 5
"""Bytes around the data of a chunk."""
_LONG_URL = ApiError(414, "invalid_request", f"the URL has more bytes than the limit of {MAX_HEAD}")
_LONG_HEAD = ApiError(431, "invalid_request", f"the headers are over the limit of {MAX_HEAD} bytes or {MAX_HEADERS}")
_FRAMING = ApiError(400, "invalid_request", "the chunks of the body are too small, or carry too much beside it")
_PIPELINED = ApiError(400, "invalid_request", f"at most {MAX_PIPELINED} requests may wait in one connection")
_NO_HTTP = ApiError(400, "invalid_request", "this is no valid HTTP/1.1 request")


class Refused(Exception):
    """Raised through the parser, which stops there."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection. `receive_timeout` is how many seconds the head of a request may take."""

    receive_timeout = 20.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._refusal: ApiError | None = None
        self._taking: int | None = None  # bytes still taken, once there is nothing more to say
        self._in_head, self._whole, self._parts = False, True, 0
        self._begin()
        self._wait(self.receive_timeout)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._taking is not None:
            self._taking -= len(data)
            if self._taking < 0:
                self.transport.close()
                return
        if self._refusal is None:
            self._parts, before, between = 0, self._body, self._whole
            super().data_received(data)
            self._count(len(data) - (self._body - before), self._parts > (1 if between and self._in_head else 0))
        if self._whole and self._timer is None and not self._busy:
            self._wait(self.receive_timeout)  # empty lines between two requests: uvicorn has stopped its own clock

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= MAX_PIPELINED:
            self._stop(_PIPELINED)
        super().on_message_begin()
        self._in_head, self._whole = True, False
        self._begin()
        self._wait(self.receive_timeout)

    def on_url(self, url: bytes) -> None:
        self._head += len(url)
        if self._head > MAX_HEAD:
            self._stop(_LONG_URL)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value)
        self._headers += 1
        if self._head > MAX_HEAD or self._headers > MAX_HEADERS:
            self._stop(_LONG_HEAD)
        if self._in_head:  # a trailer is no header: the application has read those
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        self._in_head, self._loose = False, 0
        self._parts += 1
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        self._chunks += 1
        if self._chunks * _SMALLEST_FRAME > MAX_FRAMING + self._body // 16:
            self._stop(_FRAMING)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._whole = True
        if self._taking is not None:  # the rest came after the reply: the connection can be used again
            self._taking = None
            self._stop_waiting()
            self._keep_alive()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not (self._whole or self._in_head) and self.cycle.response_complete:
            self._linger()

    def send_400_response(self, msg: str) -> None:
        """What uvicorn calls when the parser stopped, by itself or by one of the bounds above."""
        self._refuse(self._refusal or _NO_HTTP)

    @property
    def _busy(self) -> bool:
        """Whether a request has come that is not answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _begin(self) -> None:
        self._head = self._headers = self._body = self._chunks = self._loose = 0
        self._parts += 1

    def _count(self, framing: int, mixed: bool) -> None:
        """What no callback tells: the beginning of a header, extensions of chunks. `framing` is what came beside the
        body; where it is the end of one head or body and the beginning of another it counts for neither."""
        self._loose = 0 if mixed else self._loose + framing
        if self._refusal is None and not self._whole:
            if self._in_head and self._loose > MAX_HEAD:
                self._refuse(_LONG_HEAD)
            elif self._loose > MAX_FRAMING + self._body // 16 and not self._in_head:
                self._refuse(_FRAMING)

    def _stop(self, error: ApiError) -> None:
        self._refusal = error
        raise Refused

    def _refuse(self, error: ApiError) -> None:
        """Take nothing more; requests that came before this one are answered first."""
        self._refusal = error
        self._stop_waiting()
        if self.pipeline or (self._busy and (self._in_head or self._whole)):
            self.cycle.keep_alive = False
        elif self._busy and self.cycle.response_started:
            self.transport.close()
        else:
            self._write(error)
            self._linger()

    def _write(self, error: ApiError) -> None:
        request_id = new_id("req")
        body = ErrorReply(error=error.body(request_id)).model_dump_json().encode()
        head = f"content-type: application/json\r\nx-request-id: {request_id}\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(STATUS_LINE[error.status] + head.encode() + b"connection: close\r\n\r\n" + body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _linger(self) -> None:
        self._taking = LINGER_BYTES
        self._wait(LINGER_SECONDS)

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self._late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        if self._busy and self._taking is None:
            self._wait(self.receive_timeout)  # the reply to an earlier request holds this one up
        elif self._in_head and self._taking is None:
            self._refuse(_late_head(self.receive_timeout))
        else:
            self.transport.close()

    def _keep_alive(self) -> None:
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)


def _late_head(seconds: float) -> ApiError:
    return ApiError(408, "invalid_request", f"the headers did not come within {seconds:g} seconds")


def bounded_protocol(receive_timeout: float) -> type[BoundedProtocol]:
    """The class that uvicorn makes a connection's protocol of."""
    return type("BoundedProtocol", (BoundedProtocol,), {"receive_timeout": receive_timeout})
