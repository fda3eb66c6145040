"""Free, then settled over real vLLM: a small instruct model that was never trained to a contract answers under each."""

import asyncio
import re
from collections.abc import Coroutine, Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from transformers import AutoTokenizer

from demur.answering import Answer, Answerer, RequestParams, UnresolvedRequest
from demur.answering.tail_forcing import FreeReply, TailForcer
from demur.core.answer_span import OutputForm
from demur.core.contracts import CONTRACTS
from demur.core.reader import read
from demur.engine.base import Chunk, Message, Prompt, RequestRefused, Sampling, Written
from demur.engine.vllm import VLLMEngine
from demur.manifest import Manifest
from demur.settings import Settings

pytest.importorskip("vllm")
pytestmark = [pytest.mark.vllm, pytest.mark.timeout(400)]

T = TypeVar("T")
_JSON = Sampling(
    max_tokens=40,
    json_schema={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
)
QUESTIONS = ["A box holds 6 pens. How many pens are in 7 boxes?", "Which river flows through Cairo?"]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def model(base_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model with a chat template that opens a thought before the reply to a message that says so."""
    folder = tmp_path_factory.mktemp("models") / "stock"
    folder.mkdir()
    for file in base_model.iterdir():
        (folder / file.name).symlink_to(file)
    template = AutoTokenizer.from_pretrained(base_model).chat_template
    thinking = "{% if 'think aloud' in messages[-1]['content'] %}{{ '<think>\\n' }}{% endif %}"
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    (folder / "chat_template.jinja").write_text(template + thinking)
    return folder


@pytest.fixture(scope="module")
def engine(model: Path, runner: asyncio.Runner) -> Iterator[VLLMEngine]:
    engine = runner.run(VLLMEngine.start(model, dtype="float32", kv_cache_memory_bytes=1 << 28, max_model_len=2048))
    yield engine
    runner.run(engine.close())


@pytest.fixture(scope="module")
def run(runner: asyncio.Runner):
    def run(coroutine: Coroutine[object, object, T]) -> T:
        return runner.run(coroutine)

    return run


async def collect(engine: VLLMEngine, prompt: Prompt, sampling: Sampling, name: str) -> list[Chunk]:
    async with aclosing(engine.stream(prompt, sampling, request_id=name)) as chunks:
        return [chunk async for chunk in chunks]


async def answered(engine: VLLMEngine, name: str, question: str, **fields: Any) -> Answer:
    answerer = Answerer(engine, Manifest.uncalibrated("stock"), Settings(timeout=350.0), clock=lambda: 0.0)
    turns = (Message(role="user", content=question),)
    params = RequestParams.model_validate({"risk_threshold": 0.0, "include_raw": True, **fields})
    active = answerer.open(UnresolvedRequest(turns, params))
    return (await answerer.answer(active, answer_id=name)).answer


def test_a_reply_is_continued_by_its_own_tokens(engine, run):
    """Greedy text that is broken off and continued is the same as in one go, and counts the same prompt."""
    prompt = run(engine.prepare([Message(role="user", content=QUESTIONS[0])]))
    whole = run(collect(engine, prompt, Sampling(max_tokens=40, temperature=0.0), "whole"))
    ids = tuple(token for chunk in whole for token in chunk.token_ids)
    text = "".join(chunk.text for chunk in whole)
    first = run(collect(engine, prompt, Sampling(max_tokens=20, temperature=0.0), "first"))
    so_far = Written("".join(chunk.text for chunk in first), tuple(t for chunk in first for t in chunk.token_ids))
    rest = run(collect(engine, replace(prompt, written=so_far), Sampling(max_tokens=20, temperature=0.0), "rest"))
    assert rest[0].resumed == "continued"
    assert (*so_far.token_ids, *(t for chunk in rest for t in chunk.token_ids)) == ids
    assert so_far.text + "".join(chunk.text for chunk in rest) == text
    assert rest[-1].prompt_tokens == len(prompt.token_ids)


def test_an_opening_is_put_behind_the_reply_and_counted(engine, run):
    prompt = run(engine.prepare([Message(role="user", content=QUESTIONS[0])]))
    written = Written("6 times 7 is 42.", closing="\n</think>\n\n", opening="Answer:")
    sampling = Sampling(max_tokens=40, temperature=0.0, constraint=r" [0-9]{1,4}\nConfidence: 0\.[0-9]")
    opening, *rest = run(collect(engine, replace(prompt, written=written), sampling, "opening"))
    assert (opening.text, opening.resumed) == ("\n</think>\n\nAnswer:", "continued")
    assert opening.completion_tokens == len(opening.token_ids) > 0
    assert re.fullmatch(r" [0-9]{1,4}\nConfidence: 0\.[0-9]", "".join(chunk.text for chunk in rest))
    assert rest[-1].completion_tokens == len(opening.token_ids) + sum(len(chunk.token_ids) for chunk in rest)


def test_a_stock_model_answers_readably_under_every_contract(engine, run):
    """All of them and a vote at once, which costs little more than one."""
    asked = [(contract, question) for contract in CONTRACTS for question in QUESTIONS]

    async def ask_all() -> list[Answer]:
        calls = [
            answered(engine, f"ans{i}", question, contract=contract, seed=i, max_tokens=200)
            for i, (contract, question) in enumerate(asked)
        ]
        vote = answered(engine, "vote", QUESTIONS[0], samples=4, seed=1, max_tokens=200)
        return await asyncio.gather(*calls, vote)

    *replies, vote = run(ask_all())
    for (contract, _), reply in zip(asked, replies, strict=True):
        assert reply.usage.completion_tokens <= 200
        assert reply.reason in ("idk", None), (contract, reply)
    assert [member.state for member in vote.samples.members] == ["value"] * 4


def test_a_thought_that_the_template_opens_is_never_read(engine, run):
    """The model goes on behind `<think>` until its share of the tokens is used up; only the tail is an answer."""
    question = f"Please think aloud. {QUESTIONS[0]}"
    prompt = run(engine.prepare([Message(role="user", content=question)]))
    assert prompt.thought_tag == "<think>"
    assert run(engine.prepare([Message(role="user", content=QUESTIONS[0])])).thought_tag == ""
    reply = run(answered(engine, "thought", question, max_tokens=100, seed=3))
    assert reply.raw.startswith("<think>")
    thought, closed, final = reply.raw.partition("</think>")
    if reply.settled is not None and closed:
        assert final.startswith("\n\nAnswer: ")
        assert reply.text == ""
        assert thought.removeprefix("<think>")
    assert reply.decision == "answer"


def test_a_form_that_is_forced_begins_behind_a_thought_that_the_template_opens(engine, run):
    prompt = run(engine.prepare([Message(role="user", content=f"Please think aloud. {QUESTIONS[0]}")]))
    assert prompt.thought_tag == "<think>"
    for forced in (Sampling(max_tokens=40, constraint=r"Answer: \d\d?\nConfidence: 0\.\d"), _JSON):
        chunks = run(collect(engine, prompt, forced, f"forced-{forced is _JSON}"))
        text = "".join(chunk.text for chunk in chunks)
        assert text.startswith("Answer: " if forced.constraint else '{"a"')
        assert "think" not in text
        assert chunks[-1].completion_tokens == sum(len(chunk.token_ids) for chunk in chunks)


def test_a_reply_without_room_for_what_is_put_behind_it_ends_as_it_had(engine, run):
    prompt = run(engine.prepare([Message(role="user", content=QUESTIONS[0])]))
    written = Written("6 times 7 is 42.", closing="\n</think>\n\n", opening="Answer: and so on, and so on")
    with pytest.raises(RequestRefused, match="no room"):
        run(collect(engine, replace(prompt, written=written), Sampling(max_tokens=8), "no-room"))


def test_a_claim_may_hold_a_sign_that_begins_tags(engine, run):
    """The tail's expression is compiled by vLLM, and takes a `<` in a step."""
    free = FreeReply()
    free.take(Chunk('Solution:\n<Confidence value=0.9 text="a">3 < 4 since 3 ', finish_reason="length"))
    tail = TailForcer(OutputForm(CONTRACTS["claims"])).plan(free, Sampling(max_tokens=200))
    prompt = run(engine.prepare([Message(role="user", content=QUESTIONS[0])]))
    chunks = run(collect(engine, replace(prompt, written=tail.written), tail.sampling, "claims"))
    text = free.text + "".join(chunk.text for chunk in chunks)
    assert (
        re.fullmatch(tail.sampling.constraint, "".join(chunk.text for chunk in chunks))
        or chunks[-1].finish_reason == "length"
    )
    assert read(text, "claims").claims[0].text.startswith("3 < 4 since 3 ")
