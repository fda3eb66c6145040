"""Chunks held back and merged, for an engine that makes one of each token."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TypeVar

from demur.engine.base import Chunk, FinishReason, Sampling

T = TypeVar("T")


async def held_back(chunks: AsyncGenerator[Chunk, None], sampling: Sampling) -> AsyncGenerator[Chunk, None]:
    """The same sample in fewer chunks: the first one, one for each `sampling.step` tokens at most, and the end.

    Without a step it is one chunk once the stream is over, but for what a stream that goes on with a reply begins with.
    What is held back when this is closed, or the stream fails, is counted in `sampling.untold`.
    """
    held, given = list[Chunk](), 0
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                held.append(chunk)
                if chunk.resumed is not None or (sampling.step is not None and _enough(held, given, sampling.step)):
                    merged, held, given = merge(held), [], given + 1
                    yield merged
        if held:
            merged, held = merge(held), []
            yield merged
    finally:
        if sampling.untold is not None:
            sampling.untold.tokens += sum(len(c.token_ids) for c in held if c.completion_tokens is not None)
            sampling.untold.pieces += sum(c.pieces for c in held if c.completion_tokens is None)


def _enough(held: Sequence[Chunk], given: int, step: int) -> bool:
    """Whether it is time for a chunk; where tokens are not told apart each piece is one."""
    tokens = sum(c.pieces if c.completion_tokens is None else len(c.token_ids) for c in held)
    return given == 0 or held[-1].finish_reason is not None or tokens >= step


def merge(chunks: Sequence[Chunk]) -> Chunk:
    """Neighbouring chunks as one: texts, tokens and log-probabilities joined; of the totals the last that is known."""
    if len(chunks) == 1:
        return chunks[0]
    finish_reasons: list[FinishReason | None] = [chunk.finish_reason for chunk in chunks]
    return Chunk(
        text="".join(chunk.text for chunk in chunks),
        token_ids=tuple(token for chunk in chunks for token in chunk.token_ids),
        finish_reason=_last(finish_reasons),
        prompt_tokens=_last([chunk.prompt_tokens for chunk in chunks]),
        completion_tokens=_last([chunk.completion_tokens for chunk in chunks]),
        logprobs=tuple(told for chunk in chunks for told in chunk.logprobs),
        cached_tokens=_last([chunk.cached_tokens for chunk in chunks]),
        thought="".join(chunk.thought for chunk in chunks),
        resumed=chunks[0].resumed,
        pieces=sum(chunk.pieces for chunk in chunks),
    )


def _last(told: Sequence[T | None]) -> T | None:
    return next((value for value in reversed(told) if value is not None), None)
