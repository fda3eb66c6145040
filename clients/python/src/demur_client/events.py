"""A streamed answer: typed events, and what they have shown so far. No I/O."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Union, cast

import httpx

from . import decoding, sse
from .answers import Answer
from .errors import ReplyError, StreamError
from .failures import error_words, request_id
from .values import Claim, State


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """The model is at work: tokens so far. No text is shown that may still be withheld."""

    tokens: int


@dataclass(frozen=True, slots=True)
class DeltaEvent:
    """The next piece of the text that a person reads."""

    text: str


@dataclass(frozen=True, slots=True)
class ClaimEvent:
    """A claim has closed; its span lies in the text shown so far."""

    index: int
    claim: Claim


@dataclass(frozen=True, slots=True)
class ResetEvent:
    """The model started its solution over: text and claims shown so far are void."""

    reason: str


@dataclass(frozen=True, slots=True)
class SampleEvent:
    """One of several samples has finished."""

    id: int
    confidence: float | None
    state: State


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """The last event: the whole answer. It holds whatever the events before it showed."""

    answer: Answer


Event = Union[ProgressEvent, DeltaEvent, ClaimEvent, ResetEvent, SampleEvent, AnswerEvent]  # noqa: UP007


class Transcript:
    """What a stream has shown so far: the events folded."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self.claims: list[Claim] = []
        self.samples: list[SampleEvent] = []
        self.tokens = 0
        self.answer: Answer | None = None

    @property
    def text(self) -> str:
        """The text so far; the final answer holds it too, also where it abstains."""
        self._text = ["".join(self._text)]
        return self._text[0]

    def add(self, event: Event) -> None:
        """Take one event in."""
        if isinstance(event, DeltaEvent):
            self._text.append(event.text)
        elif isinstance(event, ClaimEvent):
            self.claims.append(event.claim)
        elif isinstance(event, ResetEvent):
            self._text, self.claims = [], []
        elif isinstance(event, SampleEvent):
            self.samples.append(event)
        elif isinstance(event, ProgressEvent):
            self.tokens = event.tokens
        else:
            self.answer = event.answer

    def result(self) -> Answer:
        """The answer the stream ended with. Raises StreamError when it was left before its end."""
        if self.answer is None:
            raise StreamError("the stream was closed before the answer")
        return self.answer


class EventReader:
    """Bytes of a stream in, events out; keeps the transcript. Names the request in its errors."""

    def __init__(self) -> None:
        self._decoder = sse.Decoder()
        self.transcript = Transcript()
        self._request_id: str | None = None

    def begin(self, response: httpx.Response) -> None:
        """Take note of the reply that the events come in. Raises ReplyError when it holds no events."""
        self._request_id = request_id(response)
        kind = response.headers.get("content-type", "no content type")
        if not kind.startswith("text/event-stream"):
            message = f"the server sent no events but {kind}: is this the address of a demur server?"
            raise ReplyError(message, status=response.status_code, request_id=self._request_id)

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that are complete now. Raises StreamError for an `error` event, ReplyError for nonsense."""
        for sent in self._decoder.feed(data):
            event = self._read(sent)
            if event is not None:
                self.transcript.add(event)
                yield event

    def close(self, problem: httpx.RequestError | None = None) -> None:
        """Nothing more comes, or nothing more can. Raises StreamError unless the answer came."""
        if self.transcript.answer is not None:
            return
        if problem is None:
            raise StreamError("the stream ended before the answer", request_id=self._request_id)
        message = f"the stream broke before the answer: {str(problem) or type(problem).__name__}"
        raise StreamError(message, request_id=self._request_id) from problem

    def _read(self, sent: sse.ServerSentEvent) -> Event | None:
        if sent.event == "error":
            raise self._failure(sent.data)
        if sent.event not in _READERS:
            return None
        try:
            return _READERS[sent.event](decoding.Fields(json.loads(sent.data)))
        except (ValueError, RecursionError):
            message = f"the {sent.event} event is no JSON"
        except ReplyError as error:
            message = f"in the {sent.event} event: {error.message}"
        raise ReplyError(message, request_id=self._request_id, body=sent.data)

    def _failure(self, data: str) -> StreamError:
        try:
            words = error_words(json.loads(data))
        except (ValueError, RecursionError):
            words = {}
        return StreamError(
            words.get("message") or "the server reported an error in the stream",
            type=words.get("type"),
            param=words.get("param"),
            request_id=words.get("request_id") or self._request_id,
            body=data,
        )


_READERS: Mapping[str, Callable[[decoding.Fields], Event]] = {
    "progress": lambda fields: ProgressEvent(fields.get("tokens", int)),
    "delta": lambda fields: DeltaEvent(fields.get("text", str)),
    "claim": lambda fields: ClaimEvent(fields.get("index", int), decoding.claim(fields)),
    "reset": lambda fields: ResetEvent(fields.maybe("reason", str) or ""),
    "sample": lambda fields: SampleEvent(
        fields.get("id", int), fields.maybe("confidence", float), cast(Any, fields.get("state", str))
    ),
    "answer": lambda fields: AnswerEvent(decoding.answer(fields)),
}
