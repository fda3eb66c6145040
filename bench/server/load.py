"""One load of requests against one server: so many at a time, all of them counted."""

import asyncio
import json
import statistics
import time
from dataclasses import dataclass
from typing import Any

import aiohttp
from bench.server.cases import QUESTION, Case
from bench.server.contenders import Contender

TIMEOUT_SECONDS = 600
"""The longest that an answer may take."""
KEEP_ALIVE_SECONDS = 2.0
"""How long an idle connection is kept for another request. vLLM's server closes what was idle for 5 s, as one is while
the other server is asked; whoever asks must give it up before."""


@dataclass(frozen=True, slots=True)
class Load:
    """What one load showed. `first_event` is the median of seconds until the first event that carries data."""

    seconds: float
    tokens: int
    requests: int
    cpu_seconds: float
    first_event: float
    prompt_tokens: int

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
class Asked:
    """One answer: seconds to the first event that carries data, and what the server counts."""

    first_event: float
    completion_tokens: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class Length:
    """How long samples may become, and which tokens are never drawn, so that they become that long."""

    max_tokens: int
    unending: tuple[int, ...] = ()


def http_client() -> aiohttp.ClientSession:
    """A client for any number of requests at once. httpx would look at every idle connection for each request: what
    comes together on connections that are kept would trickle in, and not meet in the engine."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS)
    return aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=TIMEOUT_SECONDS))


async def load(
    client: aiohttp.ClientSession, contender: Contender, case: Case, requests: int, length: Length, first: int
) -> Load:
    """`requests` questions, numbered from `first` on, so that no round repeats another's."""
    numbers = iter(range(first, first + requests))

    async def worker() -> list[Asked]:
        return [await ask(client, contender, case, QUESTION.format(a=n, b=n % 89), length) for n in numbers]

    before, start = contender.cpu_seconds(), time.perf_counter()
    found = await asyncio.gather(*(worker() for _ in range(case.concurrency)))
    seconds = time.perf_counter() - start
    asked = [one for some in found for one in some]
    return Load(
        seconds,
        sum(one.completion_tokens for one in asked),
        len(asked),
        contender.cpu_seconds() - before,
        statistics.median(one.first_event for one in asked),
        sum(one.prompt_tokens for one in asked),
    )


async def ask(client: aiohttp.ClientSession, contender: Contender, case: Case, question: str, length: Length) -> Asked:
    """One answer. Nothing but its last event is decoded: what this program does takes from the server's core.

    Raises SystemExit for an answer that is none, and for a connection that breaks, with the server's name.
    """
    described = case.ours if contender.name == "demur" else case.theirs
    path, body = described(question, length.max_tokens, length.unending)
    start, first, pieces = time.perf_counter(), 0.0, list[bytes]()
    try:
        async with client.post(contender.base + path, json=body) as response:
            if response.status != 200:
                raise SystemExit(f"bench: {contender.name} says {response.status}: {(await response.read())[:500]!r}")
            async for piece in response.content.iter_any():
                if not first and (not case.streamed or b"data: {" in piece):
                    first = time.perf_counter() - start
                pieces.append(piece)
    except (aiohttp.ClientError, TimeoutError) as error:
        how = f"{error!r}, {time.perf_counter() - start:.1f} s after the request, {len(pieces)} pieces in"
        raise SystemExit(f"bench: {contender.name} broke off, {case.name}: {how}") from error
    usage = _usage(b"".join(pieces), streamed=case.streamed)
    if usage is None:
        raise SystemExit(f"bench: {contender.name} gave no usage: {b''.join(pieces)[-500:]!r}")
    return Asked(first, usage["completion_tokens"], usage["prompt_tokens"])


def _usage(reply: bytes, *, streamed: bool) -> dict[str, Any] | None:
    """What the reply, or the last of its events that has one, says of its tokens."""
    if not streamed:
        return json.loads(reply).get("usage")
    told = [line[6:] for line in reply.splitlines() if line.startswith(b"data: {") and b'"completion_tokens"' in line]
    return json.loads(told[-1]).get("usage") if told else None
