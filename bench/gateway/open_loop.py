"""Requests at a fixed rate, whatever becomes of those before: what waits shows in the latencies."""

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.gateway.host import PIECES
from bench.gateway.ways import Way
from bench.soak.wire import Reply, attempt

PATIENCE = 30.0
"""Seconds after which a request has failed."""
LOOK, IDLE = 0.2, 0.1
"""Seconds between two looks at whether processes are idle, and the share of a core below which they are."""


@dataclass(frozen=True, slots=True)
class Round:
    """What came of the requests of one round. Latencies are in seconds from when each was due to its end."""

    requests: int
    failures: int
    p50: float
    p99: float
    cpu_ms: float
    """Milliseconds of the gateway's processor time for each request."""
    memory_mib: float
    host_busy: float
    """The share of one core that the host took: near 1 it is the host that latencies are of."""


async def offered(
    way: Way,
    host: Way,
    rate: float,
    seconds: float,
    *,
    streamed: bool,
    samples: int,
    pieces: int = PIECES,
    slowly: bool = False,
) -> Round:
    """`rate` requests a second for so long, the first at once; then wait until nothing is left to do."""
    request = way.request(streamed=streamed, samples=samples, pieces=pieces, slowly=slowly)
    loop = asyncio.get_running_loop()
    before, host_before = way.cpu_seconds(), host.cpu_seconds()
    start, asked = loop.time(), list[asyncio.Task[float | None]]()
    for number in range(max(1, round(rate * seconds))):
        due = start + number / rate
        await asyncio.sleep(max(0.0, due - loop.time()))
        asked.append(asyncio.create_task(_one(way.port, request, due)))
    took = await asyncio.gather(*asked)
    ended = [one for one in took if one is not None]
    busy = (host.cpu_seconds() - host_before) / (loop.time() - start)
    await _idle(way, host)
    cpu = 1e3 * (way.cpu_seconds() - before) / len(took)
    lost = len(took) - len(ended)
    return Round(len(took), lost, _share(ended, 0.5), _share(ended, 0.99), cpu, way.memory_mib(), busy)


async def _idle(*ways: Way) -> None:
    """Wait until what was given up has left the gateway and the host: it would slow the next round."""
    for _ in range(round(PATIENCE / LOOK)):
        before = sum(way.cpu_seconds() for way in ways)
        await asyncio.sleep(LOOK)
        if sum(way.cpu_seconds() for way in ways) - before < IDLE * LOOK:
            return


async def _one(port: int, request: bytes, due: float) -> float | None:
    """Seconds until the whole reply was there; None where it was none."""
    reply = await attempt(port, request, PATIENCE)
    return asyncio.get_running_loop().time() - due if _is_whole(reply) else None


def _is_whole(reply: Reply) -> bool:
    """Whether it came to its end: a stream of ours with the answer, one of the others with their last event."""
    if reply.status != 200:
        return False
    if reply.events:
        return reply.events[-1][0] == "data: [DONE]" or reply.answer == "4"
    return b"Confidence: 0.9" in reply.body or b'"answer":"4"' in reply.body


def _share(values: Sequence[float], share: float) -> float:
    if not values:
        return PATIENCE
    return (
        values[0]
        if len(values) == 1
        else statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]
    )
