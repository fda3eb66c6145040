"""The engine port over any OpenAI-compatible hosts: a vLLM fleet, a router, a hosted model.

Samples go to the healthy upstream with the most room. What fails before the first piece of text is tried again, on
another upstream where there is one; what fails later is an error, because a sample cannot be continued elsewhere.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import openai
from openai.types.chat import ChatCompletionChunk

from demur.engine.base import (
    Chunk,
    EngineError,
    EngineOverloaded,
    FinishReason,
    Message,
    Prompt,
    RequestRefused,
    Sampling,
    Trace,
)
from demur.engine.upstreams import Upstream, client_of, model_cards

FIRST_REST = 1.0
LONGEST_REST = 30.0
"""Seconds an upstream is left alone after a failure: doubled with each failure in a row."""

_BROKEN = (openai.APIError, ValueError, EngineError)
"""What the library raises for refusals, lost connections and unreadable events; ours for streams that end early."""

_FINISH: dict[str, FinishReason] = {"length": "length", "abort": "abort"}


@dataclass(frozen=True, slots=True)
class UpstreamState:
    """How one host is doing. `rests` after a failure or a refusal, and is not asked unless all do."""

    name: str
    running: int
    rests: bool


class OpenAIEngine:
    """Draws samples from several upstreams that serve the same model.

    `structured_outputs` says that they take vLLM's field of that name, which `Sampling.constraint` needs.
    `connect_timeout` and `read_timeout` are seconds; the second one is the longest silence within a sample.
    """

    def __init__(
        self,
        upstreams: Sequence[Upstream],
        model: str,
        *,
        structured_outputs: bool = False,
        attempts: int = 3,
        connect_timeout: float = 5.0,
        read_timeout: float = 120.0,
        max_model_len: int | None = None,
    ) -> None:
        if not upstreams:
            raise ValueError("name at least one upstream")
        timeout = openai.Timeout(read_timeout, connect=connect_timeout)
        self._hosts = [_Host(upstream, timeout) for upstream in upstreams]
        self._model = model
        self._structured_outputs = structured_outputs
        self._attempts = attempts
        self._max_model_len = max_model_len

    @property
    def max_model_len(self) -> int | None:
        return self._max_model_len

    @property
    def running(self) -> int:
        """Samples that the upstreams are working on."""
        return sum(host.in_flight for host in self._hosts)

    def upstreams(self) -> list[UpstreamState]:
        """How each of them is doing, in the order in which they were named."""
        return [UpstreamState(host.upstream.name, host.in_flight, host.rests) for host in self._hosts]

    async def prepare(self, messages: Sequence[Message]) -> Prompt:
        """The upstream applies the template, so nothing is counted here."""
        return Prompt(tuple(messages))

    async def stream(
        self, prompt: Prompt, sampling: Sampling, *, request_id: str, trace: Trace | None = None
    ) -> AsyncGenerator[Chunk, None]:
        """One sample. Raises EngineOverloaded when no upstream takes it now, RequestRefused when none ever will,
        EngineError when one broke off."""
        async with AsyncExitStack() as stack:
            chunk, rest = await self._open(
                self._body(prompt, sampling, {**(trace or {}), "x-request-id": request_id}), stack
            )
            finished = chunk.finish_reason is not None
            yield chunk
            try:
                async for chunk in rest:
                    finished = finished or chunk.finish_reason is not None
                    yield chunk
            except _BROKEN as error:
                raise EngineError(f"the upstream broke off: {_short(error)}") from error
            if not finished:
                raise EngineError("the upstream broke off: its stream ended before the answer did")

    async def check(self) -> None:
        """Return when one upstream answers. None of them ever counts as dead: a host may come back."""
        answers = await asyncio.gather(*(host.alive() for host in self._hosts))
        if not any(answers):
            raise EngineOverloaded("no upstream answers", retry_after=FIRST_REST)

    async def close(self) -> None:
        await asyncio.gather(*(host.client.close() for host in self._hosts))

    def _body(self, prompt: Prompt, sampling: Sampling, headers: Mapping[str, str]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": list(prompt.messages),
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "stream": True,
            "stream_options": {"include_usage": True},
            "extra_headers": headers,
        }
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        if sampling.constraint is not None and self._structured_outputs:
            body["extra_body"] = {"structured_outputs": {"regex": sampling.constraint}}
        return body

    async def _open(self, body: dict[str, Any], stack: AsyncExitStack) -> tuple[Chunk, AsyncIterator[Chunk]]:
        """The first chunk that says something, and those after it; failures up to there are tried elsewhere."""
        failure: EngineError = EngineOverloaded("every upstream is at its limit", retry_after=FIRST_REST)
        for _ in range(self._attempts):
            host = self._choose()
            if host is None:
                break
            async with AsyncExitStack() as attempt:
                attempt.enter_context(host.one_more())
                try:
                    started = await _start(await host.client.chat.completions.create(**body), attempt)
                except _BROKEN as error:
                    failure = _as_engine_error(error)
                    if not _worth_retrying(error):
                        raise failure from error
                    host.failed(_retry_after(error))
                    continue
                host.recovered()
                await stack.enter_async_context(attempt.pop_all())
                return started
        raise failure

    def _choose(self) -> "_Host | None":
        """The least loaded host that is not resting; when all rest, the one that rests the shortest."""
        free = [host for host in self._hosts if host.in_flight < host.upstream.limit]
        awake = [host for host in free if not host.rests]
        if awake:
            return min(awake, key=lambda host: host.in_flight / host.upstream.limit)
        return min(free, key=lambda host: host.rests_until, default=None)


class _Host:
    """An upstream with its connection pool, its load and how it has been doing."""

    def __init__(self, upstream: Upstream, timeout: openai.Timeout) -> None:
        self.upstream = upstream
        self.client = client_of(upstream, timeout)
        self.in_flight = 0
        self.rests_until = 0.0
        self._failures = 0
        self._answers = True

    @property
    def rests(self) -> bool:
        return self.rests_until > time.monotonic()

    @contextmanager
    def one_more(self) -> Iterator[None]:
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1

    def failed(self, retry_after: float | None) -> None:
        self._failures += 1
        doublings = min(self._failures - 1, 32)  # a host may be gone for days
        rest = min(LONGEST_REST, retry_after or FIRST_REST * 2**doublings)
        self.rests_until = time.monotonic() + rest

    def recovered(self) -> None:
        self._failures, self.rests_until = 0, 0.0

    async def alive(self) -> bool:
        """Ask it, and let it rest as long as it does not answer."""
        before, self._answers = self._answers, await model_cards(self.client) is not None
        if not self._answers:
            self.failed(None)
        elif not before:
            self.recovered()
        return self._answers


async def _start(
    events: openai.AsyncStream[ChatCompletionChunk], attempt: AsyncExitStack
) -> tuple[Chunk, AsyncIterator[Chunk]]:
    """Wait for text or the end; closing `attempt` closes the connection, which stops the work at the other end."""
    attempt.push_async_callback(events.close)
    chunks = _chunks(events)
    async for chunk in chunks:
        if chunk.text or chunk.finish_reason is not None:
            return chunk, chunks
    raise EngineError("the upstream broke off: its stream ended before it began")


async def _chunks(events: openai.AsyncStream[ChatCompletionChunk]) -> AsyncIterator[Chunk]:
    async for event in events:
        yield _chunk(event)


def _chunk(event: ChatCompletionChunk) -> Chunk:
    """Hosts differ in what they leave out, and the library does not check: nothing is taken for granted."""
    choices, usage = getattr(event, "choices", None), getattr(event, "usage", None)
    choice = choices[0] if choices else None
    text = getattr(getattr(choice, "delta", None), "content", None)
    reason = getattr(choice, "finish_reason", None)
    if text is not None and not isinstance(text, str):
        raise ValueError("an event whose text is no text")
    return Chunk(
        text=text or "",
        finish_reason=None if reason is None else _FINISH.get(reason, "stop"),
        prompt_tokens=getattr(usage, "prompt_tokens", None),
        completion_tokens=getattr(usage, "completion_tokens", None),
    )


def _worth_retrying(error: Exception) -> bool:
    """A request that one host calls wrong, every host will; all else may go better elsewhere or later."""
    return (
        not isinstance(error, openai.APIStatusError) or error.status_code in (408, 409, 429) or error.status_code >= 500
    )


def _as_engine_error(error: Exception) -> EngineError:
    if isinstance(error, openai.RateLimitError):
        return EngineOverloaded("every upstream is at its limit", retry_after=_retry_after(error))
    if isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        return RequestRefused(f"the upstream refused with {error.status_code}: {_short(error)}")
    if isinstance(error, openai.APIStatusError):
        return EngineError(f"the upstream refused with {error.status_code}: {_short(error)}")
    return error if isinstance(error, EngineError) else EngineError(f"no answer from the upstream: {_short(error)}")


def _retry_after(error: Exception) -> float | None:
    """Seconds, where the host named them; the form with a date is rare and ignored."""
    header = error.response.headers.get("retry-after") if isinstance(error, openai.APIStatusError) else None
    try:
        return max(0.0, float(header)) if header is not None else None
    except ValueError:
        return None


def _short(error: Exception) -> str:
    """One line of what may be a whole page."""
    return " ".join(str(error).split())[:200]
