"""An engine that dies is started again: what callers see, what waits, and when it is given up."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import pytest

from demur.engine.base import EngineDead, EngineError, EngineRestarting, Message, Sampling
from demur.engine.restarting import RestartBudget, RestartingEngine
from demur.engine.scripted import Gate, Script, ScriptedEngine

QUESTION = [Message(role="user", content="q")]
WRITTEN = "one two three"


class Starts:
    """Makes engines on demand and counts them; the first ones may fail to start, and all wait for `gate` if there is one."""

    def __init__(self, failing: int = 0, gate: asyncio.Event | None = None) -> None:
        self.engines: list[ScriptedEngine] = []
        self.tried = 0
        self.began = asyncio.Event()
        self._failing, self._gate = failing, gate

    async def __call__(self) -> ScriptedEngine:
        self.tried += 1
        self.began.set()
        if self._gate is not None:
            await self._gate.wait()
        if self.tried <= self._failing:
            raise EngineError("no memory")
        self.engines.append(ScriptedEngine({"q": WRITTEN}))
        return self.engines[-1]


def restarting(
    first: ScriptedEngine, start: Callable[[], Awaitable[ScriptedEngine]], most: int = 3
) -> RestartingEngine:
    return RestartingEngine(first, start, RestartBudget(most, window=600))


async def text(engine: RestartingEngine, name: str = "a-0") -> str:
    prompt = await engine.prepare(QUESTION)
    async with aclosing(engine.stream(prompt, Sampling(max_tokens=9), request_id=name)) as chunks:
        return "".join([chunk.text async for chunk in chunks])


def test_who_is_in_flight_is_told_and_who_comes_later_waits_for_the_next_engine():
    async def run() -> None:
        gate, opened = Gate(), asyncio.Event()
        first, starts = ScriptedEngine({"q": Script([WRITTEN], gates={1: gate})}), Starts(gate=opened)
        engine = restarting(first, starts)
        told: list[str] = []
        engine.on_restart(lambda: told.append("again"))

        flying = asyncio.create_task(text(engine))
        await asyncio.to_thread(gate.wait_reached)
        first.die()
        with pytest.raises(EngineRestarting):
            await flying
        with pytest.raises(EngineRestarting):
            await engine.check()
        assert engine.running == 0

        waiting = asyncio.create_task(text(engine, "b-0"))
        opened.set()
        assert await waiting == WRITTEN
        await engine.check()
        assert (told, starts.tried) == (["again"], 1)
        with pytest.raises(EngineDead):
            await first.check()
        await engine.close()

    asyncio.run(run())


def test_a_death_that_only_the_watch_sees_begins_a_restart_too():
    async def run() -> None:
        first = ScriptedEngine()
        engine = restarting(first, Starts())
        first.die()
        with pytest.raises(EngineRestarting):
            await engine.check()
        assert await text(engine) == WRITTEN

    asyncio.run(run())


def test_many_requests_that_find_the_same_engine_dead_start_one():
    async def run() -> None:
        first, starts = ScriptedEngine(), Starts()
        engine = restarting(first, starts)
        prompt = await engine.prepare(QUESTION)
        first.die()
        streams = [engine.stream(prompt, Sampling(max_tokens=9), request_id=f"a-{i}") for i in range(8)]
        ended = await asyncio.gather(*(anext(stream) for stream in streams), return_exceptions=True)
        assert any(isinstance(error, EngineRestarting) for error in ended)
        assert await text(engine) == WRITTEN
        assert starts.tried == 1

    asyncio.run(run())


def test_a_start_that_fails_is_tried_again():
    async def run() -> None:
        first, starts = ScriptedEngine(), Starts(failing=1)
        engine = restarting(first, starts)
        first.die()
        with pytest.raises(EngineRestarting):
            await engine.check()
        assert await text(engine) == WRITTEN
        assert starts.tried == 2

    asyncio.run(run())


def test_with_no_restart_left_it_is_dead_for_whoever_waits_and_for_good():
    async def run() -> None:
        first, starts = ScriptedEngine(), Starts(failing=9)
        engine = restarting(first, starts, most=1)
        first.die("worn out")
        with pytest.raises(EngineRestarting):
            await engine.check()
        with pytest.raises(EngineDead, match="no memory"):
            await text(engine)
        with pytest.raises(EngineDead):
            await engine.check()
        assert starts.tried == 1

    asyncio.run(run())


def test_without_restarts_death_is_death_at_once():
    async def run() -> None:
        first, starts = ScriptedEngine(), Starts()
        engine = restarting(first, starts, most=0)
        first.die("worn out")
        with pytest.raises(EngineDead, match="worn out"):
            await text(engine)
        assert starts.tried == 0

    asyncio.run(run())


def test_closing_ends_a_start_that_is_under_way():
    async def run() -> None:
        first, starts = ScriptedEngine(), Starts(gate=asyncio.Event())
        engine = restarting(first, starts)
        first.die()
        with pytest.raises(EngineRestarting):
            await engine.check()
        await starts.began.wait()
        await engine.close()
        assert not starts.engines

    asyncio.run(run())


def test_pauses_grow_and_what_is_long_ago_counts_no_more():
    restarts = RestartBudget(most=4, window=100)
    assert [restarts.next_pause(now) for now in (0, 1, 2, 3)] == [0, 1, 2, 4]
    assert restarts.next_pause(99) is None
    assert restarts.next_pause(100) == 4
    assert restarts.next_pause(100) is None
    assert restarts.next_pause(1000) == 0
