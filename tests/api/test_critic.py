"""The critic's value as the confidence, and its heat map: on both APIs, for one sample and for several."""

import json
import math

import pytest

from demur.engine.base import EngineDead, EngineError
from demur.engine.critic import CriticUnavailable
from demur.engine.scripted import END, Script, ScriptedEngine
from demur.engine.scripted_critic import ScriptedCritic

RESPONSE = "canary-reason two rows\nAnswer: canary-answer\nConfidence: 0.9"
CLAIMS = 'private\nSolution:\n<Confidence value=0.9 text="why">canary-step</Confidence>\nAnswer:canary-answer'
CRITIC = {"confidence_source": "critic"}


@pytest.fixture
def build(make):
    """build(outputs, values): a server whose critic goes by the words of `values`."""

    def server(outputs, values=None, *, scale="unit", finish_reason="stop", error=None, **settings):
        texts = [outputs] if isinstance(outputs, str) else outputs
        engine = ScriptedEngine(lambda messages: Script(texts, finish_reason=finish_reason))
        critic = ScriptedCritic(values, error=error)
        return make(engine, manifest={"critic": {"path": "critic", "scale": scale}}, critic=critic, **settings)

    return server


@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("value", "t", "decision"), [(0.7, 0.7, "answer"), (0.7, 0.71, "abstain"), (0.2, 0, "answer")])
def test_the_value_decides_and_the_stated_confidence_does_not(build, events, path, stream, value, t, decision) -> None:
    server = build(RESPONSE, {"canary-answer": value})
    asked = {"question": "q"} if path == "/v1/answers" else {"messages": [{"role": "user", "content": "q"}]}
    response = server.call("POST", path, json=asked | CRITIC | {"risk_threshold": t, "stream": stream})
    reply = reply_of(response.text, path, stream, events)
    assert (reply["decision"], reply["confidence"], reply["confidence_source"]) == (decision, value, "critic")
    assert reply["reason"] == (None if decision == "answer" else "below_threshold")
    assert ("canary" in response.text) == (decision == "answer")
    assert "token_values" not in reply


def reply_of(text, path, stream, events):
    if path == "/v1/answers":
        return events(text)[-1][1] if stream else json.loads(text)
    if not stream:
        return json.loads(text)["choices"][0]["demur"]
    chunks = [data for _, data in events(text.removesuffix("data: [DONE]\n\n"))]
    return next(chunk["choices"][0]["demur"] for chunk in chunks if chunk["choices"][0]["finish_reason"])


@pytest.mark.parametrize("finish_reason", ["stop", "length"])
def test_it_is_read_before_the_last_token_on_the_tokens_that_were_written(build, finish_reason) -> None:
    """The critic is shown all but the last token: the end token, or the one at which the output was cut off."""
    server = build(RESPONSE, {"canary-answer": 0.7, "Confidence:": 0.8, "0.9": 0.1}, finish_reason=finish_reason)
    reply = server.ask("How many eggs?", risk_threshold=0, **CRITIC).json()
    [seen] = server.critic.asked
    prompt = reply["usage"]["prompt_tokens"]
    written = server.engine.pieces(None, seen[prompt:])
    assert list(seen[:prompt]) == list(range(prompt))
    assert END not in seen[prompt:]
    assert "".join(written) == (RESPONSE if finish_reason == "stop" else RESPONSE.removesuffix(" 0.9"))
    assert reply["confidence"] == (0.1 if finish_reason == "stop" else 0.8)


@pytest.mark.parametrize(
    ("scale", "value", "confidence"),
    [("signed", 0.5, 0.75), ("signed", -3.0, 0.0), ("unit", 1.4, 1.0), ("unit", -1, 0.0)],
)
def test_it_is_scaled_as_the_manifest_says_and_clipped(build, scale, value, confidence) -> None:
    assert build(RESPONSE, {"Answer:": value}, scale=scale).ask(**CRITIC).json()["confidence"] == confidence


def test_a_value_that_is_no_number_is_no_confidence(build) -> None:
    server = build(RESPONSE, {"Answer:": math.nan})
    reply = server.ask(risk_threshold=0.01, **CRITIC).json()
    assert (reply["decision"], reply["reason"], reply["confidence"]) == ("abstain", "confidence_invalid", None)
    shown = server.ask(risk_threshold=0, include_token_values=True, **CRITIC).json()
    assert [one["value"] for one in shown["token_values"]][:4] == [0.5, 0.5, 0.5, None]


@pytest.mark.parametrize("output", ["Reasons only.", "Answer: 7"])
def test_an_output_without_answer_or_confidence_is_valued_too(build, output) -> None:
    reply = build(output, {"Answer:": 0.6}).ask(risk_threshold=0.5, **CRITIC).json()
    readable = output == "Answer: 7"
    assert reply["confidence"] == (0.6 if readable else 0.5)
    assert reply["reason"] == (None if readable else "answer_missing")


def test_claims_are_valued_as_a_whole_and_keep_their_own_confidences(build) -> None:
    server = build(CLAIMS, {"Answer:canary-answer": 0.4})
    asked = {"contract": "claims", "granularity": "response", "risk_threshold": 0.5}
    reply = server.ask(**asked, **CRITIC, stopping="decided", include_withheld=True).json()
    assert (reply["decision"], reply["confidence"], reply["aggregation"]) == ("abstain", 0.4, None)
    assert [claim["confidence"] for claim in reply["withheld"]["claims"]] == [0.9]
    assert server.ask(**asked).json()["aggregation"] == "min"


def test_a_hopeless_claim_does_not_stop_a_sample_that_the_critic_decides_on(build) -> None:
    server = build(CLAIMS.replace("0.9", "0.1"), {"Answer:canary-answer": 0.8})
    asked = {"contract": "claims", "granularity": "response", "stopping": "decided", "risk_threshold": 0.5}
    reply = server.ask(**asked, **CRITIC).json()
    assert (reply["confidence"], reply["usage"]["samples_aborted"]) == (0.8, 0)


VOTE = [
    f"Answer: {answer}\nConfidence: {stated}" for answer, stated in (("right", 0.1), ("wrong", 0.9), ("wrong", 0.8))
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("selection", "answer"), [("maxconf", "right"), ("majconf", "right"), ("majority", "wrong")])
def test_samples_vote_with_their_values(build, events, selection, answer, stream) -> None:
    server = build(VOTE, {"right": 0.9, "wrong": 0.2})
    response = server.ask(samples=3, selection=selection, risk_threshold=0, stream=stream, **CRITIC)
    reply = events(response.text)[-1][1] if stream else response.json()
    assert (reply["answer"], reply["confidence_source"]) == (answer, "critic")
    assert [(one["id"], one["confidence"]) for one in reply["samples"]["members"]] == [(0, 0.9), (1, 0.2), (2, 0.2)]
    assert len(server.critic.asked) == 3
    if stream:
        done = [data for name, data in events(response.text) if name == "sample"]
        assert sorted((one["id"], one["confidence"]) for one in done) == [(0, 0.9), (1, 0.2), (2, 0.2)]


def test_a_vote_that_the_values_settle_stops_the_rest(build) -> None:
    server = build([f"Answer: same\nConfidence: {i / 10}" for i in range(8)], {"same": 1.0})
    reply = server.ask(samples=8, selection="majority", stopping="decided", **CRITIC).json()
    assert reply["samples"]["stopped_by"] == "decided"
    assert reply["samples"]["drawn"] < 8
    assert server.engine.running == 0


@pytest.mark.parametrize("fields", [{}, CRITIC], ids=["verbalized", "critic"])
def test_token_values_show_the_expected_success_after_each_token(build, fields) -> None:
    server = build(RESPONSE, {"two": 0.6, "canary-answer": 0.8})
    reply = server.ask(include_token_values=True, risk_threshold=0.5, **fields).json()
    assert "".join(one["text"] for one in reply["token_values"]) == RESPONSE
    assert [(one["text"], one["value"]) for one in reply["token_values"]] == [
        ("canary-reason", 0.5),
        (" two", 0.6),
        (" rows", 0.6),
        ("\nAnswer:", 0.6),
        (" canary-answer", 0.8),
        ("\nConfidence:", 0.8),
        (" 0.9", 0.8),
        ("", None),
    ]
    assert reply["confidence"] == (0.8 if fields else 0.9)
    assert len(server.critic.asked) == 1
    chat = server.chat(include_token_values=True, risk_threshold=0.5, **fields).json()
    assert chat["choices"][0]["demur"]["token_values"] == reply["token_values"]


def test_of_several_samples_the_chosen_one_gets_its_token_values_shown(build) -> None:
    server = build(VOTE, {"right": 0.9, "wrong": 0.2})
    asked = {"samples": 3, "selection": "majority", "risk_threshold": 0, "include_token_values": True}
    for fields, passes in (({}, 1), (CRITIC, 3)):
        server.critic.asked.clear()
        reply = server.ask(**asked, **fields).json()
        text = "".join(one["text"] for one in reply["token_values"])
        assert (reply["answer"], text) == ("wrong", VOTE[1])
        assert len(server.critic.asked) == passes


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
@pytest.mark.parametrize(
    ("output", "fields", "values"),
    [
        (RESPONSE, {"risk_threshold": 0.95}, {}),
        (RESPONSE, {"risk_threshold": 0.9, **CRITIC}, {}),
        (RESPONSE, {"risk_threshold": 0.9, "samples": 3, **CRITIC}, {}),
        (RESPONSE, {"risk_threshold": 0.9, **CRITIC}, {"Answer:": math.nan}),
        (CLAIMS, {"contract": "claims", "granularity": "response", "risk_threshold": 0.95}, {}),
        ("canary-reason\nAnswer: <IDK>", {"contract": "explicit_risk"}, {}),
        ("canary-reason", {"risk_threshold": 0.3}, {}),
    ],
    ids=["stated", "critic", "vote", "no number", "claims", "idk", "no answer"],
)
def test_what_is_withheld_is_not_told_by_its_tokens_either(build, output, fields, values, path, stream) -> None:
    server = build(output, {"canary-reason": 0.123456, "private": 0.123456, "Confidence:": 0.4} | values)
    asked = {"question": "q"} if path == "/v1/answers" else {"messages": [{"role": "user", "content": "q"}]}
    body = asked | fields | {"include_token_values": True, "include_raw": True, "stream": stream}
    response = server.call("POST", path, json=body)
    assert response.status_code == 200
    assert '"abstain"' in response.text
    for secret in ("canary", "0.123456", '"token_values"'):
        assert secret not in response.text


def test_whoever_may_see_withheld_text_sees_its_token_values(build) -> None:
    server = build(RESPONSE, {"Answer:": 0.4})
    asked = {"risk_threshold": 0.9, "include_token_values": True, **CRITIC}
    reply = server.ask(**asked, include_withheld=True).json()
    assert reply["decision"] == "abstain"
    assert "".join(one["text"] for one in reply["token_values"]) == RESPONSE


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"contract": "claims", **CRITIC}, "confidence_source"),
        ({"contract": "claims", "granularity": "claims", **CRITIC}, "confidence_source"),
        ({"contract": "explicit_risk", **CRITIC}, "confidence_source"),
        ({"contract": "claims", "granularity": "response", "aggregation": "min", **CRITIC}, "aggregation"),
        ({"confidence_source": "oracle"}, "confidence_source"),
        ({"confidence_source": None}, "confidence_source"),
    ],
)
def test_what_a_critic_cannot_do_is_refused_by_name(build, fields, param) -> None:
    server = build(RESPONSE)
    for response in (server.ask(**fields), server.chat(**fields)):
        assert response.status_code == 400
        assert response.json()["error"]["param"] == param
    assert not server.engine.drawn


@pytest.mark.parametrize("fields", [CRITIC, {"include_token_values": True}], ids=["source", "values"])
def test_without_a_critic_it_is_a_mistake_of_the_caller(make, fields) -> None:
    described = make(manifest={"critic": {"path": "critic", "scale": "unit"}})  # switched off by the operator
    for server in (make(), described):
        for response in (server.ask(**fields), server.chat(**fields)):
            assert response.status_code == 400
            assert response.json()["error"]["param"] == next(iter(fields))
        assert not server.engine.drawn
        card = server.call("GET", "/v1/models").json()["data"][0]["demur"]
        assert "critic" not in card["confidence_sources"]


def test_the_model_list_says_that_there_is_a_critic(build) -> None:
    card = build(RESPONSE).call("GET", "/v1/models").json()["data"][0]["demur"]
    assert card["confidence_sources"][:2] == ["verbalized", "critic"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fields", [CRITIC, {"include_token_values": True}, {**CRITIC, "samples": 3}])
@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (CriticUnavailable("secret cause"), 503, "unavailable"),
        (EngineError("secret cause"), 502, "engine_error"),
        (EngineDead("secret cause"), 503, "unavailable"),
    ],
)
def test_a_critic_that_fails_fails_the_request(build, events, error, status, kind, fields, stream) -> None:
    server = build(RESPONSE, error=error)
    response = server.ask(**fields, stream=stream, risk_threshold=0.5)
    failed = events(response.text)[-1][1] if stream and response.status_code == 200 else response.json()["error"]
    assert failed["type"] == kind
    if not stream:
        assert response.status_code == status
    assert "canary" not in response.text
    assert "secret" not in response.text
    assert server.engine.running == 0


def test_the_rest_of_the_api_needs_no_critic_that_works(build) -> None:
    server = build(RESPONSE, error=CriticUnavailable("too large"))
    assert server.ask().json()["confidence"] == 0.9
    assert server.call("GET", "/ready").status_code == 200
