"""One streamed chat completion over HTTP: server-sent events -> chunks, in which every length has a limit."""

import asyncio
import json
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, cast

import aiohttp

from demur.engine.base import Chunk, EngineError, EngineOverloaded, RequestRefused
from demur.engine.chat_event import OF_ALL, Ask, read_event
from demur.engine.event_stream import DONE, Events, Pace
from demur.engine.holding import merge
from demur.engine.host_client import HostClient, translated
from demur.http_client import UntrustedReply, one_line, read_body, refuse_encoded, retry_after_seconds

MOST_READ = 1 << 14
"""Bytes that are read before others get their turn."""
CHARACTERS_PER_TOKEN = 128
"""Text beyond it for each token that was asked for is cut off: the longest tokens of usual vocabularies are runs of
that many spaces, so no host that keeps to `max_tokens` gets there."""
MOST_REFUSAL = 1 << 16
"""Bytes of a body that comes with an error status."""
USAGE_TIMEOUT = 5.0
"""Seconds that usage may take to come after the text."""
DRAIN_TIMEOUT = 0.25
"""Seconds that the end of a reply may take to come, so that its connection can be used again."""


class Overrun(EngineError):
    """A host wrote on past `max_tokens`; what it wrote up to there was given out, ended as "length"."""


@asynccontextmanager
async def chat_stream(
    client: HostClient, ask: Ask, longest_silence: float
) -> AsyncGenerator[AsyncGenerator[Chunk, None], None]:
    """The chunks of one request's samples; leaving the block closes the connection, which stops the work at the other
    end.

    A host may send as much as it likes without text for `longest_silence` seconds. Raises, on entering and from the
    chunks, RequestRefused where the host finds fault with the request, EngineOverloaded where it is busy, and
    EngineError for everything else that it does wrong; the chunks may end with Overrun. Of several choices those that
    the host passes over have no chunk.
    """
    headers = {"content-type": "application/json", **ask.headers}
    async with client.reply("POST", "chat/completions", body=ask.body, headers=headers) as response:
        with translated():
            if response.status != 200:
                raise await _refusal(response)
            refuse_encoded(response.headers)
        async with (
            aclosing(_chunks(response, ask, longest_silence)) as chunks,
            aclosing(_samples(chunks, ask)) as samples,
        ):
            yield samples


async def _samples(chunks: AsyncGenerator[Chunk, None], ask: Ask) -> AsyncGenerator[Chunk, None]:
    """From the first text to the end of every sample, and what was counted. Raises EngineError where no end comes."""
    budgets = [_Budget(ask) for _ in range(ask.choices)]
    begun, ended, overrun = set[int](), set[int](), False
    of_all: Chunk | None = None
    async for chunk in chunks:
        if chunk.choice == OF_ALL:
            of_all = chunk
        if chunk.choice == OF_ALL or chunk.choice in ended:
            continue
        begun.add(chunk.choice)
        chunk = budgets[chunk.choice].cut(chunk)
        yield chunk
        overrun |= budgets[chunk.choice].is_spent
        if chunk.finish_reason is not None:
            ended.add(chunk.choice)
            if len(ended) == ask.choices:
                break
    else:
        if not ended or begun - ended:
            raise EngineError("its stream ended before the answer did")
        if of_all is not None and len(ended) == 1:  # of all that there are
            yield replace(of_all, choice=ended.pop())
        return
    if overrun:
        raise Overrun("the upstream writes more than it was asked for")
    if (usage := await _usage_after(chunks)) is not None:
        yield usage if ask.choices == 1 else _of_all(usage, chunk.choice)


class _Budget:
    """What one sample may have of characters and tokens at most."""

    def __init__(self, ask: Ask) -> None:
        self._characters, self._tokens = CHARACTERS_PER_TOKEN * ask.max_tokens, ask.most_tokens

    @property
    def is_spent(self) -> bool:
        return self._characters < 0

    def cut(self, chunk: Chunk) -> Chunk:
        """The chunk, ended as "length" where it goes past what there may be of text."""
        self._characters -= len(chunk.text) + len(chunk.thought)
        self._tokens -= len(chunk.logprobs)
        if self.is_spent:
            return Chunk(chunk.text[: self._characters], finish_reason="length", choice=chunk.choice)
        if self._tokens < 0:  # more tokens than there can be: none of these is worth keeping
            return replace(chunk, logprobs=())
        return chunk


async def _usage_after(chunks: AsyncGenerator[Chunk, None]) -> Chunk | None:
    """What a host counts once the text has ended; a text that goes on behind its end is not listened to."""
    usage = None
    with suppress(TimeoutError):
        async with asyncio.timeout(USAGE_TIMEOUT):
            async for chunk in chunks:
                if chunk.completion_tokens is not None or chunk.prompt_tokens is not None:
                    usage = replace(chunk, text="", finish_reason=None, logprobs=())
    return usage


def _of_all(usage: Chunk, choice: int) -> Chunk:
    """What was counted of all samples, told with the last one; their tokens are counted with each."""
    return replace(usage, completion_tokens=None, choice=choice)


async def _refusal(response: aiohttp.ClientResponse) -> EngineError:
    """400, 413 and 422 with an error in JSON are about the request; all else is about the host."""
    status, words = response.status, await _words(response)
    if status == 429:
        return EngineOverloaded(
            "every upstream is at its limit", retry_after=retry_after_seconds(response.headers.get("retry-after", ""))
        )
    kind = RequestRefused if status in (400, 413, 422) and words else EngineError
    return kind(f"the upstream refused with {status}: {words}")


async def _words(response: aiohttp.ClientResponse) -> str:
    """What a host says went wrong; empty unless it says so as an error object, in one of the usual shapes."""
    try:
        body = json.loads(await read_body(response.content.iter_any(), response.headers, MOST_REFUSAL))
    except (UntrustedReply, ValueError, RecursionError):
        return ""
    if not isinstance(body, dict):
        return ""
    fields = cast("dict[str, Any]", body)
    said = next((fields[name] for name in ("error", "message", "detail") if fields.get(name)), "")
    return one_line(cast("dict[str, Any]", said).get("message", said) if isinstance(said, dict) else said)


async def _chunks(response: aiohttp.ClientResponse, ask: Ask, longest_silence: float) -> AsyncGenerator[Chunk, None]:
    """What says something, up to the end of the reply; events that came together are one chunk. Raises EngineError."""
    events, pace, clock = Events(ask), Pace(response.content), asyncio.get_running_loop().time
    spoke = clock()
    with translated():
        while piece := await response.content.read(MOST_READ):
            found = events.feed(piece)
            for chunk in _merged(found, ask):
                spoke = clock()
                yield chunk
            if found and found[-1] == DONE:
                await _drain(response)
                return
            if clock() - spoke > longest_silence:
                raise EngineError(f"nothing but silence for {longest_silence:g} seconds")
            await pace.keep(len(found), more=len(piece) == MOST_READ)
        if events.rest:
            raise EngineError("its stream ended within an event")


def _merged(events: Sequence[bytes], ask: Ask) -> Generator[Chunk]:
    """What the data of some events says, that of each sample as one chunk up to its end. Raises EngineError for one
    that cannot be read, behind what came before it."""
    held = dict[int, list[Chunk]]()
    failure: EngineError | None = None
    for data in events:
        try:
            chunk = None if data == DONE else read_event(data, ask)
        except EngineError as error:
            failure = error
            break
        if chunk is None:
            continue
        waiting = held.setdefault(chunk.choice, [])
        if waiting and waiting[-1].finish_reason is not None:
            yield merge(waiting)
            waiting.clear()
        waiting.append(chunk)
    for waiting in held.values():
        yield merge(waiting)
    if failure is not None:
        raise failure


async def _drain(response: aiohttp.ClientResponse) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_TIMEOUT):
            async for _ in response.content.iter_any():
                await asyncio.sleep(0)
