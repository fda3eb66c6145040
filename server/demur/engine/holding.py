"""Chunks held back and merged, for an engine that makes one of each token."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TypeVar

from demur.engine.base import Chunk, FinishReason, Sampling, Untold

T = TypeVar("T")


async def held_back(chunks: AsyncGenerator[Chunk, None], sampling: Sampling) -> AsyncGenerator[Chunk, None]:
    """The same sample in fewer chunks: the first one, one for each `sampling.step` tokens at most, and the end.

    Without a step it is one chunk once the stream is over, but for what a stream that goes on with a reply begins with.
    What is held back when this is closed, or the stream fails, is counted in `sampling.untold`.
    """
    holding = _Holding(sampling.step)
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                if holding.add(chunk):
                    yield holding.release()
        if holding.chunks:
            yield holding.release()
    finally:
        if sampling.untold is not None:
            holding.count(sampling.untold)


class _Holding:
    """Chunks that wait to be given out as one."""

    def __init__(self, step: int | None) -> None:
        self.chunks: list[Chunk] = []
        self._step = step
        self._waiting = 0
        """Tokens in them; where a chunk does not tell its own apart each piece is one."""
        self._begun = False
        self._told: int | None = None
        """The total of tokens by the last chunk that was given out."""

    def add(self, chunk: Chunk) -> bool:
        """Whether it is time to give out what is held."""
        self.chunks.append(chunk)
        self._waiting += len(chunk.token_ids) or chunk.pieces
        if chunk.resumed is not None:
            return True
        if self._step is None:
            return False
        return not self._begun or chunk.finish_reason is not None or self._waiting >= self._step

    def release(self) -> Chunk:
        merged = merge(self.chunks)
        self.chunks, self._waiting, self._begun = [], 0, True
        self._told = self._told if merged.completion_tokens is None else merged.completion_tokens
        return merged

    def count(self, untold: Untold) -> None:
        """Add what is held, by the totals where these are known."""
        total, behind = self._told, 0
        for chunk in self.chunks:
            total = total if chunk.completion_tokens is None else chunk.completion_tokens
            behind = behind + chunk.pieces if chunk.completion_tokens is None else 0
        if total is None:
            untold.pieces += behind
        else:
            untold.tokens += max(total - (self._told or 0), 0) + behind


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
        choice=chunks[0].choice,
        pieces=sum(chunk.pieces for chunk in chunks),
    )


def _last(told: Sequence[T | None]) -> T | None:
    return next((value for value in reversed(told) if value is not None), None)
