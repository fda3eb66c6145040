"""A sample that nobody looks at while it grows comes in one chunk; what is cut short is counted all the same."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.engine.base import Chunk, EngineError, Message, Sampling, Untold
from demur.engine.holding import held_back
from demur.engine.scripted import Gate, Script, ScriptedEngine

TEXT = "One egg and two more make three.\nAnswer: 3\nConfidence: 0.9"


async def drawn(engine: ScriptedEngine, sampling: Sampling) -> list[Chunk]:
    prompt = await engine.prepare([Message(role="user", content="q")])
    return [chunk async for chunk in engine.stream(prompt, sampling, request_id="r-0")]


def told(chunks: list[Chunk]) -> tuple[object, ...]:
    """All that chunks say together."""
    return (
        "".join(chunk.text for chunk in chunks),
        [token for chunk in chunks for token in chunk.token_ids],
        [each for chunk in chunks for each in chunk.logprobs],
        chunks[-1].finish_reason,
        chunks[-1].completion_tokens,
        chunks[-1].prompt_tokens,
    )


@pytest.mark.parametrize(("step", "chunks"), [(1, 11), (5, 3), (100, 2), (None, 1)])
def test_fewer_chunks_say_the_same(step, chunks) -> None:
    engine = ScriptedEngine({"q": TEXT})
    each = asyncio.run(drawn(engine, Sampling(max_tokens=50, logprobs=0)))
    held = asyncio.run(drawn(engine, Sampling(max_tokens=50, logprobs=0, step=step)))
    assert len(held) == chunks
    assert told(held) == told(each)
    assert {chunk.finish_reason for chunk in held[:-1]} <= {None}


@settings(deadline=None)
@given(cuts=st.lists(st.integers(0, 3), min_size=1, max_size=20), step=st.none() | st.integers(1, 6))
def test_however_tokens_come_nothing_is_lost_or_late(cuts, step) -> None:
    async def pieces():
        for place, size in enumerate(cuts):
            ending = "stop" if place == len(cuts) - 1 else None
            yield Chunk("x" * size, tuple(range(size)), ending, 7, sum(cuts[: place + 1]))

    async def held() -> list[Chunk]:
        return [chunk async for chunk in held_back(pieces(), Sampling(max_tokens=9, step=step))]

    chunks = asyncio.run(held())
    assert "".join(chunk.text for chunk in chunks) == "x" * sum(cuts)
    assert (chunks[-1].finish_reason, chunks[-1].completion_tokens) == ("stop", sum(cuts))
    if step is None:
        assert len(chunks) == 1
    else:
        assert all(len(chunk.token_ids) < step + 3 for chunk in chunks[1:])


@pytest.mark.parametrize(("step", "read", "untold"), [(None, 0, 4), (3, 4, 0), (2, 3, 1)])
def test_what_was_generated_and_never_read_is_counted(step, read, untold) -> None:
    gate, counted = Gate(), Untold()

    async def leave() -> int:
        engine = ScriptedEngine({"q": Script([TEXT], gates={4: gate})})
        prompt = await engine.prepare([Message(role="user", content="q")])
        seen = list[Chunk]()

        async def follow() -> None:
            sampling = Sampling(max_tokens=50, step=step, untold=counted)
            async with aclosing(engine.stream(prompt, sampling, request_id="r-0")) as chunks:
                async for chunk in chunks:
                    seen.append(chunk)

        following = asyncio.create_task(follow())
        await asyncio.to_thread(gate.wait_reached)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        return sum(len(chunk.token_ids) for chunk in seen)

    assert (asyncio.run(leave()), counted.tokens) == (read, untold)


def test_how_it_is_read_is_no_part_of_what_is_drawn() -> None:
    assert Sampling(max_tokens=9, step=None, untold=Untold(3)) == Sampling(max_tokens=9)


@settings(deadline=None)
@given(
    sizes=st.lists(st.integers(1, 3), min_size=2, max_size=20),
    told=st.sampled_from(["tokens", "totals", "nothing"]),
    step=st.none() | st.integers(1, 6),
    stop=st.integers(0, 19),
)
def test_whatever_an_engine_tells_of_its_tokens_steps_are_as_long_and_all_are_counted(sizes, told, step, stop) -> None:
    """vLLM tells tokens and totals, a host may tell totals with each piece (then one is one token) or nothing."""
    stop = min(stop, len(sizes) - 1)
    sizes = sizes if told == "tokens" else [1] * len(sizes)

    async def pieces():
        for place, size in enumerate(sizes[: stop + 1]):
            ids = tuple(range(size)) if told == "tokens" else ()
            yield Chunk("x", ids, completion_tokens=None if told == "nothing" else sum(sizes[: place + 1]))
        raise EngineError("it broke off")

    counted, read = Untold(), list[Chunk]()

    async def follow() -> None:
        async for chunk in held_back(pieces(), Sampling(max_tokens=99, step=step, untold=counted)):
            read.append(chunk)

    with pytest.raises(EngineError, match="broke off"):
        asyncio.run(follow())
    lengths = [len(chunk.token_ids) or chunk.pieces for chunk in read]
    assert sum(lengths) + counted.tokens + counted.pieces == sum(sizes[: stop + 1])
    assert lengths == [] if step is None else (lengths[0] <= 3 and all(step <= size < step + 3 for size in lengths[1:]))


def test_a_host_that_counts_with_each_piece_is_read_in_steps() -> None:
    async def pieces():
        for place in range(1, 21):
            yield Chunk("x", completion_tokens=place, prompt_tokens=7)
        yield Chunk("", finish_reason="stop", completion_tokens=20, prompt_tokens=7)

    async def texts() -> list[str]:
        return [chunk.text async for chunk in held_back(pieces(), Sampling(max_tokens=99, step=8))]

    assert asyncio.run(texts()) == ["x", "x" * 8, "x" * 8, "xxx"]
