"""Real vLLM whose engine process is killed, stopped or raises: it is started again in the same process."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from demur.engine.base import EngineError, EngineRestarting, Message, Sampling
from demur.engine.restarting import RestartBudget, RestartingEngine
from demur.engine.vllm import VLLMEngine
from poisoned_sampling import POISON

pytest.importorskip("vllm")
pytestmark = [pytest.mark.vllm, pytest.mark.timeout(400)]

SILENCE = 5.0
ENDLESS = Sampling(max_tokens=4000, temperature=0.0)
SHORT = Sampling(max_tokens=8, temperature=0.0)
WITHIN = 240.0


class Shared:
    """One event loop and one engine for all tests, which outlives what they do to it."""

    def __init__(self, runner: asyncio.Runner, model: Path) -> None:
        self._model = model
        self.run = runner.run
        self.engine: RestartingEngine = runner.run(self._open())

    async def start(self) -> VLLMEngine:
        return await VLLMEngine.start(
            self._model,
            silence=SILENCE,
            dtype="float32",
            kv_cache_memory_bytes=1 << 28,
            logits_processors=["poisoned_sampling:Poisoned"],
        )

    async def _open(self) -> RestartingEngine:
        return RestartingEngine(await self.start(), self.start, RestartBudget(most=5, window=3600))


@pytest.fixture(scope="module")
def shared(tiny_model: Path) -> Iterator[Shared]:
    with asyncio.Runner() as runner:
        shared = Shared(runner, tiny_model)
        yield shared
        shared.run(shared.engine.close())


def core() -> psutil.Process:
    [found] = [child for child in psutil.Process().children() if child.name().startswith("VLLM::EngineCor")]
    return found


async def ask(engine: RestartingEngine, sampling: Sampling, name: str) -> list[int]:
    prompt = await engine.prepare([Message(role="user", content="What is 2 + 2?")])
    async with aclosing(engine.stream(prompt, sampling, request_id=name)) as chunks:
        return [token async for chunk in chunks for token in chunk.token_ids]


async def watched(engine: RestartingEngine) -> None:
    """Look at the engine, as the server does, until it was found dead and answers again."""
    died = False
    while True:
        try:
            await engine.check()
            if died:
                return
        except EngineRestarting:
            died = True
        await asyncio.sleep(0.2)


async def survive(engine: RestartingEngine, harm) -> None:
    expected = await ask(engine, SHORT, "before")
    before = core().pid
    async with asyncio.timeout(WITHIN):
        watching = asyncio.create_task(watched(engine))
        flying = [asyncio.create_task(ask(engine, ENDLESS, f"flying-{i}")) for i in range(2)]
        while engine.running < 2:  # noqa: ASYNC110 - a gauge cannot be awaited
            await asyncio.sleep(0.01)
        await harm()
        for error in await asyncio.gather(*flying, return_exceptions=True):
            assert isinstance(error, EngineRestarting)
        assert await ask(engine, SHORT, "after") == expected
        await watching
    assert core().pid != before
    assert not psutil.pid_exists(before) or psutil.Process(before).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_is_killed_or_stopped_is_replaced(shared, number):
    async def harm() -> None:
        os.kill(core().pid, number)

    shared.run(survive(shared.engine, harm))


def test_an_engine_that_raises_is_replaced(shared):
    async def harm() -> None:
        with pytest.raises(EngineRestarting):
            await ask(shared.engine, Sampling(max_tokens=8, temperature=POISON), "poison")

    shared.run(survive(shared.engine, harm))


def test_a_refused_sample_harms_nobody(shared):
    with pytest.raises(EngineError, match="vLLM refuses"):
        shared.run(ask(shared.engine, Sampling(max_tokens=4, constraint="("), "refused"))
    shared.run(shared.engine.check())
