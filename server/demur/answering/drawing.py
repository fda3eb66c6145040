"""Samples of one prompt, drawn from the engine until they end, the deadline passes or the caller stops listening."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from demur.answering.deadline import Deadline
from demur.answering.valuing import Valuer, Values
from demur.engine.base import Chunk, Engine, Prompt, Sampling
from demur.tracing import UNTRACED, Span

Piece = Chunk | Values
Arrival = tuple[int, Piece | None]
"""A chunk of the i-th sample, or what the critic says once it has ended; None when that sample is over."""


@dataclass(frozen=True, slots=True)
class Draw:
    """One sample for each of `samplings`, all of one prompt. The engine knows the i-th as `id-(first+i)`.

    With a `valuer` each of them is valued when it ends. `span` is what they are a part of.
    """

    prompt: Prompt
    samplings: Sequence[Sampling]
    id: str
    first: int = 0
    valuer: Valuer | None = None
    span: Span = UNTRACED


async def draw(engine: Engine, wanted: Draw, deadline: Deadline) -> AsyncGenerator[Arrival, None]:
    """What arrives from all samples, in the order in which it arrives.

    The samples start together and share the prompt's prefix cache. Closing this stops in the engine what still runs.
    """
    streams = [_sample(engine, wanted, i) for i in range(len(wanted.samplings))]
    arrivals = _alone(streams[0], deadline) if len(streams) == 1 else _together(streams, deadline)
    async with aclosing(arrivals):
        async for arrival in arrivals:
            yield arrival


def _sample(engine: Engine, wanted: Draw, i: int) -> AsyncGenerator[Piece, None]:
    name = f"{wanted.id}-{wanted.first + i}"
    chunks = _traced(engine, wanted, i, name)
    return chunks if wanted.valuer is None else _valued(chunks, wanted.valuer, wanted.prompt, name)


async def _traced(engine: Engine, wanted: Draw, i: int, name: str) -> AsyncGenerator[Chunk, None]:
    tokens = finish = None
    with wanted.span.part("sample") as span:
        stream = engine.stream(wanted.prompt, wanted.samplings[i], request_id=name, trace=span.headers or None)
        try:
            async with aclosing(stream) as chunks:
                async for chunk in chunks:
                    tokens, finish = chunk.completion_tokens or tokens, chunk.finish_reason or finish
                    yield chunk
        finally:
            span.note(sample=name, completion_tokens=tokens, finish_reason=finish)


async def _valued(
    chunks: AsyncGenerator[Chunk, None], valuer: Valuer, prompt: Prompt, name: str
) -> AsyncGenerator[Piece, None]:
    written, ended = list[int](), False
    async with aclosing(chunks):
        async for chunk in chunks:
            written += chunk.token_ids
            ended = chunk.finish_reason in ("stop", "length")
            yield chunk
    if ended:
        yield await valuer.value(prompt, written, request_id=name)


async def _alone(chunks: AsyncGenerator[Piece, None], deadline: Deadline) -> AsyncGenerator[Arrival, None]:
    async with aclosing(chunks):
        while (chunk := await deadline.bound(anext(chunks, None))) is not None:
            yield 0, chunk
    yield 0, None


async def _together(
    streams: Sequence[AsyncGenerator[Piece, None]], deadline: Deadline
) -> AsyncGenerator[Arrival, None]:
    arrived: asyncio.Queue[Arrival | Exception] = asyncio.Queue()
    drawing = [asyncio.create_task(_forward(i, chunks, arrived)) for i, chunks in enumerate(streams)]
    left = len(drawing)
    try:
        while left:
            arrival = await deadline.bound(arrived.get())
            if isinstance(arrival, Exception):
                raise arrival
            left -= arrival[1] is None
            yield arrival
    finally:
        for task in drawing:
            task.cancel()
        await asyncio.gather(*drawing, return_exceptions=True)


async def _forward(i: int, chunks: AsyncGenerator[Piece, None], arrived: asyncio.Queue[Arrival | Exception]) -> None:
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                arrived.put_nowait((i, chunk))
        arrived.put_nowait((i, None))
    except Exception as error:  # noqa: BLE001 - raised where the arrivals are awaited
        arrived.put_nowait(error)
