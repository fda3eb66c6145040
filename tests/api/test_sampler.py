import asyncio
from contextlib import aclosing

import pytest

from demur.answering.deadline import Deadline
from demur.answering.errors import DeadlineExceeded
from demur.answering.ids import encode, new_id
from demur.answering.sampler import Arrival, SampleBatch, draw
from demur.core.answer_span import OutputForm
from demur.core.contracts import CONTRACTS
from demur.engine.base import EngineError, Message, Sampling
from demur.engine.scripted import Gate, Script, ScriptedEngine


async def arrivals_of(
    engine: ScriptedEngine, k: int, seconds: float = 10, stop_after: int | None = None
) -> list[Arrival]:
    prompt = await engine.prepare([Message(role="user", content="q")])
    batch = SampleBatch(prompt, [Sampling(max_tokens=100)] * k, "ans", OutputForm(CONTRACTS["response"]), 3)
    seen: list[Arrival] = []
    async with aclosing(draw(engine, batch, Deadline(seconds))) as arrivals:
        async for arrival in arrivals:
            seen.append(arrival)
            if len(seen) == stop_after:
                break
    return seen


@pytest.mark.parametrize("k", [1, 2, 5])
def test_every_sample_arrives_whole_and_ends_once(k) -> None:
    texts = [f"text of {i}" for i in range(8)]
    engine = ScriptedEngine({"q": texts})
    seen = asyncio.run(arrivals_of(engine, k))
    for i in range(k):
        *chunks, end = [chunk for j, chunk in seen if j == i]
        assert "".join(chunk.text for chunk in chunks) == texts[3 + i]
        assert end is None
    assert {drawn.request_id for drawn in engine.drawn} == {f"ans-{3 + i}" for i in range(k)}
    assert (engine.running, len(engine.cancelled)) == (0, 0)


def test_samples_start_together_and_stop_together_in_the_engine() -> None:
    engine = ScriptedEngine({"q": Script(["one two three"], gates={1: Gate()})})
    seen = asyncio.run(arrivals_of(engine, 4, stop_after=4))
    assert sorted(i for i, _ in seen) == [0, 1, 2, 3]
    assert (engine.running, len(engine.cancelled)) == (0, 4)


@pytest.mark.parametrize("k", [1, 3])
def test_the_deadline_stops_all(k) -> None:
    engine = ScriptedEngine({"q": Script(["one"], gates={0: Gate()})})
    with pytest.raises(DeadlineExceeded, match=r"0\.01 seconds"):
        asyncio.run(arrivals_of(engine, k, seconds=0.01))
    assert (engine.running, len(engine.cancelled)) == (0, k)


@pytest.mark.parametrize("error", [EngineError("lost"), ZeroDivisionError()])
@pytest.mark.parametrize("k", [1, 3])
def test_what_one_sample_raises_ends_all(k, error) -> None:
    def source(messages: object) -> Script:
        if isinstance(error, EngineError):
            return Script(["one two"], error=error, error_after=1)
        raise error

    engine = ScriptedEngine(source)
    with pytest.raises(type(error)):
        asyncio.run(arrivals_of(engine, k))
    assert engine.running == 0


def test_an_engines_own_timeout_is_not_the_deadline() -> None:
    async def impatient() -> None:
        raise TimeoutError("of its own")

    async def wait() -> None:
        await Deadline(10).bound(impatient())

    with pytest.raises(TimeoutError, match="of its own"):
        asyncio.run(wait())


def test_ids_sort_by_time_and_do_not_repeat() -> None:
    assert encode(0, 0) == "0" * 26
    assert encode(2**48 - 1, 2**80 - 1) == "7" + "Z" * 25
    assert encode(1, 2**80 - 1) < encode(2, 0)
    ids = {new_id("ans") for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(name) == 30 and name.startswith("ans_") for name in ids)
