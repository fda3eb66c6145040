"""What is tried again, after how long, and what ends at once."""

import asyncio
import email.utils
import json
import random
import time
from pathlib import Path

import httpx
import pytest

from demur.evaluation.asking.answers_api import AnswersApi
from demur.evaluation.asking.base import BadReply, EvaluationRequest, Request, RequestId
from demur.evaluation.asking.chat import ChatApi, content_of
from demur.evaluation.asking.endpoint import Endpoint, GaveUp, connect
from demur.evaluation.errors import EndpointError, EvaluationError
from demur.evaluation.job import request_of
from demur.evaluation.run_config import RunConfig
from demur.evaluation.validation import check


def play(*responses, retries=6):
    """Post once to a host that gives these responses in turn; the outcome, and the pauses that were made."""
    waiting, pauses = list(responses), []

    def handler(request):
        return waiting.pop(0)

    async def pause(seconds):
        pauses.append(seconds)

    async def post():
        async with httpx.AsyncClient(transport=httpx.MockTransport(handler), base_url="http://host") as client:
            endpoint = Endpoint(client, retries, pause, random.Random(0))
            return await endpoint.post("/v1/chat/completions", {}, content_of)

    return asyncio.run(post()), pauses


GOOD = httpx.Response(200, json={"choices": [{"message": {"content": "hi"}}]})


def test_pauses_double_with_some_chance():
    reply, pauses = play(*[httpx.Response(500)] * 5, GOOD)
    assert reply.tries == 6
    for pause, longest in zip(pauses, (0.5, 1, 2, 4, 8), strict=True):
        assert longest / 2 <= pause <= longest


def test_retry_after_is_obeyed_in_seconds_and_as_a_date():
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    late = [httpx.Response(429, headers={"retry-after": value}) for value in ("7", "0.25", date, "soon", "99999")]
    _, pauses = play(*late, GOOD)
    assert pauses[:2] == [7, 0.25]
    assert 90 < pauses[2] <= 100
    assert pauses[3] <= 8
    assert pauses[4] == 600


def test_a_refused_request_is_not_repeated():
    with pytest.raises(GaveUp, match="status 422: too long"):
        play(httpx.Response(422, json={"error": {"message": "too long", "param": "question"}}))


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_would_meet_every_question_ends_the_run(status):
    with pytest.raises(EndpointError, match=f"http://host/v1/chat/completions answers {status}: no such model"):
        play(httpx.Response(status, json={"detail": "no such model"}))


def test_an_error_rate_that_cannot_be_promised_ends_the_run_and_another_conflict_is_tried_again():
    error = {"message": "no such promise; ask for 0.3 or more", "code": "guarantee_unavailable", "param": "max_error"}
    with pytest.raises(EndpointError, match="answers 409: no such promise"):
        play(httpx.Response(409, json={"error": error}))
    reply, pauses = play(httpx.Response(409, json={"error": {"message": "locked", "code": "conflict"}}), GOOD)
    assert (reply.tries, len(pauses)) == (2, 1)


def test_the_last_trouble_is_told():
    with pytest.raises(GaveUp, match=r"status 503: busy \(after 3 tries\)"):
        play(*[httpx.Response(503, text="busy")] * 3, retries=2)
    with pytest.raises(GaveUp, match="the reply is no JSON: '<html>"):
        play(httpx.Response(200, text="<html>"), retries=0)
    with pytest.raises(GaveUp, match="the reply is no chat completion"):
        play(httpx.Response(200, json={"choices": []}), retries=0)


def test_addresses_as_people_write_them():
    for address in ("http://host:8000", "http://host:8000/", "http://host:8000/v1", "http://host:8000/v1/"):
        assert str(connect(address, None, timeout=1, connections=1).base_url) == "http://host:8000"
    proxied = connect("https://host/proxy/v1", "key", timeout=1, connections=1)
    assert str(proxied.build_request("POST", "/v1/answers").url) == "https://host/proxy/v1/answers"
    assert proxied.headers["authorization"] == "Bearer key"


NO_CHOICE = Request({})


def chat_output(text, contract="response", **choice):
    body = {"choices": [{"message": {"content": text}, **choice}], "usage": {"completion_tokens": 4}}
    return ChatApi(NO_CHOICE, contract).output(body)


def test_chat_replies_are_read_as_the_server_reads_them():
    output = chat_output("So.\n**Answer:** 42\nConfidence: 85%", finish_reason="stop")
    assert (output.answer, output.confidence, output.state, output.tokens) == ("42", 0.85, "value", 4)
    cut = chat_output("So far so", finish_reason="length")
    assert (cut.answer, cut.confidence, cut.state, cut.truncated) == (None, None, "missing", True)
    assert chat_output("Answer: 42\nConfidence: high").state == "invalid"
    assert chat_output("Answer: <IDK>", "explicit_risk").idk
    claims = chat_output('Solution:\n<Confidence value=0.5 text="w">a</Confidence>\nAnswer:1', "claims")
    assert (claims.answer, claims.confidence, claims.claims[0].text) == ("1", 0.5, "a")
    assert chat_output(None).answer is None


def test_the_contract_is_in_the_prompt():
    ask = EvaluationRequest(RequestId("q", 0, 0.75), "Why?")
    body = ChatApi(Request({"model": "m", "temperature": 1.0, "max_tokens": 9, "seed": 3}), "explicit_risk").body(ask)
    assert "75 percent" in body["messages"][0]["content"]
    assert {key: body[key] for key in body if key != "messages"} == {
        "model": "m",
        "temperature": 1.0,
        "max_tokens": 9,
        "seed": 3,
    }


def test_a_bare_question_is_asked_without_a_contract_and_its_boxed_answer_read():
    ask = EvaluationRequest(RequestId("q", 0, None), "What is 3 + 4?")
    api = ChatApi(NO_CHOICE, bare=True)
    [turn] = api.body(ask)["messages"]
    assert turn["content"].startswith("What is 3 + 4?\n")
    assert "boxed" in turn["content"]
    assert "Confidence" not in turn["content"]
    output = api.output({"choices": [{"message": {"content": "3 + 4 = 7, so \\boxed{7}."}}]})
    assert (output.answer, output.state) == ("7", "missing")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"api": "answers"}, "--bare needs --api chat"),
        ({"contract": "claims"}, "leave out --contract"),
        ({"contract": "explicit_risk"}, "leave out --contract"),
        ({"selection": "majconf", "samples": 2}, "leave out --selection"),
    ],
)
def test_a_bare_question_has_no_contract(settings, message):
    config = RunConfig("questions", **{"api": "chat", "model": "m", "bare": True} | settings)
    with pytest.raises(EvaluationError, match=message):
        check(config, "maths")


def test_choosing_among_samples_is_left_to_the_server():
    config = RunConfig(
        "questions",
        contract="claims",
        granularity="claims",
        aggregation="product",
        confidence_source="critic",
        samples=8,
        selection="majconf",
    )
    assert AnswersApi(request_of(config)).body(EvaluationRequest(RequestId("q", 0, None), "Why?")) == {
        "question": "Why?",
        "risk_threshold": 0.0,
        "include_raw": True,
        "include_withheld": True,
        "include_conditions": True,
        "contract": "claims",
        "granularity": "response",
        "aggregation": "product",
        "confidence_source": "critic",
        "samples": 8,
        "selection": "majconf",
    }


def test_withheld_text_can_be_spared_and_nothing_else():
    api = AnswersApi(NO_CHOICE)
    less = api.without("include_withheld")
    assert less is not None
    assert "include_withheld" not in less.body(EvaluationRequest(RequestId("q", 0, None), "Why?"))
    assert less.without("include_withheld") is None
    assert api.without("risk_threshold") is None
    assert api.without(None) is None


def test_an_unreadable_confidence_in_the_chosen_group_is_told_from_a_missing_one():
    groups = [{"answer": "1", "members": [0, 1]}, {"answer": "2", "members": [2]}]
    members = [{"id": i, "group": group, "state": "missing"} for i, group in enumerate((0, 0, 1))]
    reply = {"decision": "answer", "answer": "1", "samples": {"groups": groups, "members": members}}
    for member, state in ((2, "missing"), (1, "invalid")):
        members[member]["state"] = "invalid"
        assert AnswersApi(NO_CHOICE).output(reply).state == state


@pytest.mark.parametrize("body", [None, [], {}, {"choices": []}, {"decision": "answer", "answer": "1", "claims": [{}]}])
def test_what_is_no_answer_object_is_said_so(body):
    with pytest.raises(BadReply):
        AnswersApi(NO_CHOICE).output(body)


VECTORS = Path(__file__).parent.parent / "vectors" / "replies"


@pytest.mark.parametrize("path", sorted(VECTORS.glob("*.json")), ids=lambda path: path.stem)
def test_wire_vectors(path):
    reply = json.loads(path.read_text(encoding="utf-8"))["reply"]
    output = AnswersApi(NO_CHOICE).output(reply)
    assert (output.answer, output.confidence) == (reply["answer"], reply["confidence"])
    assert (output.state == "value") == (reply["confidence"] is not None)
    assert output.idk == (reply["reason"] == "idk")
    claims = reply["claims"] or (reply["withheld"] or {}).get("claims") or []
    assert [(claim.text, claim.confidence) for claim in output.claims] == [
        (claim["text"], claim["confidence"]) for claim in claims
    ]
    assert all(output.text[slice(*claim.span)] == claim.text for claim in output.claims)
