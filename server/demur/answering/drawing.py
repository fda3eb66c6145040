"""Samples of one prompt, drawn from the engine until they end, the deadline passes or the caller stops listening."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from demur.answering.deadline import Deadline
from demur.engine.base import Chunk, Engine, Prompt, Sampling

Arrival = tuple[int, Chunk | None]
"""A chunk of the i-th sample; None when that sample is over."""


@dataclass(frozen=True, slots=True)
class Draw:
    """One sample for each of `samplings`, all of one prompt. The engine knows the i-th as `id-(first+i)`."""

    prompt: Prompt
    samplings: Sequence[Sampling]
    id: str
    first: int = 0


async def draw(engine: Engine, wanted: Draw, deadline: Deadline) -> AsyncGenerator[Arrival, None]:
    """What arrives from all samples, in the order in which it arrives.

    The samples start together and share the prompt's prefix cache. Closing this stops in the engine what still runs.
    """
    streams = [
        engine.stream(wanted.prompt, sampling, request_id=f"{wanted.id}-{wanted.first + i}")
        for i, sampling in enumerate(wanted.samplings)
    ]
    arrivals = _alone(streams[0], deadline) if len(streams) == 1 else _together(streams, deadline)
    async with aclosing(arrivals):
        async for arrival in arrivals:
            yield arrival


async def _alone(chunks: AsyncGenerator[Chunk, None], deadline: Deadline) -> AsyncGenerator[Arrival, None]:
    async with aclosing(chunks):
        while (chunk := await deadline.bound(anext(chunks, None))) is not None:
            yield 0, chunk
    yield 0, None


async def _together(
    streams: Sequence[AsyncGenerator[Chunk, None]], deadline: Deadline
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


async def _forward(i: int, chunks: AsyncGenerator[Chunk, None], arrived: asyncio.Queue[Arrival | Exception]) -> None:
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                arrived.put_nowait((i, chunk))
        arrived.put_nowait((i, None))
    except Exception as error:  # noqa: BLE001 - raised where the arrivals are awaited
        arrived.put_nowait(error)
