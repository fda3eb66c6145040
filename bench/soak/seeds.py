"""Seeded samples in numbers that once ended vLLM on a CPU: all are answered, and come out the same again."""

import asyncio
import json
import os
import tempfile
import time
from pathlib import Path

from bench.soak.engine_killed import DEADLINE, serving_tiny
from bench.soak.result import Result
from bench.soak.wire import Reply, attempt, get, post

SAMPLES = 60
"""What one click on the page may ask for."""


def seeds(seconds: float, size: int) -> Result:
    """One request of 60 seeded samples, then `size` seeded requests at once, and all of it again."""
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    with tempfile.TemporaryDirectory() as folder, serving_tiny(Path(folder), port=0) as served:
        return asyncio.run(_seeds(served.port, size))


async def _seeds(port: int, size: int) -> Result:
    began = time.perf_counter()
    first, again = [await _round(port, size) for _ in range(2)]
    took = time.perf_counter() - began
    ready = (await attempt(port, get("/ready"), DEADLINE)).status
    same = sum(_said(one) == _said(other) for one, other in zip(first, again, strict=True))
    answered = sum(reply.status == 200 for reply in first + again)
    return Result(
        f"{SAMPLES} samples of one request, then {size} requests, all seeded",
        {"answered": f"{answered} of {2 * (size + 1)} in {took:.0f} s", "the same again": f"{same} of {size + 1}"},
        {
            "all are answered": answered == 2 * (size + 1),
            "all come out the same again": same == size + 1,
            "the engine lives": ready == 200,
        },
    )


async def _round(port: int, size: int) -> list[Reply]:
    body = {"max_tokens": 64, "risk_threshold": 0.0, "include_raw": True, "timeout": DEADLINE}
    vote = post(body | {"question": "many", "samples": SAMPLES, "seed": 1})
    single = [post(body | {"question": f"What is {i}?", "seed": i}) for i in range(size)]
    return [
        await attempt(port, vote, DEADLINE),
        *await asyncio.gather(*(attempt(port, one, DEADLINE) for one in single)),
    ]


def _said(reply: Reply) -> object:
    """The model's own words, or those of the error."""
    told = json.loads(reply.body)
    return told.get("raw", told)
