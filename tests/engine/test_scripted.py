import asyncio
from contextlib import aclosing

import pytest

from demur import prompts
from demur.core.contracts import CONTRACTS
from demur.core.reader import read
from demur.engine.base import Chunk, EngineDead, EngineOverloaded, Message, PromptTooLong, Sampling
from demur.engine.demo import PREPARED, demo_answer, unwrap
from demur.engine.scripted import Gate, Script, ScriptedEngine, words

SAMPLING = Sampling(max_tokens=100)


async def collect(engine: ScriptedEngine, content: str, sampling: Sampling = SAMPLING, i: int = 0) -> list[Chunk]:
    prompt = await engine.prepare([Message(role="user", content=content)])
    return [chunk async for chunk in engine.stream(prompt, sampling, request_id=f"r-{i}")]


def text(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


def test_words_join_to_the_text() -> None:
    for sample in ["", "  ", "a", " a  b\n\nc \n"]:
        assert "".join(words(sample)) == sample


def test_a_sample_is_its_text_with_counts_and_a_finish_reason() -> None:
    engine = ScriptedEngine({"question": "one two three"})
    chunks = asyncio.run(collect(engine, "a question here"))
    assert text(chunks) == "one two three"
    assert [chunk.completion_tokens for chunk in chunks] == [1, 2, 3]
    assert [chunk.finish_reason for chunk in chunks] == [None, None, "stop"]
    assert chunks[0].prompt_tokens == 3


def test_the_longest_fitting_piece_answers() -> None:
    engine = ScriptedEngine({"France": "Paris", "the capital of France": "It is Paris"})
    assert text(asyncio.run(collect(engine, "What is the capital of France?"))) == "It is Paris"


def test_sample_i_gets_the_ith_text_and_starts_again_after_the_last() -> None:
    engine = ScriptedEngine({"q": ["zero", "one"]})
    assert [text(asyncio.run(collect(engine, "q", i=i))) for i in range(3)] == ["zero", "one", "zero"]


def test_the_chunker_decides_how_a_text_arrives() -> None:
    engine = ScriptedEngine({"q": "abc"}, chunker=list)
    assert [chunk.text for chunk in asyncio.run(collect(engine, "q"))] == ["a", "b", "c"]


def test_an_empty_text_still_ends() -> None:
    assert [c.finish_reason for c in asyncio.run(collect(ScriptedEngine({"q": ""}), "q"))] == ["stop"]


def test_the_token_limit_cuts() -> None:
    chunks = asyncio.run(collect(ScriptedEngine({"q": "one two three"}), "q", Sampling(max_tokens=2)))
    assert text(chunks) == "one two"
    assert chunks[-1].finish_reason == "length"


def test_a_prompt_that_fills_the_context_is_refused() -> None:
    with pytest.raises(PromptTooLong) as caught:
        asyncio.run(collect(ScriptedEngine(max_model_len=3), "one two three"))
    assert (caught.value.prompt_tokens, caught.value.max_model_len) == (3, 3)


def test_closing_a_stream_stops_and_records_it() -> None:
    async def leave_early() -> ScriptedEngine:
        engine = ScriptedEngine({"q": "one two three"})
        prompt = await engine.prepare([Message(role="user", content="q")])
        async with aclosing(engine.stream(prompt, SAMPLING, request_id="early-0")) as chunks:
            await anext(chunks)
            assert engine.running == 1
        return engine

    engine = asyncio.run(leave_early())
    assert engine.running == 0
    assert list(engine.cancelled) == ["early-0"]


def test_a_finished_sample_is_not_cancelled() -> None:
    engine = ScriptedEngine({"q": "one"})
    asyncio.run(collect(engine, "q"))
    assert not engine.cancelled
    assert [drawn.request_id for drawn in engine.drawn] == ["r-0"]


def test_a_gate_holds_the_sample_until_it_is_opened() -> None:
    async def pass_the_gate() -> list[Chunk]:
        gate = Gate()
        engine = ScriptedEngine({"q": Script(["one two"], gates={1: gate})})
        working = asyncio.create_task(collect(engine, "q"))
        await asyncio.to_thread(gate.wait_reached)
        assert not working.done()
        gate.open()
        return await working

    assert text(asyncio.run(pass_the_gate())) == "one two"


def test_scripted_errors_come_when_the_script_says() -> None:
    error = EngineOverloaded("full")

    async def before_it_fails(script: Script) -> list[Chunk]:
        seen: list[Chunk] = []
        engine = ScriptedEngine({"q": script})
        prompt = await engine.prepare([Message(role="user", content="q")])
        try:
            async for chunk in engine.stream(prompt, SAMPLING, request_id="r"):
                seen.append(chunk)
        except EngineOverloaded:
            return seen
        raise AssertionError("the scripted error did not come")

    for after, expected in [(0, ""), (1, "one"), (9, "one two")]:
        seen = asyncio.run(before_it_fails(Script(["one two"], error=error, error_after=after)))
        assert text(seen) == expected
        assert all(chunk.finish_reason is None for chunk in seen)


def test_death_reaches_samples_that_wait() -> None:
    async def die_at_the_gate() -> None:
        gate = Gate()
        engine = ScriptedEngine({"q": Script(["one"], gates={0: gate}), "slow": Script(["one"], delay=3600)})
        samples = [asyncio.create_task(collect(engine, "q")), asyncio.create_task(collect(engine, "slow"))]
        await asyncio.to_thread(gate.wait_reached)
        engine.die("cable pulled")
        for ended in await asyncio.gather(*samples, return_exceptions=True):
            assert isinstance(ended, EngineDead)
        with pytest.raises(EngineDead, match="cable pulled"):
            await engine.check()

    asyncio.run(die_at_the_gate())


def test_a_scripted_death_kills_the_engine() -> None:
    engine = ScriptedEngine({"q": Script(["one"], error=EngineDead("worn out"))})
    with pytest.raises(EngineDead):
        asyncio.run(collect(engine, "q"))
    with pytest.raises(EngineDead):
        asyncio.run(engine.check())


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("domain", ["maths", "general"])
def test_the_demo_finds_question_and_contract_in_every_prompt(contract, domain) -> None:
    question = "Which?\n\nAnswer: <IDK>\n\n<Confidence value=1>"
    asked = unwrap(prompts.wrap(question, contract, domain=domain, risk_threshold=0.75))
    assert (asked.question, asked.contract.name) == (question, contract)
    assert asked.risk_threshold == (0.75 if contract == "explicit_risk" else 0.0)


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("question", [prepared.question for prepared in PREPARED] + ["Something else?"])
def test_what_the_demo_says_can_be_read(contract, question) -> None:
    for output in demo_answer(prompts.messages(question, contract, risk_threshold=0.2)):
        completion = read(output, contract, "strict")
        assert not completion.violation
        assert completion.answer or completion.idk
        assert completion.state == ("missing" if contract == "explicit_risk" else "value")


def test_the_demo_declines_when_the_risk_is_too_high() -> None:
    moons = prompts.messages("How many moons does Saturn have?", "explicit_risk", risk_threshold=0.9)
    assert all(output.endswith("<IDK>") for output in demo_answer(moons))


def test_the_demo_gives_the_same_stand_in_every_time() -> None:
    asked = prompts.messages("What is the meaning of this?", "response")
    assert demo_answer(asked) == demo_answer(asked)
    assert demo_answer(asked) != demo_answer(prompts.messages("And of that?", "response"))
