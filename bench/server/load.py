"""One load of requests against one server: so many at a time, all of them counted."""

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
from bench.server.cases import QUESTION, Case
from bench.server.contenders import Contender


@dataclass(frozen=True, slots=True)
class Load:
    """What one load showed. `first_event` is the median of seconds until the first event that carries data."""

    seconds: float
    tokens: int
    requests: int
    cpu_seconds: float
    first_event: float

    @property
    def throughput(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds

    @property
    def cpu_per_token(self) -> float:
        return self.cpu_seconds / self.tokens

    @property
    def cpu_per_request(self) -> float:
        return self.cpu_seconds / self.requests


@dataclass(frozen=True, slots=True)
class Length:
    """How long samples may become, and which tokens are never drawn, so that they become that long."""

    max_tokens: int
    unending: tuple[int, ...] = ()


async def load(
    client: httpx.AsyncClient, contender: Contender, case: Case, requests: int, length: Length, first: int
) -> Load:
    """`requests` questions, numbered from `first` on, so that no round repeats another's."""
    numbers = iter(range(first, first + requests))

    async def worker() -> list[tuple[float, int]]:
        return [await ask(client, contender, case, QUESTION.format(a=n, b=n % 89), length) for n in numbers]

    before, start = contender.cpu_seconds(), time.perf_counter()
    found = await asyncio.gather(*(worker() for _ in range(case.concurrency)))
    seconds = time.perf_counter() - start
    asked = [one for some in found for one in some]
    firsts, tokens = zip(*asked, strict=True)
    return Load(seconds, sum(tokens), len(asked), contender.cpu_seconds() - before, statistics.median(firsts))


async def ask(
    client: httpx.AsyncClient, contender: Contender, case: Case, question: str, length: Length
) -> tuple[float, int]:
    """One answer: seconds to the first event that carries data, and tokens generated."""
    described = case.ours if contender.name == "demur" else case.theirs
    path, body = described(question, length.max_tokens, length.unending)
    start, first, tokens = time.perf_counter(), 0.0, 0
    async with client.stream("POST", contender.base + path, json=body) as response:
        if response.status_code != 200:
            raise SystemExit(f"bench: {contender.name} says {response.status_code}: {(await response.aread())[:500]!r}")
        async for payload in _payloads(response, streamed=case.streamed):
            first = first or time.perf_counter() - start
            tokens = (payload.get("usage") or {}).get("completion_tokens") or tokens
    return first, tokens


async def _payloads(response: httpx.Response, *, streamed: bool) -> AsyncIterator[dict[str, Any]]:
    if not streamed:
        yield json.loads(await response.aread())
        return
    async for line in response.aiter_lines():
        if line.startswith("data: {"):
            yield json.loads(line[6:])
