"""Structured answers as streams: the caller's JSON value by value, and never a value that may be withheld."""

import asyncio
import json
from contextlib import aclosing
from itertools import product
from typing import Any

import pytest

from demur.answering import Answerer, Final, RequestParams, UnresolvedRequest
from demur.answering.events import Delta
from demur.engine.base import Message
from demur.engine.scripted import Script, ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings

STRICT = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}}}
NULLABLE = {"type": "object", "properties": {"a": {"type": ["integer", "null"]}, "b": {"type": ["string", "null"]}}}
TEXT = '{"a":[3,95],"b":["\u00e9 \\"x\\", y",30]}'
GIVEN, EMPTIED = '{"a": 3, "b": "\u00e9 \\"x\\", y"}', '{"a": 3, "b": null}'
SPLITS = [1, 3, 100]


def serve(make, text: str, size: int, **script):
    pieces = lambda whole: [whole[i : i + size] for i in range(0, len(whole), size)]  # noqa: E731
    return make(ScriptedEngine(lambda messages: Script([text], **script), chunker=pieces))


def streamed(events, server, **fields):
    """What was shown before the end, piece by piece, and the reply."""
    *before, (name, reply) = events(server.ask("q", stream=True, **fields).text)
    assert name == "answer"
    return [data["text"] for kind, data in before if kind == "delta"], reply


def chunks(server, **fields):
    lines = server.chat("q", stream=True, **fields).text.split("\n\n")
    return [json.loads(line[6:])["choices"][0] for line in lines if line.startswith("data: {")]


@pytest.mark.parametrize("size", SPLITS)
def test_value_by_value(make, events, size) -> None:
    shown, reply = streamed(events, serve(make, TEXT, size), schema=STRICT)
    assert shown == ['{"a": 3', ', "b": "\u00e9 \\"x\\", y"', "}"]
    assert reply["answer"] == reply["text"] == GIVEN


async def followed(text: str, size: int, finish: str, schema: dict[str, Any], fields: dict[str, Any]):
    """What was shown before the end, and the reply."""
    script = Script([text], finish_reason=finish)
    engine = ScriptedEngine(
        lambda messages: script, chunker=lambda whole: [whole[i : i + size] for i in range(0, len(whole), size)]
    )
    manifest = Manifest(name="test", calibrated=True, contracts=("response",))
    answerer = Answerer(engine, manifest, Settings(), clock=lambda: 0.0)
    asked = UnresolvedRequest((Message(role="user", content="q"),), RequestParams(**fields), schema=schema)
    shown = ""
    async with aclosing(answerer.stream(answerer.open(asked), answer_id="ans_1")) as events:
        async for event in events:
            shown += event.text if isinstance(event, Delta) else ""
            if isinstance(event, Final):
                return shown, event.answer
    raise AssertionError("a stream ends with the answer")


@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize(
    ("schema", "doubt", "t", "withheld"),
    list(product([STRICT, NULLABLE], ["keep", "null", "abstain"], [0, 0.5, 0.97], [False, True])),
)
def test_wherever_it_is_cut_nothing_is_shown_that_the_reply_withholds(size, schema, doubt, t, withheld) -> None:
    fields = {"on_doubt": doubt, "risk_threshold": t, "include_withheld": withheld}

    async def all_cuts() -> None:
        for end in range(len(TEXT) + 1):
            cut = end < len(TEXT)
            shown, reply = await followed(TEXT[:end], size, "length" if cut else "stop", schema, fields)
            told = reply.text if reply.text is not None else reply.withheld.text if reply.withheld else None
            assert shown in ("", told)
            assert reply.answer in (None, reply.text)
            for value, confidence in (("3", 0.95), ("x", 0.3)):
                if doubt != "keep" and confidence < t and not withheld:
                    assert value not in shown + (reply.text or "")

    asyncio.run(all_cuts())


def test_doubtful_values_are_null_from_the_beginning(make, events) -> None:
    shown, reply = streamed(events, serve(make, TEXT, 4), schema=NULLABLE, on_doubt="null")
    assert "".join(shown) == reply["answer"] == EMPTIED
    assert reply["fields"][1]["value"] is None


def test_where_a_doubt_can_withhold_all_nothing_is_shown_before(make, events) -> None:
    shown, reply = streamed(events, serve(make, TEXT, 4), schema=STRICT, on_doubt="null")
    assert (shown, reply["answer"]) == ([], EMPTIED)
    shown, reply = streamed(events, serve(make, TEXT, 4), schema=STRICT, on_doubt="null", risk_threshold=0.97)
    assert (shown, reply["decision"], reply["text"]) == ([], "abstain", None)


def test_several_samples_are_not_shown_before_the_vote(make, events) -> None:
    assert streamed(events, serve(make, TEXT, 4), schema=STRICT, samples=2)[0] == []


FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "schema": STRICT}}
TOOLS = [{"type": "function", "function": {"name": "save", "parameters": STRICT}}]
FORCED = {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "save"}}}


def test_a_chat_shows_it_as_content(make) -> None:
    deltas = [each["delta"] for each in chunks(serve(make, TEXT, 3), response_format=FORMAT)]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert [delta["content"] for delta in deltas[1:-1]] == ['{"a": 3', GIVEN[7:-1], "}"]
    assert deltas[-1] == {}


def test_a_chat_shows_the_arguments_of_a_tool(make) -> None:
    first, *more, last = chunks(serve(make, TEXT, 3), **FORCED)
    (call,) = first["delta"]["tool_calls"]
    assert (call["index"], call["type"], call["function"]) == (0, "function", {"name": "save", "arguments": ""})
    pieces = [each["delta"]["tool_calls"] for each in more]
    assert pieces[0] == [{"index": 0, "function": {"arguments": '{"a": 3'}}]
    assert "".join(piece[0]["function"]["arguments"] for piece in pieces) == GIVEN
    assert (last["finish_reason"], last["demur"]["answer"]) == ("stop", GIVEN)


@pytest.mark.parametrize("asked", [{"response_format": FORMAT}, FORCED])
@pytest.mark.parametrize("way", ["content", "refusal"])
def test_an_abstention_behind_what_was_shown_is_a_refusal(make, asked, way) -> None:
    server = serve(make, TEXT[:16], 3, finish_reason="length")
    deltas = [each["delta"] for each in chunks(server, abstain_as=way, **asked)]
    assert deltas[-2] == {"refusal": "I abstain: the output was cut off at the token limit."}


def test_nothing_is_shown_where_an_abstention_has_to_be_an_error(make) -> None:
    server = serve(make, TEXT[:16], 3, finish_reason="length")
    response = server.chat("q", stream=True, abstain_as="error", response_format=FORMAT)
    assert response.status_code == 422


def test_choices_are_shown_side_by_side(make) -> None:
    server = make(ScriptedEngine({"q": [TEXT, TEXT.replace("3", "4", 1)]}))
    lines = server.chat("q", stream=True, n=2, response_format=FORMAT).text.split("\n\n")
    choices = [json.loads(line[6:])["choices"][0] for line in lines if line.startswith("data: {")]
    for index, text in ((0, GIVEN), (1, GIVEN.replace("3", "4", 1))):
        own = [each for each in choices if each["index"] == index]
        assert "".join(each["delta"].get("content", "") for each in own) == text == own[-1]["demur"]["answer"]


def responded(events, server, **fields):
    body = {"input": "q", "stream": True, **fields}
    return events(server.call("POST", "/v1/responses", json=body).text)


def test_a_response_shows_it_as_text(make, events) -> None:
    told = responded(
        events, serve(make, TEXT, 3), text={"format": {"type": "json_schema", "name": "n", "schema": STRICT}}
    )
    deltas = [data["delta"] for name, data in told if name == "response.output_text.delta"]
    assert deltas == ['{"a": 3', GIVEN[7:-1], "}"]
    assert [data["sequence_number"] for _, data in told] == list(range(len(told)))
    assert told[-1][1]["response"]["output"][0]["content"][0]["text"] == GIVEN


def test_a_response_shows_arguments_and_ends_with_a_refusal(make, events) -> None:
    tool = {"type": "function", "name": "save", "parameters": STRICT}
    forced = {"tools": [tool], "tool_choice": {"type": "function", "name": "save"}}
    told = responded(events, serve(make, TEXT, 3), **forced)
    deltas = [data["delta"] for name, data in told if name == "response.function_call_arguments.delta"]
    assert "".join(deltas) == GIVEN == told[-1][1]["response"]["output"][0]["arguments"]
    told = responded(events, serve(make, TEXT[:16], 3, finish_reason="length"), **forced)
    call, refusal = told[-1][1]["response"]["output"]
    assert (call["status"], call["arguments"]) == ("incomplete", '{"a": 3')
    assert refusal["content"][0]["refusal"].startswith("I abstain")
