"""The sampler: draws samples of one prompt until they end, the deadline passes or the caller stops listening."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from demur.answering.confidence import FinishedSample, Score, Scorer
from demur.answering.deadline import Deadline
from demur.core.answer_span import OutputForm
from demur.engine.base import Chunk, Engine, Prompt, Sampling, TokenLogprob
from demur.tracing import UNTRACED, Span

Piece = Chunk | Score
Arrival = tuple[int, Piece | None]
"""A chunk of the i-th sample, or its score once it has ended; None when that sample is over."""


@dataclass(frozen=True, slots=True)
class SampleBatch:
    """One sample for each of `samplings`, all of one prompt. The engine knows the i-th as `id-(first+i)`.

    With a `scorer` each of them is scored when it ends, and votes with that; `form` is how its output is read. `span`
    is what they are a part of.
    """

    prompt: Prompt
    samplings: Sequence[Sampling]
    id: str
    form: OutputForm
    first: int = 0
    scorer: Scorer | None = None
    span: Span = UNTRACED


async def draw(engine: Engine, batch: SampleBatch, deadline: Deadline) -> AsyncGenerator[Arrival, None]:
    """What arrives from all samples, in the order in which it arrives.

    The samples start together and share the prompt's prefix cache. Closing this stops in the engine what still runs.
    """
    streams = [_sample(engine, batch, i) for i in range(len(batch.samplings))]
    arrivals = _alone(streams[0], deadline) if len(streams) == 1 else _together(streams, deadline)
    async with aclosing(arrivals):
        async for arrival in arrivals:
            yield arrival


def _sample(engine: Engine, batch: SampleBatch, i: int) -> AsyncGenerator[Piece, None]:
    name = f"{batch.id}-{batch.first + i}"
    chunks = _traced(engine, batch, i, name)
    return chunks if batch.scorer is None else _scored(chunks, batch.scorer, batch, name)


async def _traced(engine: Engine, batch: SampleBatch, i: int, name: str) -> AsyncGenerator[Chunk, None]:
    tokens = finish = None
    with batch.span.part("sample") as span:
        stream = engine.stream(batch.prompt, batch.samplings[i], request_id=name, trace=span.headers or None)
        try:
            async with aclosing(stream) as chunks:
                async for chunk in chunks:
                    tokens, finish = chunk.completion_tokens or tokens, chunk.finish_reason or finish
                    yield chunk
        finally:
            span.note(sample=name, completion_tokens=tokens, finish_reason=finish)


async def _scored(
    chunks: AsyncGenerator[Chunk, None], scorer: Scorer, batch: SampleBatch, name: str
) -> AsyncGenerator[Piece, None]:
    token_ids, logprobs, text, ended = list[int](), list[TokenLogprob](), list[str](), False
    async with aclosing(chunks):
        async for chunk in chunks:
            token_ids += chunk.token_ids
            logprobs += chunk.logprobs
            text.append(chunk.text)
            ended = chunk.finish_reason in ("stop", "length")
            yield chunk
    if ended:
        raw = "".join(text)
        sample = FinishedSample(
            prompt=batch.prompt,
            token_ids=token_ids,
            text=raw,
            request_id=name,
            read=lambda: batch.form.read(raw),
            answer_span=lambda answer: batch.form.answer_span(raw, answer),
            logprobs=logprobs,
        )
        yield await scorer.score(sample)


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
