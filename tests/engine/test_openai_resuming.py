"""A reply so far over OpenAI-compatible hosts: continued where the host can, asked for in a further turn elsewhere."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from demur.answering import Answer, Answerer, RequestParams, UnresolvedRequest
from demur.engine.base import Chunk, Message, Prompt, Sampling, Written
from demur.engine.openai import OpenAIEngine
from demur.engine.upstreams import Upstream
from demur.manifest import Manifest
from demur.settings import Settings

ASKED = (Message(role="user", content="6 * 7?"),)
LINES = "Answer: 42\nConfidence: 0.8"


class Host:
    """Writes prose to a question, and two lines to whoever wants those; the way is the first part of the path.

    `continues` goes on with a final message, `refuses` finds fault with that, `thinks` keeps its thought apart and
    writes nothing else within its limit.
    """

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{mode}/v1/chat/completions", self.complete, methods=["POST"])])

    async def complete(self, request: Request) -> Response:
        body, mode = await request.json(), request.path_params["mode"]
        self.bodies.append(body)
        goes_on = body.get("continue_final_message", False)
        if goes_on and mode == "refuses":
            return JSONResponse({"error": {"message": "extra fields are not permitted"}}, 400)
        return StreamingResponse(self.events(mode, body, goes_on), media_type="text/event-stream")

    async def events(self, mode: str, body: dict[str, Any], goes_on: bool) -> AsyncIterator[str]:
        last = body["messages"][-1]
        if goes_on:
            deltas = [{"content": piece} for piece in (" 42\n", "Confidence: 0.8")]
            assert last["content"].endswith("Answer:")
        elif len(body["messages"]) > 1:
            deltas = [{"content": LINES}]
        elif mode.startswith("thinks"):
            name = "reasoning" if mode == "thinks" else "reasoning_content"
            deltas = [{name: "Answer: 7 "}, {name: "maybe", "content": None}]
        else:
            deltas = [{"content": "It makes "}, {"content": "42."}]
        for delta in deltas:
            yield event({"delta": delta})
        cut = mode.startswith("thinks") and not goes_on and len(body["messages"]) == 1
        yield event({"delta": {}, "finish_reason": "length" if cut else "stop"})
        if mode != "uncounted":
            yield event(None, usage={"prompt_tokens": 100 if goes_on else 9, "completion_tokens": 5})
        yield "data: [DONE]\n\n"


def event(choice: dict[str, Any] | None, **more: object) -> str:
    return f"data: {json.dumps({'choices': [] if choice is None else [choice], **more})}\n\n"


@pytest.fixture
def host() -> Host:
    return Host()


def engine(address: str, mode: str, **options: Any) -> OpenAIEngine:
    return OpenAIEngine([Upstream(f"{address}/{mode}/v1")], "m", **options)


def answered(the_engine: OpenAIEngine, **fields: Any) -> Answer:
    async def ask() -> Answer:
        try:
            answerer = Answerer(the_engine, Manifest.uncalibrated("m"), Settings(), clock=lambda: 0.0)
            params = RequestParams.model_validate({"include_raw": True, **fields})
            active = answerer.open(UnresolvedRequest(ASKED, params))
            return (await answerer.answer(active, answer_id="ans_1")).answer
        finally:
            await the_engine.close()

    return asyncio.run(ask())


def test_a_host_that_can_continues_the_final_message(address: str, host: Host) -> None:
    reply = answered(engine(address, "continues", structured_outputs=True, continues=True))
    assert (reply.answer, reply.confidence) == ("42", 0.8)
    assert reply.raw == f"It makes 42.\n\n{LINES}"
    assert reply.settled is not None
    assert (reply.settled.by, reply.settled.after) == ("continued", "stop")
    first, second = host.bodies
    assert "structured_outputs" not in first
    assert second["messages"][:-1] == first["messages"]
    assert second["messages"][-1] == {"role": "assistant", "content": "It makes 42.\n\nAnswer:"}
    assert (second["continue_final_message"], second["add_generation_prompt"]) == (True, False)
    assert "Confidence" in second["structured_outputs"]["regex"]
    assert second["include_reasoning"] is False
    assert second["max_tokens"] == 160
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (9, 10)


@pytest.mark.parametrize(("mode", "continues", "calls"), [("hosted", False, 2), ("refuses", True, 3)])
def test_any_other_host_is_asked_in_a_further_turn(address: str, host: Host, mode: str, continues, calls) -> None:
    reply = answered(engine(address, mode, continues=continues))
    assert (reply.answer, reply.confidence) == ("42", 0.8)
    assert reply.raw == f"It makes 42.\n{LINES}"
    assert reply.settled is not None
    assert reply.settled.by == "asked"
    assert len(host.bodies) == calls
    question, said, request = host.bodies[-1]["messages"]
    assert question == host.bodies[0]["messages"][0]
    assert said == {"role": "assistant", "content": "It makes 42."}
    assert "finish with two lines" in request["content"]
    assert "continue_final_message" not in host.bodies[-1]
    assert "structured_outputs" not in host.bodies[-1]


def test_a_continuation_that_was_refused_is_not_tried_again(address: str, host: Host) -> None:
    made, free = engine(address, "refuses", continues=True), "It makes 42."

    async def go_on_twice() -> None:
        for number in range(2):
            prompt = Prompt(ASKED, written=Written(free, opening="Answer:", request="Please finish."))
            async with aclosing(made.stream(prompt, Sampling(max_tokens=20), request_id=f"r-{number}")) as chunks:
                assert (await anext(chunks)).resumed == "asked"
        await made.close()

    asyncio.run(go_on_twice())
    assert [body.get("continue_final_message", False) for body in host.bodies] == [True, False, False]


def test_a_further_turn_is_forced_into_its_form_where_the_host_can_do_that(address: str, host: Host) -> None:
    answered(engine(address, "hosted", structured_outputs=True))
    assert host.bodies[1]["structured_outputs"]["regex"].startswith("Answer: ")


@pytest.mark.parametrize("mode", ["thinks", "thinks-under-its-older-name"])
def test_thought_that_a_host_keeps_apart_is_counted_and_never_read(address: str, host: Host, mode: str) -> None:
    reply = answered(engine(address, mode, continues=True), risk_threshold=0.0)
    assert (reply.answer, reply.text) == ("42", "")
    assert "7" not in (reply.raw or "")
    assert reply.settled is not None
    assert reply.settled.after == "length"
    assert host.bodies[1]["messages"][-1] == {"role": "assistant", "content": "Answer:", "reasoning": "Answer: 7 maybe"}
    assert reply.usage.completion_tokens == 10


def test_where_nobody_counts_nothing_is_made_up(address: str) -> None:
    reply = answered(engine(address, "uncounted", continues=True))
    assert (reply.answer, reply.usage.completion_tokens) == ("42", None)


def test_the_first_chunk_says_what_was_put_behind_the_reply(address: str) -> None:
    async def go_on(way: bool) -> list[Chunk]:
        the_engine = engine(address, "continues", continues=way)
        written = Written("<think>It", closing="\n</think>\n\n", opening="Answer:", request="The lines, please.")
        prompt = Prompt(ASKED, None, written)
        async with aclosing(the_engine.stream(prompt, Sampling(max_tokens=9), request_id="r")) as chunks:
            found = [chunk async for chunk in chunks]
        await the_engine.close()
        return found

    continued, asked = asyncio.run(go_on(True)), asyncio.run(go_on(False))
    assert (continued[0].text, continued[0].resumed) == ("\n</think>\n\nAnswer:", "continued")
    assert (asked[0].text, asked[0].resumed) == ("\n</think>\n\n\n", "asked")
    assert "".join(chunk.text for chunk in asked[1:]) == LINES
