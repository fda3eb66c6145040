"""The sampler: draws samples of one prompt until they end, the deadline passes or the caller stops listening."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from demur.answering.confidence import FinishedSample, Score, Scorer
from demur.answering.deadline import Deadline
from demur.answering.tail_forcing import FreeReply, Settlement, TailForcer, not_drawn
from demur.core.answer_span import OutputForm
from demur.engine.base import Chunk, Engine, ParallelSampling, Prompt, RequestRefused, Sampling, TokenLogprob, Trace
from demur.tracing import UNTRACED, Span

Piece = Chunk | Score | Settlement
Arrival = tuple[int, Piece | None]
"""Of the i-th sample: a chunk, that its tail begins, or its score once it has ended; None when it is over."""


@dataclass(frozen=True, slots=True)
class SampleBatch:
    """One sample for each of `samplings`, all of one prompt. The engine knows the i-th as `id-(first+i)`, those that it
    draws together as the first of them.

    `form` is how outputs are read. With a `forcer` each is written freely and then continued where its end cannot be
    read; the engine knows that tail as `id-tail-(first+i)`, and one behind it as `id-last-tail-(first+i)`. With a
    `scorer` each is scored when it ends, and votes with that. `span` is what they are a part of.
    """

    prompt: Prompt
    samplings: Sequence[Sampling]
    id: str
    form: OutputForm
    first: int = 0
    scorer: Scorer | None = None
    span: Span = UNTRACED
    forcer: TailForcer | None = None


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """One sample to ask the engine for, not begun yet: its name there, and what opens its chunks under a trace."""

    name: str
    open: Callable[[Trace | None], AsyncGenerator[Chunk, None]]


async def draw(engine: Engine, batch: SampleBatch, deadline: Deadline) -> AsyncGenerator[Arrival, None]:
    """What arrives from all samples, in the order in which it arrives.

    The samples start together and share the prompt's prefix cache. Closing this stops in the engine what still runs.
    """
    streams = [_sample(engine, batch, i, request) for i, request in enumerate(_engine_requests(engine, batch))]
    arrivals = _alone(streams[0], deadline) if len(streams) == 1 else _together(streams, deadline)
    async with aclosing(arrivals):
        async for arrival in arrivals:
            yield arrival


def _engine_requests(engine: Engine, batch: SampleBatch) -> list[EngineRequest]:
    """How each sample is begun: together with the others where the engine does that, with the request as its trace."""
    samplings = batch.samplings if batch.forcer is None else [*map(batch.forcer.free_sampling, batch.samplings)]
    names = [f"{batch.id}-{batch.first + i}" for i in range(len(samplings))]
    if len(samplings) > 1 and isinstance(engine, ParallelSampling):
        trace = batch.span.headers or None
        streams = engine.streams(batch.prompt, samplings, request_ids=names, trace=trace)
        return [
            EngineRequest(name, lambda _, stream=stream: stream) for name, stream in zip(names, streams, strict=True)
        ]
    return [
        _engine_request(engine, batch.prompt, sampling, name) for name, sampling in zip(names, samplings, strict=True)
    ]


def _engine_request(engine: Engine, prompt: Prompt, sampling: Sampling, name: str) -> EngineRequest:
    return EngineRequest(name, lambda trace: engine.stream(prompt, sampling, request_id=name, trace=trace))


def _sample(engine: Engine, batch: SampleBatch, i: int, request: EngineRequest) -> AsyncGenerator[Piece, None]:
    if batch.forcer is None:
        pieces = _traced(request, batch.span)
    else:
        pieces = _with_tail(engine, batch, i, batch.forcer, request)
    return pieces if batch.scorer is None else _scored(pieces, batch.scorer, batch, request.name)


async def _traced(request: EngineRequest, within: Span, part: str = "sample") -> AsyncGenerator[Chunk, None]:
    tokens = finish = None
    with within.part(part) as span:
        try:
            async with aclosing(request.open(span.headers or None)) as chunks:
                async for chunk in chunks:
                    tokens, finish = chunk.completion_tokens or tokens, chunk.finish_reason or finish
                    yield chunk
        finally:
            span.note(sample=request.name, completion_tokens=tokens, finish_reason=finish)


async def _with_tail(
    engine: Engine, batch: SampleBatch, i: int, forcer: TailForcer, request: EngineRequest
) -> AsyncGenerator[Piece, None]:
    """What the model writes in its own way, and its tail where that cannot be read without one; a last tail where
    that one was cut off."""
    name, sampling, reply = f"{batch.first + i}", batch.samplings[i], FreeReply()
    async with aclosing(_taken(_traced(request, batch.span), reply)) as pieces:
        async for piece in pieces:
            yield piece
    while True:
        tail, ended = forcer.plan(reply, sampling), reply.finish
        for chunk in reply.last(goes_on=tail is not None):
            yield chunk
        if tail is None:
            return
        reply.begin_tail()
        part = "tail" if reply.tails == 1 else "last-tail"
        prompt = replace(batch.prompt, written=tail.written)
        rest = _traced(_engine_request(engine, prompt, tail.sampling, f"{batch.id}-{part}-{name}"), batch.span, part)
        try:
            async with aclosing(_taken(rest, reply)) as chunks:
                async for chunk in chunks:
                    if chunk.resumed is not None and part == "tail":
                        yield Settlement(chunk.resumed, "length" if ended == "length" else "stop")
                    opens = chunk.resumed is not None and sampling.logprobs is not None
                    yield replace(chunk, logprobs=not_drawn(chunk.text)) if opens else chunk
        except RequestRefused:  # nobody takes it, and the sample ends as it had
            yield Chunk("", finish_reason=ended)
            return


async def _taken(chunks: AsyncGenerator[Chunk, None], reply: FreeReply) -> AsyncGenerator[Chunk, None]:
    """What can be passed on before it is known whether the reply goes on."""
    async with aclosing(chunks):
        async for chunk in chunks:
            if (passed_on := reply.take(chunk)) is not None:
                yield passed_on


async def _scored(
    pieces: AsyncGenerator[Piece, None], scorer: Scorer, batch: SampleBatch, name: str
) -> AsyncGenerator[Piece, None]:
    token_ids, logprobs, text, finish = list[int](), list[TokenLogprob](), list[str](), None
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Chunk):
                token_ids += piece.token_ids
                logprobs += piece.logprobs
                text.append(piece.text)
                finish = piece.finish_reason or finish
            yield piece
    if finish in ("stop", "length"):
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
