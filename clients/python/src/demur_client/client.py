"""The client for ordinary code. All but the I/O is shared with the asynchronous one."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from copy import copy
from types import TracebackType
from typing import TYPE_CHECKING, Any

import httpx

from . import answers, batch, decoding, failures, feedback, request, structured
from .answers import Answer
from .batch import Failure, Progress
from .errors import ClientClosedError
from .events import Event, EventReader
from .feedback import Feedback
from .models import Models
from .raw import RawAnswers
from .request import DEFAULT_TIMEOUT, LIMITS, Options, Question, Request
from .retrying import DEFAULT_RETRY, RetryPolicy
from .settings import settings

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Client:
    """Asks a demur server. Safe to share between threads; close it, or use it as a context manager.

    `base_url` is DEMUR_BASE_URL or this machine by default, `api_key` is DEMUR_API_KEY or none. `timeout` is in
    seconds, or an `httpx.Timeout`; it counts from one piece of a reply to the next. `max_retries` is how often a
    request is repeated that may be; `retry` says all about that. `http_client` is one of your own, with its proxies
    and certificates; `default_headers` go with every request. `transport` replaces the network in tests:
    `httpx.MockTransport`, for one.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | httpx.Timeout | None = None,
        max_retries: int | None = None,
        default_headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
        retry: RetryPolicy = DEFAULT_RETRY,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        limit = timeout if timeout is not None or http_client is not None else DEFAULT_TIMEOUT
        self._settings = settings(base_url, api_key, limit, retry, max_retries, default_headers)
        self._http = http_client or httpx.Client(limits=LIMITS, timeout=DEFAULT_TIMEOUT, transport=transport)

    @property
    def models(self) -> Models:
        """What the server has: `list()` and `retrieve(name)`."""
        return Models(self._send)

    @property
    def with_raw_response(self) -> RawAnswers:
        """`answer` with the HTTP reply beside it: status, headers, request id, notices."""
        return RawAnswers(self._send)

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

    def answer(self, question: Question, **options: Unpack[Options]) -> Answer:
        """Ask and wait for the answer; an abstention is an answer whose `decision` is "abstain".

        `question` is a text or a list of messages. The options are those of `demur_client.Options`, first of all
        `risk_threshold`. Raises a DemurError for everything that went wrong on the way or at the server; TypeError for
        an option that does not exist or a schema that is none, and ValueError for nan or infinity, before anything is
        sent.
        """
        reply = self._send(request.build(question, options))
        return answers.bound(decoding.from_response(reply, options.get("schema")), self.feedback)

    def feedback(
        self,
        answer: Answer | str,
        *,
        correct: bool | None = None,
        gold: str | None = None,
        claim: int | None = None,
        sample: int | None = None,
    ) -> Feedback:
        """Tell the server whether an answer was right; it is kept when this returns.

        `answer` is one or its id. With `gold`, a known answer, the server compares; else `correct` says it, and None
        takes the verdict back. `claim` or `sample`, counted from 0, is what is meant instead of the whole.
        Raises a DemurError: where the server keeps no answers, it is NotFoundError. Raises ValueError where both
        `correct` and `gold` are given.
        """
        asked = feedback.build(answer, correct, gold, claim, sample)
        return feedback.from_response(self._send(asked))

    def stream(self, question: Question, **options: Unpack[Options]) -> AnswerStream:
        """Ask and get typed events as the model writes; the last one is an AnswerEvent.

        Use it in a `with` statement: leaving it early closes the connection, and the server stops the work.
        """
        asked = request.build(question, options, stream=True)
        return AnswerStream(lambda: self._send(asked), options.get("schema"), self.feedback)

    def answer_many(
        self,
        questions: Iterable[Question],
        *,
        concurrency: int = 8,
        progress: bool | Progress = False,
        **options: Unpack[Options],
    ) -> list[Answer | Failure]:
        """Ask many questions, `concurrency` at a time; answers come in the order of the questions.

        What failed is a `Failure` in its place, false in a condition, so one failure costs no other answer.
        `progress` is True for a bar, or a function that is called with (done, total). Raises ValueError for a
        concurrency below 1, and TypeError or ValueError for options as `answer` does.
        """
        asked = list(questions)
        found: dict[int, Answer | Failure] = {}
        with batch.reporting(progress) as report:
            for index, result in self.answer_each(asked, concurrency=concurrency, **options):
                found[index] = result
                report(len(found), len(asked))
        return [found[index] for index in range(len(asked))]

    def answer_each(
        self, questions: Iterable[Question], *, concurrency: int = 8, **options: Unpack[Options]
    ) -> Generator[tuple[int, Answer | Failure], None, None]:
        """Ask many questions, `concurrency` at a time: pairs of a question's index and its answer as they finish.

        Questions are read as needed. Raises TypeError or ValueError for options as `answer` does, and ValueError for a
        concurrency below 1 once it is iterated.
        Closing the generator early starts nothing more and waits for the requests under way.
        """
        request.check(options)
        return batch.in_threads(lambda question: self.answer(question, **options), questions, concurrency)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, asked: Request) -> httpx.Response:
        """Send until it succeeds or may not be repeated. The body of a stream has not been read then."""
        if self._http.is_closed:
            raise ClientClosedError("this client was closed; make a new one")
        attempt = 0
        while True:
            try:
                response = self._http.send(self._settings.to_http(self._http, asked), stream=asked.stream)
                if not response.is_success:
                    response.read()
            except httpx.RequestError as problem:
                error = failures.from_request_error(problem)
            else:
                error = failures.from_response(response)
                if error is None:
                    return response
            time.sleep(self._settings.retry.pause(error, attempt))
            attempt += 1


class AnswerStream(Iterator[Event]):
    """Events of one answer, to be read once. `transcript` is what they have shown so far."""

    def __init__(
        self,
        send: Callable[[], httpx.Response],
        schema: Any = None,
        feedback: Callable[..., Feedback] | None = None,
    ) -> None:
        self._schema, self._feedback = schema, feedback
        reader = EventReader()
        self.transcript = reader.transcript
        self._events = _events(send, reader)  # knows nothing of self, so a dropped stream closes at once

    def __next__(self) -> Event:
        return next(self._events)

    def result(self) -> Answer:
        """Read to the end and return the answer. Raises StreamError where the stream ends without one."""
        for _ in self:
            pass
        return answers.bound(structured.parsed(self.transcript.result(), self._schema), self._feedback)

    def close(self) -> None:
        """Close the connection, which stops the work on the server."""
        self._events.close()

    def __enter__(self) -> AnswerStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _events(send: Callable[[], httpx.Response], reader: EventReader) -> Generator[Event, None, None]:
    response = send()
    try:
        reader.begin(response)
        for data in response.iter_bytes():
            yield from reader.feed(data)
        reader.close()
    except httpx.RequestError as problem:
        reader.close(problem)
    finally:
        response.close()
