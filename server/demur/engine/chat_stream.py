"""One streamed chat completion over HTTP: server-sent events -> chunks, in which every length has a limit."""

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import Any, cast

import httpx

from demur.engine.base import Chunk, EngineError, EngineOverloaded, RequestRefused
from demur.engine.chat_event import MOST_LINE, Ask, read_event
from demur.http_client import UntrustedReply, one_line, read_body, refuse_encoded, retry_after_seconds

LEAST_CHARGED = 64
"""Bytes that a piece of a reply counts for at least: each costs time, however short it is."""
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
    client: httpx.AsyncClient, ask: Ask, longest_silence: float
) -> AsyncGenerator[AsyncGenerator[Chunk, None], None]:
    """The chunks of one sample; leaving the block closes the connection, which stops the work at the other end.

    A host may send as much as it likes without text for `longest_silence` seconds. Raises, on entering and from the
    chunks, RequestRefused where the host finds fault with the request, EngineOverloaded where it is busy, and
    EngineError for everything else that it does wrong; the chunks may end with Overrun.
    """
    headers = {"content-type": "application/json", **ask.headers}
    with _translated():
        request = client.build_request("POST", "chat/completions", content=ask.body, headers=headers)
        response = await client.send(request, stream=True)
    try:
        with _translated():
            if response.status_code != 200:
                raise await _refusal(response)
            refuse_encoded(response)
        async with (
            aclosing(_chunks(response, ask, longest_silence)) as chunks,
            aclosing(_sample(chunks, ask)) as sample,
        ):
            yield sample
    finally:
        await response.aclose()


async def _sample(chunks: AsyncGenerator[Chunk, None], ask: Ask) -> AsyncGenerator[Chunk, None]:
    """From the first text to its end and what was counted. Raises EngineError where no end comes."""
    left, tokens_left = CHARACTERS_PER_TOKEN * ask.max_tokens, ask.most_tokens
    async for chunk in chunks:
        left -= len(chunk.text) + len(chunk.thought)
        tokens_left -= len(chunk.logprobs)
        if tokens_left < 0:  # more tokens than there can be: none of these is worth keeping
            chunk = replace(chunk, logprobs=())
        if left < 0:
            yield Chunk(chunk.text[:left], finish_reason="length")
            raise Overrun("the upstream writes more than it was asked for")
        yield chunk
        if chunk.finish_reason is not None:
            break
    else:
        raise EngineError("its stream ended before the answer did")
    if (usage := await _usage_after(chunks)) is not None:
        yield usage


async def _usage_after(chunks: AsyncGenerator[Chunk, None]) -> Chunk | None:
    """What a host counts once the text has ended; a text that goes on behind its end is not listened to."""
    usage = None
    with suppress(TimeoutError):
        async with asyncio.timeout(USAGE_TIMEOUT):
            async for chunk in chunks:
                if chunk.completion_tokens is not None or chunk.prompt_tokens is not None:
                    usage = replace(chunk, text="", finish_reason=None, logprobs=())
    return usage


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, UntrustedReply, OSError, ValueError) as error:
        raise EngineError(f"no answer from the upstream: {one_line(error) or type(error).__name__}") from error


async def _refusal(response: httpx.Response) -> EngineError:
    """400, 413 and 422 with an error in JSON are about the request; all else is about the host."""
    status, words = response.status_code, await _words(response)
    if status == 429:
        return EngineOverloaded(
            "every upstream is at its limit", retry_after_seconds(response.headers.get("retry-after", ""))
        )
    kind = RequestRefused if status in (400, 413, 422) and words else EngineError
    return kind(f"the upstream refused with {status}: {words}")


async def _words(response: httpx.Response) -> str:
    """What a host says went wrong; empty unless it says so as an error object, in one of the usual shapes."""
    try:
        body = json.loads(await read_body(response, MOST_REFUSAL))
    except (UntrustedReply, ValueError, RecursionError):
        return ""
    if not isinstance(body, dict):
        return ""
    fields = cast("dict[str, Any]", body)
    said = next((fields[name] for name in ("error", "message", "detail") if fields.get(name)), "")
    return one_line(cast("dict[str, Any]", said).get("message", said) if isinstance(said, dict) else said)


async def _chunks(response: httpx.Response, ask: Ask, longest_silence: float) -> AsyncGenerator[Chunk, None]:
    """What says something, up to the end of the reply. Raises EngineError."""
    events, clock = _Events(ask.most_bytes), asyncio.get_running_loop().time
    spoke = clock()
    with _translated():
        async with aclosing(cast(AsyncGenerator[bytes, None], response.aiter_raw())) as pieces:
            async for piece in pieces:
                for data in events.feed(piece):
                    if data == b"[DONE]":
                        await _drain(pieces)
                        return
                    if (chunk := read_event(data, ask)) is not None:
                        spoke = clock()
                        yield chunk
                if clock() - spoke > longest_silence:
                    raise EngineError(f"nothing but silence for {longest_silence:g} seconds")
                await events.yield_to_event_loop()
            if events.rest:
                raise EngineError("its stream ended within an event")


async def _drain(pieces: AsyncGenerator[bytes, None]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_TIMEOUT):
            async for _ in pieces:
                await asyncio.sleep(0)


class _Events:
    """Splits a reply into the data of its server-sent events, each of which is one line in this protocol."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._pieces = 0
        self.rest = bytearray()
        """What came of a line that has not ended yet."""

    def feed(self, piece: bytes) -> list[bytes]:
        """What the next bytes complete. Raises UntrustedReply past a limit."""
        self._left -= max(len(piece), LEAST_CHARGED)
        self.rest += piece
        if self._left < 0 or len(self.rest) > MOST_LINE + len(piece):
            raise UntrustedReply("the upstream sends more than this sample can need")
        if b"\n" not in piece:
            return []
        *lines, self.rest = self.rest.split(b"\n")
        return [bytes(line[5:]).strip() for line in lines if line.startswith(b"data:")]

    async def yield_to_event_loop(self) -> None:
        """Let others run: many small pieces may lie in one read of the socket."""
        self._pieces += 1
        if self._pieces % 256 == 0:
            await asyncio.sleep(0)
