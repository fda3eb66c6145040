"""Five times more than the server can do, and readers that do not read."""

import asyncio
import re
import socket
import statistics
from contextlib import ExitStack

from bench.soak.result import Result, percentile
from bench.soak.server import serving
from bench.soak.wire import HOST, Reply, attempt, exchange, get, post, question

ROOM = 64
SERVICE = 2.0
"""Seconds that one answer takes."""
WORDS = 16
PATIENCE = 60.0
TIMES = 5


def overload(seconds: float, size: int) -> Result:
    """Requests arrive evenly: first as many as fit, then five times as many. `size` fit at once."""
    return asyncio.run(_overload(seconds, size))


async def _overload(seconds: float, size: int) -> Result:
    with serving(max_running_samples=size, max_queued_samples=size // 4) as served:
        fits = size / SERVICE * 0.8
        unloaded = await _arrivals(served.port, fits, seconds / 2)
        loaded = await _arrivals(served.port, TIMES * size / SERVICE, seconds)
    accepted = [reply.seconds for reply in loaded if reply.status == 200]
    refused = [reply for reply in loaded if reply.status == 429]
    before = [reply.seconds for reply in unloaded if reply.status == 200]
    refusal = [1e3 * reply.seconds for reply in refused]
    return Result(
        f"overload at {TIMES}x, {size} at once",
        {
            "unloaded: p50, p95, max, s": _spread(before, ".2f"),
            "accepted under load: p50, p95, max, s": _spread(accepted, ".2f"),
            "429: p50, p95, max, ms": _spread(refusal, ".0f"),
            "accepted, refused": f"{len(accepted)}, {len(refused)}",
        },
        {
            "accepted requests take at most twice as long (p95)": percentile(accepted, 0.95)
            <= 2 * percentile(before, 0.95),
            "the others get a 429 in under 50 ms (p95)": bool(refusal) and percentile(refusal, 0.95) < 50,
            "with Retry-After": all("retry-after" in reply.headers for reply in refused),
            "and nothing else happens": len(accepted) + len(refused) == len(loaded),
        },
    )


def _spread(values: list[float], shown: str) -> str:
    return ", ".join(format(percentile(values, share), shown) for share in (0.5, 0.95, 1.0))


async def _arrivals(port: int, rate: float, seconds: float) -> list[Reply]:
    """`rate` requests a second, whether or not earlier ones were answered."""
    loop = asyncio.get_running_loop()
    began, running = loop.time(), list[asyncio.Task[Reply]]()
    for i in range(int(rate * seconds)):
        await asyncio.sleep(max(began + i / rate - loop.time(), 0))
        body = {"question": question(f"a{i}", words=WORDS, delay=SERVICE / (WORDS + 4))}
        running.append(asyncio.create_task(attempt(port, post(body), PATIENCE)))
    return await asyncio.gather(*running)


SLOW_WORDS, SLOW_WIDTH, SLOW_DELAY = 100, 100_000, 0.2
"""Ten megabytes in twenty seconds: the kernel holds some four for a client that does not read."""


def slow_readers(seconds: float, size: int) -> Result:
    """`size` clients ask for long streams and never read; others go on asking."""
    return asyncio.run(_slow_readers(seconds, size))


async def _slow_readers(seconds: float, size: int) -> Result:
    with serving(max_running_samples=4 * size, max_running_tokens=1 << 30) as served, ExitStack() as stack:
        alone = await _arrivals(served.port, 10, seconds / 2)
        for i in range(size):
            ask_and_never_read(stack, served.port, i)
        before = served.mebibytes
        beside = await _arrivals(served.port, 10, seconds)
        after = served.mebibytes
        ready = (await exchange(served.port, get("/ready"), PATIENCE)).status
        metrics = (await exchange(served.port, get("/metrics"), PATIENCE)).body.decode()
    held = float(re.findall(r"^demur_running_samples (\S+)$", metrics, re.MULTILINE)[0])
    usual, now = (statistics.median(reply.seconds for reply in replies) for replies in (alone, beside))
    return Result(
        f"{size} readers that never read",
        {
            "others' median before, beside, s": f"{usual:.2f}, {now:.2f}",
            "samples still held by them": f"{held:.0f}",
            "memory before, after, MiB": f"{before:.0f}, {after:.0f}",
        },
        {
            "they are as slow as they should be": held >= 0.9 * size,
            "others are all answered": all(reply.status == 200 for reply in beside),
            "and take at most half as long again": now <= 1.5 * usual,
            "the server stays ready": ready == 200,
        },
    )


def ask_and_never_read(stack: ExitStack, port: int, i: int, key: str | None = None) -> None:
    connection = stack.enter_context(socket.socket())
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((HOST, port))
    asked = question(f"s{i}", words=SLOW_WORDS, delay=SLOW_DELAY, width=SLOW_WIDTH)
    body = {"question": asked, "risk_threshold": 0.0, "contract": "response", "max_tokens": SLOW_WORDS + 10}
    connection.sendall(post(body | {"stream": True, "timeout": 600}, key))
