"""Parallel sampling, `n` choices of one request: one task reads all of them, and each sample is a stream of its own."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from demur.engine.base import Chunk, RequestRefused, Sampling


def differ_by_seed_alone(samplings: Sequence[Sampling]) -> bool:
    """Whether several samples differ by nothing but their seeds, which count up from the first one's."""
    first = samplings[0]
    if len(samplings) == 1:
        return False
    seeds = [None if first.seed is None else first.seed + i for i in range(len(samplings))]
    return all(
        sampling == replace(first, seed=seed) and sampling.step == first.step
        for sampling, seed in zip(samplings, seeds, strict=True)
    )


class ParallelSamples:
    """The samples of `drawn`, whose chunks say by `choice` which of them they belong to.

    Where the request is refused as it is, or passes over some of them, `alone` draws those one by one. Each of
    `streams` raises what goes wrong with the request they share, which is given up once nobody reads any of them.
    """

    def __init__(
        self, drawn: AsyncGenerator[Chunk, None], count: int, alone: Callable[[int], AsyncGenerator[Chunk, None]]
    ) -> None:
        self._drawn = drawn
        self._alone = alone
        self._arrived: list[asyncio.Queue[Chunk | Exception | _Mark]] = [asyncio.Queue() for _ in range(count)]
        self._reading: asyncio.Task[None] | None = None
        self._begun = self._open = 0

    def streams(self) -> list[AsyncGenerator[Chunk, None]]:
        """One for each sample, to be read at the same time."""
        return [self._stream(i) for i in range(len(self._arrived))]

    async def _stream(self, i: int) -> AsyncGenerator[Chunk, None]:
        arrived = self._arrived[i]
        reading = self._reading = self._reading or asyncio.create_task(self._read())
        self._begun += 1
        self._open += 1
        try:
            while isinstance(arrival := await arrived.get(), Chunk):
                yield arrival
        finally:
            self._open -= 1
            if not self._open and self._begun == len(self._arrived):
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
        if isinstance(arrival, Exception):
            raise arrival
        if arrival is _PASSED_OVER:
            async with aclosing(self._alone(i)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def _read(self) -> None:
        left, begun, ended = set(range(len(self._arrived))), set[int](), set[int]()
        try:
            async with aclosing(self._drawn) as chunks:
                async for chunk in chunks:
                    self._arrived[chunk.choice].put_nowait(chunk)
                    begun.add(chunk.choice)
                    if chunk.finish_reason is not None:
                        ended.add(chunk.choice)
                    if len(begun) > 1 and len(left) > len(ended):  # more may be said of the last one, or the only one
                        self._tell(ended, _ENDED)
                        left -= ended
                        ended.clear()
        except Exception as error:  # noqa: BLE001 - raised where the samples are read
            self._tell(left, _PASSED_OVER if isinstance(error, RequestRefused) and not begun else error)
        else:
            self._tell(left & begun, _ENDED)
            self._tell(left - begun, _PASSED_OVER)

    def _tell(self, some: set[int], what: "Exception | _Mark") -> None:
        for i in some:
            self._arrived[i].put_nowait(what)


class _Mark:
    """What a stream is told besides chunks and errors."""


_ENDED, _PASSED_OVER = _Mark(), _Mark()
