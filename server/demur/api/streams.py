"""Server-sent events that stop the work behind them when the client goes, and the same for replies in one piece."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from demur.answering.deadline import Deadline
from demur.api.errors import ApiError

T = TypeVar("T")

KEEP_ALIVE = b": still working\n\n"
LAST_WORDS = 5.0
"""Seconds that a client may take for the end of a stream, once its deadline is over."""


class _NotRead(Exception):
    """The client does not take what it is sent."""


def frame(data: str, event: str | None = None) -> bytes:
    """One server-sent event. `data` is JSON, so it has no line breaks."""
    head = "" if event is None else f"event: {event}\n"
    return f"{head}data: {data}\n\n".encode()


class EventStream(Response):
    """Sends `frames` as they come, and a comment line after every `keep_alive` seconds of silence.

    The status line waits for the first frame or the first comment: what fails at once is raised, and so becomes an
    ordinary error reply. `late_headers` are asked for then. What fails later is the last frame, made by `on_error`. A
    client that goes away closes `frames`, and so does one that stays and reads nothing any more until `deadline`.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        frames: AsyncGenerator[bytes, None],
        *,
        keep_alive: float,
        deadline: Deadline,
        on_error: Callable[[Exception], bytes],
        late_headers: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._frames = frames
        self._keep_alive = keep_alive
        self._deadline = deadline
        self._on_error = on_error
        self._late_headers = late_headers
        self._started = False
        self._sending = asyncio.Lock()
        self._last_sent = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        writing = asyncio.create_task(self._write(send))
        watching = asyncio.create_task(_disconnected(receive))
        pinging = asyncio.create_task(self._ping(send))
        try:
            await asyncio.wait({writing, watching}, return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                writing.result()
        finally:
            await cancel(writing, watching, pinging)

    async def _write(self, send: Send) -> None:
        async with aclosing(self._frames) as frames:
            try:
                async for data in frames:
                    await self._send_in_time(send, data)
            except _NotRead:
                return
            except Exception as error:
                if not self._started:
                    raise
                last = self._on_error(error)
            else:
                last = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                await self._send(send, last, more=False)

    async def _send_in_time(self, send: Send, data: bytes) -> None:
        """Raises _NotRead, and whatever else goes wrong as it is."""
        try:
            await self._deadline.bound(self._send(send, data))
        except Exception as error:
            if self._deadline.is_why(error):
                raise _NotRead from error
            raise

    async def _ping(self, send: Send) -> None:
        loop = asyncio.get_running_loop()
        self._last_sent = loop.time()
        while True:
            await asyncio.sleep(self._last_sent + self._keep_alive - loop.time())
            if loop.time() >= self._last_sent + self._keep_alive:
                await self._send(send, KEEP_ALIVE)

    async def _send(self, send: Send, data: bytes, more: bool = True) -> None:
        async with self._sending:
            if not self._started:
                self._started = True
                self.headers.update(self._late_headers())
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": data, "more_body": more})
            self._last_sent = asyncio.get_running_loop().time()


async def together(streams: Sequence[AsyncGenerator[T, None]]) -> AsyncGenerator[tuple[int, T], None]:
    """(index, item) of each stream as it comes. The first error is raised, and the other streams are closed."""
    arrived: asyncio.Queue[tuple[int, T] | Exception | None] = asyncio.Queue()
    reading = [asyncio.create_task(_forward(i, stream, arrived)) for i, stream in enumerate(streams)]
    left = len(reading)
    try:
        while left:
            arrival = await arrived.get()
            if isinstance(arrival, Exception):
                raise arrival
            if arrival is None:
                left -= 1
            else:
                yield arrival
    finally:
        await cancel(*reading)


async def _forward(
    i: int, stream: AsyncGenerator[T, None], arrived: "asyncio.Queue[tuple[int, T] | Exception | None]"
) -> None:
    try:
        async with aclosing(stream) as items:
            async for item in items:
                arrived.put_nowait((i, item))
        arrived.put_nowait(None)
    except Exception as error:  # noqa: BLE001 - raised where the arrivals are awaited
        arrived.put_nowait(error)


async def unless_disconnected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled when the client goes away."""
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_disconnected(request.receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ApiError(499, "client_gone", "the client went away")
    finally:
        await cancel(working, watching)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def cancel(*tasks: asyncio.Task[Any]) -> None:
    """Cancel what still runs and wait until it has cleaned up; what already failed is the caller's to raise."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
