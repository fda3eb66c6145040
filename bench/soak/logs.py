"""Whoever reads the server's log stops reading: a full pipe must cost lines, not answers."""

import asyncio
import os
import re
import time

from bench.soak.result import Result
from bench.soak.server import serving
from bench.soak.wire import attempt, exchange, get

AT_ONCE = 32
PATIENCE = 20.0


def stalled_log(seconds: float, size: int) -> Result:
    """`size` requests, each of which writes a line into a pipe that nobody reads."""
    reads, writes = os.pipe()
    try:
        with serving(("-m", "demur", "serve", "--engine", "scripted", "--port", "0"), log_to=writes) as served:
            return asyncio.run(_stalled(served.port, size))
    finally:
        os.close(writes)
        os.close(reads)


async def _stalled(port: int, size: int) -> Result:
    gate, began = asyncio.Semaphore(AT_ONCE), time.perf_counter()

    async def one() -> float | None:
        async with gate:
            reply = await attempt(port, get("/v1/models"), PATIENCE)
            return reply.seconds if reply.status == 200 else None

    answered = [seconds for seconds in await asyncio.gather(*(one() for _ in range(size))) if seconds is not None]
    took = time.perf_counter() - began
    text = (await exchange(port, get("/metrics"), PATIENCE)).body.decode()
    found = re.search(r"^demur_log_lines_dropped_total (\S+)", text, re.MULTILINE)
    return Result(
        f"{size} requests, and nobody reads the log",
        {
            "answered": f"{len(answered)} of {size} in {took:.0f} s",
            "slowest answer, s": f"{max(answered, default=float('nan')):.2f}",
            "lines dropped": "?" if found is None else f"{float(found[1]):.0f}",
        },
        {"no answer is lost": len(answered) == size},
    )
