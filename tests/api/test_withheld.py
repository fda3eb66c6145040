"""What is withheld reaches no reply, event, header, metric or log line."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from demur.engine.base import EngineError
from demur.engine.scripted import Script, ScriptedEngine
from demur.observability.logs import JsonFormatter, TextFormatter

QUESTION, ANSWER, TEXT, WHY = "canary-question", "canary-answer", "canary-text", "canary-why"
RESPONSE = f"{TEXT} one\n{TEXT} two\nAnswer: {ANSWER}\nConfidence: 0.4"
CLAIMS = f'{TEXT}\nSolution:\n<Confidence value=0.4 text="{WHY}">{TEXT} step</Confidence>\nAnswer:{ANSWER}'
NO_ANSWER = f"{TEXT} one\nConfidence: 0.9"
IDK = f"{TEXT} reasons\nAnswer: <IDK>"


@pytest.fixture(params=[JsonFormatter, TextFormatter])
def log(request) -> Iterator[io.StringIO]:
    """Everything that is logged, down to debug, in either form."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(request.param())
    handler.addFilter(lambda record: record.name != "httpx")  # the client of these tests, which logs addresses
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.DEBUG)
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)
    root.setLevel(before)


def scripted(output: str) -> ScriptedEngine:
    return ScriptedEngine(lambda messages: output, chunker=list)


def everything(server, log: io.StringIO, response) -> str:
    """All that leaves the server: the reply, its headers, the metrics, the log."""
    metrics = server.call("GET", "/metrics").text
    return "\n".join([response.text, repr(response.headers.raw), metrics, log.getvalue()])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize(
    ("output", "fields"),
    [
        (RESPONSE, {"risk_threshold": 0.9}),
        (RESPONSE.replace("0.4", "high"), {"risk_threshold": 0.1}),
        (CLAIMS, {"contract": "claims", "granularity": "response", "risk_threshold": 0.9}),
        (CLAIMS.replace("0.4", "x"), {"contract": "claims", "granularity": "response", "risk_threshold": 0.1}),
        (IDK, {"contract": "explicit_risk", "risk_threshold": 0}),
        (IDK, {"contract": "explicit_risk", "risk_threshold": 0.9}),
    ],
    ids=["below", "invalid", "claims below", "claims invalid", "idk at 0", "idk"],
)
def test_an_abstention_shows_nothing(make, log, output, fields, path, stream, raw) -> None:
    server = make(scripted(output))
    body = {"question": QUESTION} if path == "/v1/answers" else {"messages": [{"role": "user", "content": QUESTION}]}
    response = server.call("POST", path, json=body | fields | {"stream": stream, "include_raw": raw})
    assert response.status_code == 200
    assert '"abstain"' in response.text
    said = everything(server, log, response)
    assert response.headers["x-request-id"] in log.getvalue()
    for secret in (ANSWER, TEXT, WHY):
        assert secret not in said
    assert QUESTION not in log.getvalue()


def test_an_answer_is_in_no_log_either(make, log) -> None:
    server = make(scripted(RESPONSE))
    assert ANSWER in server.ask(QUESTION, risk_threshold=0.1).text
    assert ANSWER in server.ask(QUESTION, risk_threshold=0.1, stream=True).text
    for secret in (QUESTION, ANSWER, TEXT):
        assert secret not in log.getvalue()


@pytest.mark.parametrize("stream", [False, True])
def test_failures_quote_nothing_in_the_log(make, log, stream) -> None:
    server = make(ScriptedEngine({"q": Script([RESPONSE], error=EngineError(f"{QUESTION} {TEXT}"), error_after=2)}))
    server.ask("q", stream=stream)

    def broken(messages):
        raise KeyError(messages[-1]["content"])

    make(ScriptedEngine(broken)).ask(QUESTION, stream=stream)
    assert "KeyError" in log.getvalue()
    for secret in (QUESTION, TEXT):
        assert secret not in log.getvalue()


def test_wrong_requests_quote_nothing_in_the_log(make, log) -> None:
    server = make()
    server.ask(QUESTION, contract=TEXT)
    server.ask(QUESTION, **{TEXT: 1})
    server.call("GET", f"/{TEXT}?q={TEXT}", headers={"x-request-id": f"{TEXT} {TEXT}"})
    server.call("POST", "/v1/answers", content=TEXT, headers={"content-type": "application/json"})
    assert len(log.getvalue().splitlines()) >= 4
    for secret in (QUESTION, TEXT):
        assert secret not in log.getvalue()
        assert secret not in server.call("GET", "/metrics").text


@pytest.mark.parametrize("stream", [False, True])
def test_withheld_text_is_shown_when_asked_for_and_allowed(make, events, stream) -> None:
    server = make(scripted(RESPONSE), allow_withheld=True)
    response = server.ask(risk_threshold=0.9, include_withheld=True, include_raw=True, stream=stream)
    reply = events(response.text)[-1][1] if stream else response.json()
    assert (reply["decision"], reply["answer"], reply["text"]) == ("abstain", None, None)
    assert reply["withheld"] == {"answer": ANSWER, "text": f"{TEXT} one\n{TEXT} two", "claims": None}
    assert reply["raw"] == RESPONSE
    if stream:
        shown = "".join(data["text"] for name, data in events(response.text) if name == "delta")
        assert shown == reply["withheld"]["text"]


def test_nothing_is_withheld_from_an_answer(make) -> None:
    reply = make(scripted(RESPONSE)).ask(risk_threshold=0.1, include_withheld=True).json()
    assert (reply["decision"], reply["withheld"]) == ("answer", None)


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({}, 200),
        ({"host": "::1"}, 200),
        ({"host": "localhost"}, 200),
        ({"host": "0.0.0.0"}, 403),
        ({"host": "answers.example.org"}, 403),
        ({"host": "0.0.0.0", "allow_withheld": True}, 200),
        ({"allow_withheld": False}, 403),
    ],
)
def test_who_may_see_withheld_text(make, settings, status) -> None:
    response = make(**settings).ask(include_withheld=True)
    assert response.status_code == status
    if status == 403:
        assert response.json()["error"]["param"] == "include_withheld"


@pytest.mark.parametrize("log", [JsonFormatter], indirect=True)
def test_a_log_line_is_one_json_object(make, log) -> None:
    server = make(scripted(RESPONSE))
    response = server.ask(risk_threshold=0.9)
    line = [json.loads(text) for text in log.getvalue().splitlines() if '"demur"' in text][-1]
    assert line["request_id"] == response.headers["x-request-id"]
    assert (line["status"], line["endpoint"]) == (200, "/v1/answers")
    assert (line["answers"][0]["decision"], line["answers"][0]["confidence"]) == ("abstain", 0.4)
    assert line["answers"][0]["id"] == response.json()["id"]
