"""Two thousand streams open at once: none lost, none mixed up, memory flat, no caller starved by another."""

import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import Any

from bench.soak.result import Result, percentile
from bench.soak.server import Memory, serving
from bench.soak.wire import Reply, attempt, post, question

from demur.api_keys import KeyFile, make_key

WIDE = 1 << 30
EVERY = 2.0
"""Seconds between two words of one stream."""
PATIENCE = 120.0
"""Seconds after which an answer that is not there counts as lost."""


def streams(seconds: float, size: int) -> Result:
    """`size` streams, each `seconds` long, each with a nonce that its answer has to carry."""
    return asyncio.run(_streams(seconds, size))


async def _streams(seconds: float, size: int) -> Result:
    room: dict[str, Any] = {"max_running_samples": size, "max_running_tokens": WIDE}
    with serving(timeout=600, **room) as served:
        memory = Memory()
        watching = asyncio.create_task(memory.watch(served, 1.0))
        first = served.process.cpu_times().user
        asked = [(f"{i:06d}", max(int(seconds / EVERY), 1)) for i in range(size)]
        outcomes = await asyncio.gather(*(_one(served.port, nonce, words, seconds) for nonce, words in asked))
        cpu = served.process.cpu_times().user - first
        watching.cancel()
    right = sum(answer == nonce for answer, (nonce, _) in zip(outcomes, asked, strict=True))
    lost = sum(answer is None for answer in outcomes)
    early, late = _thirds(memory.seen)
    return Result(
        f"{size} streams, {seconds:g} s",
        {
            "answered": f"{right} of {size}",
            "memory, MiB: second third, last third": f"{early:.0f}, {late:.0f}",
            "server's CPU, s": f"{cpu:.0f}",
        },
        {
            "no answer is lost": lost == 0,
            "no answer is another's": right + lost == size,
            "memory is flat (5 %)": late <= 1.05 * early,
        },
    )


async def _one(port: int, nonce: str, words: int, seconds: float) -> str | None:
    body = {"question": question(nonce, words=words, delay=EVERY), "risk_threshold": 0.0, "contract": "response"}
    reply = await attempt(port, post(body | {"stream": True}), seconds + PATIENCE)
    return reply.answer


def _thirds(seen: list[float]) -> tuple[float, float]:
    """Medians of the second and the last third: the first is where connections open."""
    third = max(len(seen) // 3, 1)
    return statistics.median(seen[third : 2 * third] or seen), statistics.median(seen[-third:])


SERVICE = 0.5
"""Seconds that one answer takes an idle server."""


def fairness(seconds: float, size: int) -> Result:
    """One key floods with `size` requests at a time, the other asks one after another, alone and then beside it."""
    return asyncio.run(_fairness(seconds, size))


async def _fairness(seconds: float, size: int) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        (flood, loud), (quiet, soft) = make_key("flood"), make_key("quiet")
        file = Path(folder) / "keys.json"
        KeyFile(file).change(lambda keys: (*keys, flood, quiet))
        room: dict[str, Any] = {"max_running_samples": 16, "max_queued_samples": 64, "keys_file": file}
        with serving(**room) as served:
            alone = await _in_turn(served.port, soft, seconds / 3)
            flooding = [asyncio.create_task(_flood(served.port, loud)) for _ in range(size)]
            beside = await _in_turn(served.port, soft, seconds)
            for task in flooding:
                task.cancel()
            served_loud = sum(await asyncio.gather(*flooding))
    answered = [reply.seconds for reply in beside if reply.status == 200]
    usual = statistics.median(reply.seconds for reply in alone)
    return Result(
        f"two keys, one floods with {size}",
        {
            "quiet key alone: median, s": f"{usual:.2f}",
            "quiet key beside the flood: median, p95, s": (
                f"{percentile(answered, 0.5):.2f}, {percentile(answered, 0.95):.2f}"
            ),
            "answered: quiet, flood": f"{len(answered)}, {served_loud}",
        },
        {
            "the quiet key is never turned away": len(answered) == len(beside),
            "and waits for one answer of the flood at most": percentile(answered, 0.5) <= usual + 2 * SERVICE,
        },
    )


async def _in_turn(port: int, key: str, seconds: float) -> list[Reply]:
    loop = asyncio.get_running_loop()
    end, replies = loop.time() + seconds, list[Reply]()
    while loop.time() < end:
        body = {"question": question(f"q{len(replies)}", words=5, delay=SERVICE / 8)}
        replies.append(await attempt(port, post(body, key), PATIENCE))
    return replies


async def _flood(port: int, key: str) -> int:
    """Ask again and again, whatever the reply; how many were answered."""
    answered = 0
    try:
        while True:
            body = {"question": question("f", words=5, delay=SERVICE / 8)}
            reply = await attempt(port, post(body, key), PATIENCE)
            answered += reply.status == 200
            if reply.status != 200:
                await asyncio.sleep(0.1)
    except asyncio.CancelledError:
        return answered
