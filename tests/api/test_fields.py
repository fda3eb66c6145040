"""Structured answers: JSON of the caller's schema, with a confidence for every value beside it."""

import json
from math import e

import pytest

from demur.engine.scripted import Script, ScriptedEngine

SUM = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": ["integer", "null"]}, "note": {"type": "string"}},
    "required": ["a", "b", "note"],
}
TEXT = '{"a":[3,95],"b":[4,30],"note":["ok",90]}'
GIVEN = {"a": 3, "b": 4, "note": "ok"}


@pytest.fixture
def server(make):
    return make(ScriptedEngine({"q": TEXT}))


def test_every_value_has_a_confidence(server) -> None:
    reply = server.ask("q", schema=SUM, risk_threshold=0.5).json()
    assert json.loads(reply["answer"]) == GIVEN
    assert (reply["contract"], reply["decision"], reply["confidence"]) == ("fields", "answer", 0.3)
    assert [(each["path"], each["value"], each["confidence"], each["decision"]) for each in reply["fields"]] == [
        ("/a", 3, 0.95, "assert"),
        ("/b", 4, 0.3, "highlight"),
        ("/note", "ok", 0.9, "assert"),
    ]
    assert reply["calibrated"] is False
    drawn = server.engine.drawn[0]
    assert '"required":["a","b","note"]' in drawn.messages[-1]["content"]
    assert drawn.sampling.json_schema["required"] == ["a", "b", "note"]
    assert drawn.sampling.constraint is None


def test_doubtful_values_can_be_emptied(server) -> None:
    reply = server.ask("q", schema=SUM, on_doubt="null", include_raw=True, samples=2).json()
    assert json.loads(reply["answer"]) == GIVEN | {"b": None}
    assert reply["confidence"] == 0.9
    assert reply["fields"][1]["value"] is None
    assert reply["fields"][1]["confidence"] == 0.3
    assert reply["raw"] is None
    assert [group["answer"] for group in reply["samples"]["groups"]] == [None]


def test_what_may_not_be_null_withholds_the_whole(server) -> None:
    reply = server.ask("q", schema=SUM, on_doubt="null", risk_threshold=0.92).json()
    assert (reply["decision"], reply["reason"], reply["answer"]) == ("abstain", "below_threshold", None)
    assert [each["value"] for each in reply["fields"]] == [None] * 3
    assert [each["decision"] for each in reply["fields"]] == ["assert", "highlight", "highlight"]


@pytest.mark.parametrize(("t", "decision"), [(0.25, "answer"), (0.35, "abstain")])
def test_the_aggregate_can_decide(server, t, decision) -> None:
    assert server.ask("q", schema=SUM, on_doubt="abstain", risk_threshold=t).json()["decision"] == decision
    product = server.ask("q", schema=SUM, on_doubt="abstain", risk_threshold=0.26, aggregation="product").json()
    assert product["decision"] == "abstain"


def test_several_samples_agree_field_by_field(make) -> None:
    server = make(ScriptedEngine({"q": [TEXT, TEXT.replace("[4,", "[5,"), TEXT, TEXT]}))
    reply = server.ask("q", schema=SUM, samples=4).json()
    assert json.loads(reply["answer"]) == GIVEN
    assert [each["agreement"] for each in reply["fields"]] == [1.0, 0.75, 1.0]


@pytest.mark.parametrize(
    "script",
    [
        Script(['{"a":[3,'], finish_reason="length"),
        Script(['{"a":[3,95],"b":["four",30],"note":["ok",90]}']),
        "no JSON",
    ],
)
def test_what_does_not_fit_is_no_answer(make, script) -> None:
    reply = make(ScriptedEngine({"q": script})).ask("q", schema=SUM, risk_threshold=0).json()
    cut = isinstance(script, Script) and script.finish_reason == "length"
    assert (reply["decision"], reply["reason"]) == ("abstain", "truncated" if cut else "answer_missing")
    assert reply["fields"] == []


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"schema": {"type": "array", "uniqueItems": True}}, "schema"),
        ({"schema": None}, "schema"),
        ({"schema": [1]}, "schema"),
        ({"schema": SUM, "contract": "response"}, "contract"),
        ({"schema": SUM, "granularity": "claims"}, "granularity"),
        ({"contract": "fields"}, "schema"),
        ({"on_doubt": "null"}, "on_doubt"),
        ({"explain_fields": True}, "explain_fields"),
    ],
)
def test_requests_that_cannot_be(server, fields, param) -> None:
    response = server.ask("q", **fields)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


def test_who_may_only_see_what_is_sure_sees_no_doubtful_field(make) -> None:
    server = make(ScriptedEngine({"q": TEXT}), min_risk_threshold=0.8)
    assert server.ask("q", schema=SUM, on_doubt="keep").status_code == 403
    assert server.ask("q", schema=SUM).json()["decision"] == "abstain"
    reply = server.ask("q", schema=SUM, on_doubt="null")
    assert json.loads(reply.json()["answer"]) == GIVEN | {"b": None}
    assert "4" not in json.dumps(reply.json()["fields"])


def test_a_stream_ends_with_the_same(server, events) -> None:
    name, reply = events(server.ask("q", schema=SUM, stream=True).text)[-1]
    assert name == "answer"
    assert json.loads(reply["answer"]) == GIVEN


def test_a_schema_counts_as_part_of_the_question(make) -> None:
    response = make(max_question_chars=50).ask("q", schema=SUM)
    assert (response.status_code, response.json()["error"]["param"]) == (400, "question")


JSON_SCHEMA = {"type": "json_schema", "json_schema": {"name": "sum", "schema": SUM, "strict": True}}
TOOLS = [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": SUM}}]


def test_response_format(server) -> None:
    choice = server.chat("q", response_format=JSON_SCHEMA).json()["choices"][0]
    assert json.loads(choice["message"]["content"]) == GIVEN
    assert choice["demur"]["fields"][1]["path"] == "/b"


def test_any_object(make) -> None:
    server = make(ScriptedEngine({"q": '{"x":["y",80],"z":{"n":[[1,70]]}}'}))
    choice = server.chat("q", response_format={"type": "json_object"}).json()["choices"][0]
    assert json.loads(choice["message"]["content"]) == {"x": "y", "z": {"n": [1]}}


@pytest.mark.parametrize(
    ("choice", "ending"), [({"type": "function", "function": {"name": "add"}}, "stop"), ("required", "tool_calls")]
)
def test_a_forced_tool(server, choice, ending) -> None:
    found = server.chat("q", tools=TOOLS, tool_choice=choice).json()["choices"][0]
    (call,) = found["message"]["tool_calls"]
    assert found["message"]["content"] is None
    assert (found["finish_reason"], call["function"]["name"]) == (ending, "add")
    assert json.loads(call["function"]["arguments"]) == GIVEN
    assert '"description":"Adds."' in server.engine.drawn[0].messages[-1]["content"]


def test_a_structured_abstention_is_a_refusal_that_names_the_field(server) -> None:
    message = server.chat("q", response_format=JSON_SCHEMA, on_doubt="abstain").json()["choices"][0]["message"]
    assert message["content"] is None
    assert message["refusal"] == "I abstain: the confidence of /b (0.30) is below your risk threshold of 0.5."


def logprobs(server, **fields):
    return [each["signals"] for each in server.ask("q", schema=SUM, **fields).json()["fields"]]


def test_the_likelihood_of_each_value_is_that_of_its_own_tokens(make) -> None:
    text = '{"a": [ 3 , 95], "b": [ 4 , 30], "note": [ "fine" , 90]}'
    script = Script([text], logprobs={"3": -1.0, "4": -0.5, '"fine"': -2.0})
    server = make(ScriptedEngine({"q": script}))
    found = logprobs(server, include_signals=["answer_logprob", "verbalized"])
    assert [each["answer_logprob"]["value"] for each in found] == pytest.approx([e**-1.0, e**-0.5, e**-2.0])
    assert [list(each) for each in found] == [["answer_logprob"]] * 3
    whole = server.ask("q", schema=SUM, include_signals=["answer_logprob"]).json()["signals"]["answer_logprob"]
    assert whole["value"] == pytest.approx(e ** (-3.5 / 3))


def test_signals_that_fields_cannot_have_say_why(make) -> None:
    server = make(ScriptedEngine({"q": Script([TEXT], logprobs=None)}))
    found = logprobs(server, include_signals=["answer_logprob", "agreement"])
    assert {signal["value"] for each in found for signal in each.values()} == {None}
    assert found[0]["agreement"]["missing"] == "only one sample was drawn"
    assert found[0]["answer_logprob"]["missing"] == "the model's host told no log-probabilities"


def test_agreement_of_each_value_is_of_the_other_samples(make) -> None:
    server = make(ScriptedEngine({"q": [TEXT, TEXT.replace("[4,", "[5,"), TEXT, TEXT, "no JSON"]}))
    found = logprobs(server, samples=5, include_signals=["agreement"])
    assert [each["agreement"]["value"] for each in found] == [0.75, 0.5, 0.75]


def test_signals_of_what_is_not_given_are_withheld(server) -> None:
    asked = {"include_signals": ["answer_logprob"], "on_doubt": "null"}
    shown, emptied, _ = (each["answer_logprob"] for each in logprobs(server, **asked))
    assert shown["value"] is not None
    assert (emptied["value"], emptied["missing"]) == (None, "withheld with the answer")
    assert logprobs(server, **asked, risk_threshold=0.99)[0]["answer_logprob"]["value"] is None
    assert logprobs(server, **asked, include_withheld=True)[1]["answer_logprob"]["value"] is not None
