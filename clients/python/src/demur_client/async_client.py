"""The client for asyncio. All but the I/O is shared with the ordinary one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from copy import copy
from types import TracebackType
from typing import TYPE_CHECKING, Any

import httpx

from . import batch, decoding, failures, feedback, request, structured
from .answers import Answer
from .batch import Failure, Progress
from .errors import ClientClosedError
from .events import Event, EventReader
from .feedback import Feedback
from .models import AsyncModels
from .raw import AsyncRawAnswers
from .request import DEFAULT_TIMEOUT, LIMITS, Options, Question, Request
from .retrying import DEFAULT_RETRY, RetryPolicy
from .settings import settings

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class AsyncClient:
    """Asks a demur server from asyncio code; the arguments are those of `Client`. Close it, or use `async with`.

    Cancelling the task that waits for an answer closes the connection, and the server stops the work.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | httpx.Timeout | None = None,
        max_retries: int | None = None,
        default_headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
        retry: RetryPolicy = DEFAULT_RETRY,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        limit = timeout if timeout is not None or http_client is not None else DEFAULT_TIMEOUT
        self._settings = settings(base_url, api_key, limit, retry, max_retries, default_headers)
        self._http = http_client or httpx.AsyncClient(limits=LIMITS, timeout=DEFAULT_TIMEOUT, transport=transport)

    @property
    def models(self) -> AsyncModels:
        """What the server has: `list()` and `retrieve(name)`."""
        return AsyncModels(self._send)

    @property
    def with_raw_response(self) -> AsyncRawAnswers:
        """`answer` with the HTTP reply beside it: status, headers, request id, notices."""
        return AsyncRawAnswers(self._send)

    def with_options(
        self,
        *,
        timeout: float | httpx.Timeout | None = None,
        max_retries: int | None = None,
        default_headers: Mapping[str, str] | None = None,
    ) -> Self:
        """A client with other settings on the same connections; closing one closes both."""
        other = copy(self)
        other._settings = self._settings.changed(
            timeout=timeout, max_retries=max_retries, default_headers=default_headers
        )
        return other

    async def answer(self, question: Question, **options: Unpack[Options]) -> Answer:
        """Ask and wait for the answer. See `Client.answer`."""
        return decoding.from_response(await self._send(request.build(question, options)), options.get("schema"))

    async def feedback(
        self,
        answer: Answer | str,
        *,
        correct: bool | None = None,
        gold: str | None = None,
        claim: int | None = None,
        sample: int | None = None,
    ) -> Feedback:
        """Tell the server whether an answer was right. See `Client.feedback`."""
        return feedback.from_response(await self._send(feedback.build(answer, correct, gold, claim, sample)))

    def stream(self, question: Question, **options: Unpack[Options]) -> AsyncAnswerStream:
        """Ask and get typed events as the model writes. See `Client.stream`; use it with `async with`."""
        asked = request.build(question, options, stream=True)
        return AsyncAnswerStream(lambda: self._send(asked), options.get("schema"))

    async def answer_many(
        self,
        questions: Iterable[Question],
        *,
        concurrency: int = 8,
        progress: bool | Progress = False,
        **options: Unpack[Options],
    ) -> list[Answer | Failure]:
        """Ask many questions, `concurrency` at a time, in order, failures as values. See `Client.answer_many`."""
        asked = list(questions)
        found: dict[int, Answer | Failure] = {}
        with batch.reporting(progress) as report:
            async for index, result in self.answer_each(asked, concurrency=concurrency, **options):
                found[index] = result
                report(len(found), len(asked))
        return [found[index] for index in range(len(asked))]

    def answer_each(
        self, questions: Iterable[Question], *, concurrency: int = 8, **options: Unpack[Options]
    ) -> AsyncGenerator[tuple[int, Answer | Failure], None]:
        """Ask many questions, `concurrency` at a time: pairs of a question's index and its answer as they finish.

        Questions are read as needed; see `Client.answer_each`.
        Closing the generator (`contextlib.aclosing`) or cancelling its task cancels the requests under way.
        """
        request.check(options)
        return batch.in_tasks(lambda question: self.answer(question, **options), questions, concurrency)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _send(self, asked: Request) -> httpx.Response:
        """Send until it succeeds or may not be repeated. The body of a stream has not been read then."""
        if self._http.is_closed:
            raise ClientClosedError("this client was closed; make a new one")
        attempt = 0
        while True:
            try:
                response = await self._http.send(self._settings.to_http(self._http, asked), stream=asked.stream)
                if not response.is_success:
                    await response.aread()
            except httpx.RequestError as problem:
                error = failures.from_request_error(problem)
            else:
                error = failures.from_response(response)
                if error is None:
                    return response
            await asyncio.sleep(self._settings.retry.pause(error, attempt))
            attempt += 1


class AsyncAnswerStream(AsyncIterator[Event]):
    """Events of one answer, to be read once. `transcript` is what they have shown so far."""

    def __init__(self, send: Callable[[], Awaitable[httpx.Response]], schema: Any = None) -> None:
        self._schema = schema
        reader = EventReader()
        self.transcript = reader.transcript
        self._events = _events(send, reader)

    async def __anext__(self) -> Event:
        return await anext(self._events)

    async def result(self) -> Answer:
        """Read to the end and return the answer. Raises StreamError where the stream ends without one."""
        async for _ in self:
            pass
        return structured.parsed(self.transcript.result(), self._schema)

    async def close(self) -> None:
        """Close the connection, which stops the work on the server."""
        await self._events.aclose()

    async def __aenter__(self) -> AsyncAnswerStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def _events(send: Callable[[], Awaitable[httpx.Response]], reader: EventReader) -> AsyncGenerator[Event, None]:
    response = await send()
    try:
        reader.begin(response)
        async for data in response.aiter_bytes():
            for event in reader.feed(data):
                yield event
        reader.close()
    except httpx.RequestError as problem:
        reader.close(problem)
    finally:
        await response.aclose()
