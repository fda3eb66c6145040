"""Streams and cancellation over a real socket, against a small app that says what became of its work."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from demur_client import NO_RETRY, AsyncClient, Client, DeltaEvent, StreamError
from live import serving

LIMIT = 10.0
"""Seconds after which a test that waits for an event has failed."""


def routed(endpoint: Callable[[Request], Awaitable[Response]]) -> Starlette:
    return Starlette(routes=[Route("/v1/answers", endpoint, methods=["POST"])])


class Endless:
    """An app whose answers never end by themselves. It shows when work began and when it was stopped.

    `begun` and `stopped` are set once `expected` requests have begun, or have been stopped by their clients.
    """

    def __init__(self, expected: int = 1) -> None:
        self.expected = expected
        self.begun, self.stopped = threading.Event(), threading.Event()
        self._begun = self._stopped = 0
        self.app = routed(self._answer)

    async def _answer(self, request: Request) -> Response:
        asked = await request.json()
        if asked.get("stream"):
            return StreamingResponse(self._frames(), media_type="text/event-stream")
        self._begin()
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self._stop()
        return Response()

    async def _frames(self) -> AsyncGenerator[str, None]:
        self._begin()
        try:
            yield 'event: delta\ndata: {"text": "2 * 20"}\n\n'
            await asyncio.Event().wait()
        finally:
            self._stop()

    def _begin(self) -> None:
        self._begun += 1
        if self._begun == self.expected:
            self.begun.set()

    def _stop(self) -> None:
        self._stopped += 1
        if self._stopped == self.expected:
            self.stopped.set()


@pytest.fixture
def endless() -> Iterator[tuple[Endless, str]]:
    app = Endless()
    with serving(app.app) as address:
        yield app, address


def test_an_event_arrives_before_the_answer_is_finished(endless: tuple[Endless, str]) -> None:
    app, address = endless
    with Client(base_url=address) as client, client.stream("7 * 8?") as stream:
        assert next(stream) == DeltaEvent("2 * 20")
        assert stream.transcript.text == "2 * 20"
        assert not app.stopped.is_set()
    assert app.stopped.wait(LIMIT)


def test_leaving_the_with_statement_stops_the_work(endless: tuple[Endless, str]) -> None:
    app, address = endless
    with Client(base_url=address) as client:
        with client.stream("7 * 8?") as stream:
            for _ in stream:
                break
        assert app.stopped.wait(LIMIT)
        with pytest.raises(StreamError, match="closed before"):
            stream.result()


def test_a_dropped_stream_stops_the_work(endless: tuple[Endless, str]) -> None:
    app, address = endless
    with Client(base_url=address) as client:
        for _ in client.stream("7 * 8?"):
            break
        assert app.stopped.wait(LIMIT)


def test_leaving_an_asynchronous_stream_stops_the_work(endless: tuple[Endless, str]) -> None:
    app, address = endless

    async def run() -> None:
        async with AsyncClient(base_url=address) as client:
            async with client.stream("7 * 8?") as stream:
                assert await anext(stream) == DeltaEvent("2 * 20")
            assert await asyncio.to_thread(app.stopped.wait, LIMIT)

    asyncio.run(run())


@pytest.mark.parametrize("ask", ["answer", "stream"])
def test_cancelling_the_task_stops_the_work(endless: tuple[Endless, str], ask: str) -> None:
    app, address = endless

    async def run() -> None:
        async with AsyncClient(base_url=address) as client:
            work = client.answer("7 * 8?") if ask == "answer" else client.stream("7 * 8?").result()
            task = asyncio.create_task(work)
            assert await asyncio.to_thread(app.begun.wait, LIMIT)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(app.stopped.wait, LIMIT)

    asyncio.run(run())


def test_leaving_a_batch_cancels_what_is_under_way() -> None:
    app = Endless(expected=3)

    async def run(address: str) -> None:
        async with AsyncClient(base_url=address) as client:
            results = client.answer_each(["a?", "b?", "c?", "d?"], concurrency=3)
            first = asyncio.create_task(anext(results))
            assert await asyncio.to_thread(app.begun.wait, LIMIT)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            assert await asyncio.to_thread(app.stopped.wait, LIMIT)

    with serving(app.app) as address:
        asyncio.run(run(address))


def test_a_connection_lost_in_the_middle_is_no_answer() -> None:
    async def cut(_: Request) -> Response:
        headers = {"content-length": "1000", "x-request-id": "r9"}
        frames = ['event: delta\ndata: {"text": "half"}\n\n']
        return StreamingResponse(iter(frames), media_type="text/event-stream", headers=headers)

    with serving(routed(cut)) as address, Client(base_url=address) as client, client.stream("7 * 8?") as stream:
        assert next(stream) == DeltaEvent("half")
        with pytest.raises(StreamError, match="broke before the answer") as raised:
            next(stream)
    assert raised.value.request_id == "r9"


def test_many_streams_share_one_client(reply: Any) -> None:
    async def echo(request: Request) -> Response:
        question = (await request.json())["question"]
        frames = [f"event: answer\ndata: {json.dumps(reply(answer=question))}\n\n"]
        return StreamingResponse(iter(frames), media_type="text/event-stream")

    async def run(address: str) -> list[str | None]:
        async with AsyncClient(base_url=address, retry=NO_RETRY) as client:
            answers = await asyncio.gather(*(client.stream(str(number)).result() for number in range(50)))
        return [answer.answer for answer in answers]

    with serving(routed(echo)) as address:
        assert asyncio.run(run(address)) == [str(number) for number in range(50)]
