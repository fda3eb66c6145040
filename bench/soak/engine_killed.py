"""kill -9 of vLLM's engine process while it works: every client is told within its deadline."""

import asyncio
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
from bench.soak.result import Result
from bench.soak.server import ROOT, Served, serving
from bench.soak.wire import Broken, Reply, exchange, get, post

sys.path.insert(0, str(ROOT / "tests"))
from tiny_model import make_tiny_model

DEADLINE = 60.0
TOKENS = 1500
ENGINE_ARGS = ("max_model_len=2048", "max_num_seqs=64", "enforce_eager=true")


def engine_killed(seconds: float, size: int) -> Result:
    """`size` requests, half of them streams, `seconds` into which the engine is killed."""
    with tempfile.TemporaryDirectory() as folder:
        model = make_tiny_model(Path(folder) / "tiny")
        command = ["-m", "demur", "serve", "--model", str(model), "--force-contract", "never"]
        command += [part for argument in ENGINE_ARGS for part in ("--engine-arg", argument)]
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
        with serving(command, port=0) as served:
            return asyncio.run(_engine_killed(served, min(seconds, 20.0), size))


async def _engine_killed(served: Served, seconds: float, size: int) -> Result:
    asking = [asyncio.create_task(_ask(served.port, i)) for i in range(size)]
    await asyncio.sleep(seconds)
    running = sum(not task.done() for task in asking)
    _engine(served).kill()
    killed = time.perf_counter()
    down = await _not_ready(served.port)
    outcomes = await asyncio.gather(*asking)
    told = time.perf_counter() - killed
    status, ended = await asyncio.to_thread(_exit_code, served), time.perf_counter() - killed
    typed = sum(isinstance(outcome, Reply) and outcome.is_typed for outcome in outcomes)
    return Result(
        f"engine killed under {running} requests",
        {
            "until /ready says no, s": f"{down - killed:.2f}",
            "until the last client knows, s": f"{told:.2f}",
            "answers and typed errors": f"{typed} of {size}",
            "exit code, after s": f"{status}, {ended:.0f}",
        },
        {
            "requests were running": running > 0,
            "every client gets an answer or a typed error": typed == size,
            "within its deadline": told < DEADLINE,
            "/ready turns false": down - killed < DEADLINE,
            "the process ends with 70": status == 70,
        },
    )


async def _ask(port: int, i: int) -> Reply | Exception:
    body = {"question": f"What is {i} and {i}?", "max_tokens": TOKENS, "risk_threshold": 0.0, "stream": i % 2 == 0}
    try:
        return await exchange(port, post(body | {"timeout": DEADLINE}), DEADLINE)
    except (Broken, OSError, TimeoutError) as error:
        return error


def _exit_code(served: Served) -> int | None:
    """None when the process is still there long after a graceful shutdown has to be over."""
    with suppress(psutil.TimeoutExpired):
        return served.process.wait(4 * DEADLINE)
    return None


def _engine(served: Served) -> psutil.Process:
    """The process that holds the model."""
    children = served.process.children(recursive=True)
    found = [child for child in children if "EngineCore" in " ".join([child.name(), *child.cmdline()])]
    if not found:
        raise SystemExit(f"soak: no engine among {[child.name() for child in children]}")
    return found[0]


async def _not_ready(port: int) -> float:
    """When `/ready` was no longer 200: an error status, or nobody who listens."""
    end = time.perf_counter() + DEADLINE
    while time.perf_counter() < end:
        with suppress(Broken, TimeoutError):
            try:
                if (await exchange(port, get("/ready"), 5)).status != 200:
                    break
            except OSError:
                break
        await asyncio.sleep(0.05)
    return time.perf_counter()
