"""Thousands of answers open at once: memory each, time to the first event, and whether closing them frees it."""

import asyncio
import resource
import statistics
from contextlib import suppress
from dataclasses import dataclass

import httpx
from bench.gateway.ways import Way
from bench.soak.wire import HOST, post

OPENED_AT_ONCE = 200
HELD = post({"question": "keep-it-open", "risk_threshold": 0, "stream": True, "max_tokens": 100})
FREED_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class Held:
    """`kilobytes` of the gateway for each stream. Seconds are until the first event that carries text."""

    streams: int
    kilobytes: float
    first_p50: float
    first_p99: float
    freed_seconds: float
    """Until nothing of them was in flight any more."""
    kept_kilobytes: float
    """For each stream once all are closed, of what had been taken: what an allocator keeps for the next ones."""


def most_streams(wanted: int) -> int:
    """As many of them as open files allow: the gateway has two sockets for each."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(wanted, (hard - 500) // 2)


async def held(way: Way, streams: int) -> Held:
    """Open all of them, then close all of them."""
    gate, loop = asyncio.Semaphore(OPENED_AT_ONCE), asyncio.get_running_loop()
    before = way.memory_mib()
    opened = await asyncio.gather(*(_open(way.port, gate) for _ in range(streams)))
    if (open_now := await _in_flight(way.port)) != streams:
        raise SystemExit(f"bench: {open_now} of {streams} streams were open when all should have been")
    full = way.memory_mib()
    for _, writer in opened:
        writer.close()
    closed = loop.time()
    async with asyncio.timeout(FREED_WITHIN):
        while await _in_flight(way.port):  # noqa: ASYNC110 - another program cannot be awaited
            await asyncio.sleep(0.1)
    freed, after = loop.time() - closed, way.memory_mib()
    firsts = sorted(seconds for seconds, _ in opened)
    each = 1024 / streams
    p99 = firsts[min(len(firsts) - 1, round(0.99 * len(firsts)))]
    return Held(streams, (full - before) * each, statistics.median(firsts), p99, freed, (after - before) * each)


async def _open(port: int, gate: asyncio.Semaphore) -> tuple[float, asyncio.StreamWriter]:
    async with gate:
        loop = asyncio.get_running_loop()
        began = loop.time()
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(HELD)
        await reader.readuntil(b"event: delta")
        return loop.time() - began, writer


async def _in_flight(port: int) -> int:
    """The gateway's own gauge, the question for it left out."""
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        with suppress(httpx.HTTPError):
            metrics = (await client.get(f"http://{HOST}:{port}/metrics")).text
            return sum(
                int(float(line.rpartition(" ")[2]))
                for line in metrics.splitlines()
                if line.startswith("demur_upstream_running_samples{")
            )
    return 1
