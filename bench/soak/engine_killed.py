"""vLLM's engine process is killed or stopped while it works: every client is told within its deadline, and it is
started again."""

import asyncio
import os
import signal
import sys
import tempfile
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import psutil
from bench.soak.health import asking_health
from bench.soak.result import Result
from bench.soak.server import ROOT, Served, serving
from bench.soak.wire import Broken, Reply, exchange, get, post

sys.path.insert(0, str(ROOT / "tests"))
from engine_processes import engines_of
from tiny_model import make_tiny_model

DEADLINE = 60.0
TOKENS = 1500
SILENCE = 10.0
"""Seconds until an engine that was stopped counts as dead."""
ENGINE_ARGS = ("max_model_len=2048", "max_num_seqs=64", "enforce_eager=true")


def engine_killed(seconds: float, size: int) -> Result:
    """`size` requests, half of them streams, `seconds` into which the engine is killed."""
    return _harmed(signal.SIGKILL, seconds, size)


def engine_stopped(seconds: float, size: int) -> Result:
    """The same, but the engine is stopped: it does not die by itself."""
    return _harmed(signal.SIGSTOP, seconds, size)


def _harmed(number: signal.Signals, seconds: float, size: int) -> Result:
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    with tempfile.TemporaryDirectory() as folder, serving_tiny(Path(folder), port=0, engine_silence=SILENCE) as served:
        return asyncio.run(_under_load(served, number, min(seconds, 20.0), size))


def serving_tiny(folder: Path, **settings: Any) -> AbstractContextManager[Served]:
    """A server of a tiny model in real vLLM; its weights lie in `folder`."""
    command = ["-m", "demur", "serve", "--model", str(make_tiny_model(folder / "tiny")), "--force-contract", "never"]
    command += [part for argument in ENGINE_ARGS for part in ("--engine-arg", argument)]
    return serving(command, **settings)


async def _under_load(served: Served, number: signal.Signals, seconds: float, size: int) -> Result:
    asking = [asyncio.create_task(_ask(served.port, i)) for i in range(size)]
    await asyncio.sleep(seconds)
    running = sum(not task.done() for task in asking)
    with asking_health(served.port) as health:
        engine_of(served).send_signal(number)
        harmed = time.perf_counter()
        down = await _ready(served.port, False)
        later = asyncio.create_task(_ask(served.port, size))
        outcomes = await asyncio.gather(*asking)
        told, again = time.perf_counter(), await _ready(served.port, True)
        after = await later
    typed = sum(isinstance(outcome, Reply) and outcome.is_typed for outcome in outcomes)
    return Result(
        f"{number.name} to the engine under {running} requests",
        {
            "until /ready says no, s": f"{down - harmed:.2f}",
            "until the last client knows, s": f"{told - harmed:.2f}",
            "until it is ready again, s": f"{again - harmed:.1f}",
            "answers and typed errors": f"{typed} of {size}",
            "/health, s: p50, p99, max": health.text,
        },
        {
            "requests were running": running > 0,
            "every client gets an answer or a typed error": typed == size,
            "within its deadline": told - harmed < DEADLINE,
            "/health is never silent for 250 ms": health.is_never_silent,
            "/ready turns false": down - harmed < DEADLINE,
            "the engine is started again": again - harmed < DEADLINE,
            "who came meanwhile is answered": isinstance(after, Reply) and after.status == 200,
        },
    )


async def _ask(port: int, i: int) -> Reply | Exception:
    body = {"question": f"What is {i} and {i}?", "max_tokens": TOKENS, "risk_threshold": 0.0, "stream": i % 2 == 0}
    try:
        return await exchange(port, post(body | {"timeout": DEADLINE}), DEADLINE)
    except (Broken, OSError, TimeoutError) as error:
        return error


def engine_of(served: Served) -> psutil.Process:
    """The process that holds the model."""
    found = engines_of(served.process)
    if not found:
        raise SystemExit("soak: the server has no engine process")
    return found[0]


async def _ready(port: int, wanted: bool) -> float:
    """When `/ready` was first 200, or was not; never later than the deadline."""
    end = time.perf_counter() + DEADLINE
    while time.perf_counter() < end:
        with suppress(Broken, TimeoutError, OSError):
            if ((await exchange(port, get("/ready"), 5)).status == 200) is wanted:
                break
        await asyncio.sleep(0.05)
    return time.perf_counter()
