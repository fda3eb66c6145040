"""The critic port, its fake, and a critic that is loaded when it is first needed."""

import asyncio
import math

import pytest

from demur.engine.base import EngineDead, EngineRestarting, Message, Prompt, Sampling
from demur.engine.critic import Critic, CriticUnavailable, LazyCritic, TokenTexts
from demur.engine.restarting import RestartBudget
from demur.engine.scripted import END, ScriptedEngine, piece_of, token_of, words
from demur.engine.scripted_critic import ScriptedCritic
from demur.manifest import Critic as Described


async def written(text: str, sampling: Sampling, chunker=words) -> tuple[Prompt, list[int], ScriptedEngine]:
    engine = ScriptedEngine({"q": text}, chunker=chunker)
    prompt = await engine.prepare([Message(role="user", content="q " * 300)])
    return prompt, [i async for c in engine.stream(prompt, sampling, request_id="r-0") for i in c.token_ids], engine


@pytest.mark.parametrize("chunker", [words, list, lambda text: [text]])
def test_the_scripted_engine_writes_tokens_that_join_to_its_text(chunker) -> None:
    text = "Two  rows\nÆ \ud83e\udd5a.\nAnswer: 70"
    prompt, ids, engine = asyncio.run(written(text, Sampling(max_tokens=100), chunker))
    assert isinstance(engine, TokenTexts)
    assert "".join(engine.pieces(prompt, ids)) == text
    assert (ids[-1], engine.pieces(prompt, ids)[-1]) == (END, "")
    assert not any(engine.pieces(prompt, prompt.token_ids or ()))


def test_a_text_that_is_cut_has_no_end_token() -> None:
    prompt, ids, engine = asyncio.run(written("one two three", Sampling(max_tokens=2)))
    assert engine.pieces(prompt, ids) == ["one", " two"]


def test_a_scripted_value_holds_until_the_next_word_that_has_one() -> None:
    critic = ScriptedCritic({"sum": 0.9, "slip": -0.3})
    ids = [0, 1, 300, *map(token_of, ["a", " sum", " then", "\nslip"])]
    assert asyncio.run(critic.values(ids, request_id="r")) == [0.5, 0.5, 0.5, 0.5, 0.9, 0.9, -0.3]
    assert list(critic.asked) == [tuple(ids)]
    assert piece_of(ids[-1]) == "\nslip"


def load_of(critic: Critic, loaded: list[Critic], gate: asyncio.Event):
    async def load() -> Critic:
        loaded.append(critic)
        await gate.wait()
        return critic

    return load


def test_a_critic_is_loaded_once_and_outlives_a_caller_that_gives_up() -> None:
    async def three_callers() -> tuple[list[Critic], list[float]]:
        gate, loaded = asyncio.Event(), list[Critic]()
        critic = LazyCritic(load_of(ScriptedCritic(start=0.25), loaded, gate))
        assert not loaded
        first, second = (asyncio.create_task(critic.values([0], request_id=name)) for name in "ab")
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        gate.set()
        assert await second == [0.25]
        return loaded, await critic.values([0, 1], request_id="c")

    loaded, values = asyncio.run(three_callers())
    assert len(loaded) == 1
    assert values == [0.25, 0.25]


def test_a_critic_that_cannot_be_loaded_says_so_to_everybody_and_is_not_tried_again() -> None:
    tries = []

    async def load() -> Critic:
        tries.append(1)
        raise CriticUnavailable("too large")

    async def ask_twice() -> None:
        critic = LazyCritic(load)
        for _ in range(2):
            with pytest.raises(CriticUnavailable, match="too large"):
                await critic.values([0], request_id="r")
        await critic.close()

    asyncio.run(ask_twice())
    assert len(tries) == 1


def test_a_critic_that_died_is_loaded_again_as_often_as_it_may_be() -> None:
    critics = [ScriptedCritic(start=0.1 * i, error=EngineDead("gone") if i < 2 else None) for i in range(3)]

    async def ask(most: int) -> list[object]:
        left = iter(critics)

        async def load() -> Critic:
            return next(left)

        critic = LazyCritic(load, RestartBudget(most, window=600))
        asked = [critic.values([0], request_id=f"r{i}") for i in range(2)]
        told = await asyncio.gather(*asked, return_exceptions=True)
        for i in range(2):
            told += await asyncio.gather(critic.values([0], request_id=f"s{i}"), return_exceptions=True)
        return [value if isinstance(value, list) else type(value) for value in told]

    gone = EngineRestarting
    assert asyncio.run(ask(most=2)) == [gone, gone, gone, [0.2]]
    assert asyncio.run(ask(most=1)) == [gone, gone, gone, CriticUnavailable]
    assert asyncio.run(ask(most=0)) == [gone, gone, CriticUnavailable, CriticUnavailable]


@pytest.mark.parametrize("asked_for", [False, True])
def test_closing_ends_what_is_loaded_or_loading(asked_for) -> None:
    async def close(ready: bool) -> ScriptedCritic:
        scripted, gate = ScriptedCritic(), asyncio.Event()
        critic = LazyCritic(load_of(scripted, [], gate))
        if asked_for:
            asking = asyncio.create_task(critic.values([0], request_id="r"))
            await asyncio.sleep(0)
            if ready:
                gate.set()
                await asking
        await critic.close()
        if asked_for and not ready:
            with pytest.raises(asyncio.CancelledError):
                await asking
        return scripted

    asyncio.run(asyncio.wait_for(close(False), 10))
    scripted = asyncio.run(asyncio.wait_for(close(True), 10))
    if asked_for:
        with pytest.raises(CriticUnavailable):
            asyncio.run(scripted.values([0], request_id="r"))


@pytest.mark.parametrize(
    ("scale", "value", "expected"),
    [
        ("unit", 0.3, 0.3),
        ("unit", -0.2, 0.0),
        ("unit", 1.7, 1.0),
        ("signed", 0.5, 0.75),
        ("signed", -1.5, 0.0),
        ("signed", 1.2, 1.0),
        ("unit", math.nan, None),
        ("signed", math.inf, None),
    ],
)
def test_a_value_becomes_a_probability_as_the_manifest_says(scale, value, expected) -> None:
    assert Described(path="critic", scale=scale).probability(value) == expected
