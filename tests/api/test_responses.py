"""OpenAI's own client against `/v1/responses`."""

import json
from collections.abc import Iterator

import openai
import pytest
from pydantic import BaseModel

from demur.engine.scripted import Script, ScriptedEngine

RESPONSE = "Two and two.\nAnswer: 4\nConfidence: 0.9"
SENTENCE = "I abstain: the confidence is 0.90, below your risk threshold of 0.95."


class Sum(BaseModel):
    a: int
    total: int


@pytest.fixture
def server(run):
    return run(ScriptedEngine({"q": RESPONSE, "json": '{"a":[2,95],"total":[4,40]}'}))


@pytest.fixture
def client(server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0) as client:
        yield client


def test_text(client, server) -> None:
    found = client.responses.create(model="demur-test", input="q", instructions="Be brief.", max_output_tokens=50)
    assert (found.output_text, found.status) == ("Two and two.\n\nAnswer: 4", "completed")
    assert found.demur["confidence"] == 0.9
    assert found.usage.total_tokens == found.usage.input_tokens + found.usage.output_tokens > 0
    drawn = server.engine.drawn[0]
    assert drawn.messages[0] == {"role": "system", "content": "Be brief."}
    assert drawn.sampling.max_tokens == 50


@pytest.mark.parametrize(("how", "kind"), [("content", "output_text"), ("refusal", "refusal")])
@pytest.mark.parametrize("stream", [False, True])
def test_an_abstention(client, how, kind, stream) -> None:
    extra = {"risk_threshold": 0.95, "abstain_as": how}
    if stream:
        with client.responses.stream(model="demur-test", input="q", extra_body=extra) as events:
            assert any(event.type == f"response.{kind}.delta" for event in events)
            found = events.get_final_response()
    else:
        found = client.responses.create(model="demur-test", input="q", extra_body=extra)
    (part,) = found.output[0].content
    assert part.type == kind
    assert (part.text if how == "content" else part.refusal) == SENTENCE
    assert found.demur["decision"] == "abstain"


def test_an_abstention_as_an_error(client) -> None:
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        client.responses.create(
            model="m", input="q", extra_body={"model": None, "risk_threshold": 0.95, "abstain_as": "error"}
        )
    assert caught.value.code == "abstained"


def test_a_stream(client) -> None:
    events = list(client.responses.create(model="demur-test", input="q", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type for event in events[:4]] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == events[-1].response.output_text
    assert events[-1].type == "response.completed"


def test_structured_output(client) -> None:
    found = client.responses.parse(model="demur-test", input="json", text_format=Sum)
    assert found.output_parsed == Sum(a=2, total=4)
    assert [field["confidence"] for field in found.demur["fields"]] == [0.95, 0.4]


@pytest.mark.parametrize("stream", [False, True])
def test_a_forced_tool(client, stream) -> None:
    tool = {"type": "function", "name": "add", "parameters": Sum.model_json_schema(), "strict": True}
    asked = {
        "model": "demur-test",
        "input": "json",
        "tools": [tool],
        "tool_choice": {"type": "function", "name": "add"},
    }
    if stream:
        with client.responses.stream(**asked) as events:
            list(events)
            found = events.get_final_response()
    else:
        found = client.responses.create(**asked)
    (call,) = found.output
    assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "add", {"a": 2, "total": 4})


def test_a_conversation(client, server) -> None:
    first = client.responses.create(model="demur-test", input="q")
    history = [
        {"role": "user", "content": [{"type": "input_text", "text": "q"}]},
        *first.output,
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "seen"},
    ]
    client.responses.create(model="demur-test", input=history)
    messages = server.engine.drawn[-1].messages
    assert [message["role"] for message in messages] == ["user", "assistant", "assistant", "user"]
    assert messages[1]["content"] == "Two and two.\n\nAnswer: 4"
    assert messages[-1]["content"].endswith("Result of look:\nseen\n\nq")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"background": True}, "background"),
        ({"input": []}, "input"),
        ({"input": [{"type": "reasoning"}]}, "input"),
        ({"input": [{"role": "assistant", "content": "x"}]}, "input"),
        ({"text": {"format": {"type": "json_schema", "name": "n", "schema": {"not": {}}}}}, "text.format"),
        ({"tool_choice": "required"}, "tool_choice"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_requests_that_cannot_be(make, fields, param, stream) -> None:
    response = make().call("POST", "/v1/responses", json={"input": "q", "stream": stream, **fields})
    error = response.json()["error"]
    assert (response.status_code, error["param"], error["type"]) == (400, param, "invalid_request_error")


def test_an_output_that_was_cut(client) -> None:
    found = client.responses.create(model="demur-test", input="q", max_output_tokens=2)
    assert (found.status, found.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_an_error_in_the_middle_of_a_stream(run) -> None:
    server = run(ScriptedEngine({"q": Script([RESPONSE], delay=0.05)}), keep_alive=0.01)
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0) as client:
        stream = client.responses.create(model="demur-test", input="q", stream=True, extra_body={"timeout": 0.1})
        with pytest.raises(openai.APIError, match="no answer within"):
            list(stream)
