"""Whatever is sent, the reply is a 4xx in the one error shape that names the field, and other requests do not notice."""

import json
from typing import Any

import httpx
import pytest

from demur.engine.base import EngineError, EngineOverloaded
from demur.engine.scripted import Script, ScriptedEngine

JSON = {"content-type": "application/json"}
PATHS = ["/v1/answers", "/v1/chat/completions"]


def error_of(response: httpx.Response) -> dict[str, Any]:
    """The error in the one shape."""
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"type", "code", "message", "param", "request_id"}
    assert body["error"]["request_id"] == response.headers["x-request-id"]
    assert body["error"]["message"]
    return body["error"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"7",
        b'"question"',
        b"\xff\xfe{}",
        b'{"question": "\x00"',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"question": ' + b"9" * 5000 + b"}",
        b'{"seed": ' + b"9" * 5000 + b"}",
    ],
    ids=["empty", "open", "null", "number", "string", "utf-16", "cut", "deep list", "deep object", "long", "seed"],
)
def test_bodies_that_are_no_request(make, path, body) -> None:
    response = make().call("POST", path, content=body, headers=JSON)
    assert response.status_code == 400
    assert error_of(response)["type"] == ("invalid_request_error" if "chat" in path else "invalid_request")


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/json; x"])
def test_other_content_types(make, kind) -> None:
    headers = {} if kind is None else {"content-type": kind}
    response = make().call("POST", "/v1/answers", content=b'{"question": "q"}', headers=headers)
    if kind and kind.startswith("application/json"):
        assert response.status_code == 200
    else:
        assert response.status_code == 400
        assert "application/json" in error_of(response)["message"]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"risk_threshold": float("nan")}, "risk_threshold"),
        ({"temperature": float("inf")}, "temperature"),
        ({"temperature": "0"}, "temperature"),
        ({"max_tokens": True}, "max_tokens"),
        ({"max_tokens": 10**30}, "max_tokens"),
        ({"timeout": 601}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"samples": 65}, "samples"),
        ({"seed": -(2**63) - 1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"top_k": -2}, "top_k"),
        ({"frequency_penalty": 2.5}, "frequency_penalty"),
        ({"logit_bias": {"five": 1}}, "logit_bias.five.[key]"),
        ({"logit_bias": {"5": 101}}, "logit_bias.5"),
        ({"chat_template_kwargs": {"a": []}}, "chat_template_kwargs.a"),
        ({"include_token_values": True}, "include_token_values"),
        ({"contract": "response", "aggregation": "min"}, "aggregation"),
        ({"contract": ["claims"]}, "contract"),
        ({"contract": {}}, "contract"),
        ({"stream": 1}, "stream"),
        ({"Question": "q"}, "Question"),
        ({"question": "q" * 32_001}, "question"),
        ({"question": "half a pair \ud800"}, "question"),
        ({"model": "half a pair \ud800"}, "model"),
        ({"half a pair \ud800": 1}, None),
    ],
)
def test_fields_that_cannot_be(make, fields, param) -> None:
    body = json.dumps({"question": "q", **fields})
    response = make().call("POST", "/v1/answers", content=body, headers=JSON)
    assert response.status_code == (404 if param == "model" else 400)
    assert error_of(response)["param"] == param


def test_a_misspelt_field_is_told_its_name(make) -> None:
    assert "'risk_threshold'" in error_of(make().ask(risk_treshold=0.9))["message"]


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ({"role": "robot", "content": "x"}, "messages[0].role"),
        ({"role": "tool"}, "messages[0].content"),
        ({"role": "assistant", "content": None}, "messages"),
        ({"role": "user", "content": None}, "messages[0].content"),
        ({"role": "user", "content": []}, "messages[0].content"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}, "messages[0].content"),
        ({"role": "user", "content": [{"type": "text", "text": 7}]}, "messages[0].content"),
        ({"role": "user", "content": "   "}, "messages"),
        ({"role": "user", "content": "x" * 32_001}, "messages"),
        ({"role": "system", "content": "x"}, "messages"),
        ({"role": "user", "content": "x", "tool_calls": [1]}, "messages[0].tool_calls[0]"),
        ("x", "messages[0]"),
    ],
)
@pytest.mark.parametrize("path", PATHS)
def test_messages_that_cannot_be(make, path, message, param) -> None:
    response = make().call("POST", path, json={"messages": [message]})
    assert response.status_code == 400
    assert error_of(response)["param"] == param


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"question": "q"}, "question"),
        ({"n": 0}, "n"),
        ({"n": 65}, "n"),
        ({"stop": ["x"] * 17}, "stop"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"response_format": {"type": "grammar"}}, "response_format"),
        ({"abstain_as": "silence"}, "abstain_as"),
        ({"frequency_penalty": False}, "frequency_penalty"),
        ({"stream_options": {"include_usge": True}}, "stream_options.include_usge"),
        ({"best_of": 3}, "best_of"),
    ],
)
def test_chat_fields_that_cannot_be_honoured(make, fields, param) -> None:
    response = make().chat(**fields)
    assert response.status_code == 400
    assert error_of(response)["param"] == param


def test_openai_fields_that_ask_for_nothing_are_taken(make) -> None:
    neutral = {
        "frequency_penalty": 0,
        "presence_penalty": 0.0,
        "logit_bias": {},
        "logprobs": False,
        "stop": None,
        "tools": [],
        "tool_choice": "auto",
        "response_format": {"type": "text"},
        "user": "someone",
        "metadata": {"a": "b"},
        "store": False,
        "temperature": None,
        "seed": None,
        "n": None,
        "stream": None,
        "parallel_tool_calls": True,
        "service_tier": "auto",
    }
    assert make().chat(**neutral).status_code == 200


def test_a_prompt_longer_than_the_model_names_the_field(make) -> None:
    server = make(ScriptedEngine(max_model_len=100))
    response = server.ask("word " * 100)
    assert (response.status_code, error_of(response)["param"]) == (400, "question")
    response = server.chat("word " * 100)
    assert (response.status_code, error_of(response)["param"]) == (400, "messages")


class Refusing(ScriptedEngine):
    """An engine whose model's chat template takes no conversation at all."""

    async def prepare(self, messages):
        raise EngineError("the model's template refuses these messages")


def test_messages_that_the_models_template_refuses_name_the_field(make) -> None:
    response = make(Refusing()).chat()
    assert (response.status_code, error_of(response)["param"]) == (400, "messages")
    assert "template" in error_of(response)["message"]


def test_max_tokens_may_fill_what_the_prompt_leaves(make) -> None:
    server = make(ScriptedEngine(max_model_len=200))
    room = 200 - server.ask().json()["usage"]["prompt_tokens"]
    assert "demur-notice" not in server.ask(max_tokens=room).headers
    for cut in (
        server.ask(max_tokens=room + 1),
        server.ask(max_tokens=4096, stream=True),
        server.chat(max_tokens=4096),
    ):
        assert cut.headers["demur-notice"] == f"max_tokens={room}; the prompt leaves no room for more"
    assert {drawn.sampling.max_tokens for drawn in server.engine.drawn} == {room}


def test_default_max_tokens_are_cut_to_what_fits(make) -> None:
    server = make(ScriptedEngine(max_model_len=100))
    used = server.ask().json()["usage"]["prompt_tokens"]
    assert server.engine.drawn[0].sampling.max_tokens == 100 - used


@pytest.mark.parametrize("path", PATHS)
def test_a_declared_length_over_the_limit_is_refused_unread(make, path) -> None:
    async def never_read():
        raise AssertionError("the body was read")
        yield b""

    headers = JSON | {"content-length": str(50_000_000)}
    response = make().call("POST", path, content=never_read(), headers=headers)
    assert response.status_code == 413
    assert error_of(response)["type"].startswith("invalid_request")


def test_50_mb_are_refused_by_a_real_server(run) -> None:
    server = run()
    padding = b" " * 1_000_000
    whole = httpx.post(f"{server.url}/v1/answers", content=padding * 50, headers=JSON)
    assert whole.status_code == 413
    in_pieces = httpx.post(f"{server.url}/v1/answers", content=(padding for _ in range(50)), headers=JSON)
    assert in_pieces.status_code == 413
    assert error_of(in_pieces)["param"] is None
    assert httpx.post(f"{server.url}/v1/answers", json={"question": "still there?"}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("POST", "/v1/answers/7", 404, "not_found"),
        ("GET", "/v1/answers", 405, "method_not_allowed"),
        ("DELETE", "/v1/chat/completions", 405, "invalid_request_error"),
        ("POST", "/health", 405, "method_not_allowed"),
        ("GET", "/v1/models/other/name", 404, "not_found"),
        ("BREW", "/v1/answers", 405, "method_not_allowed"),
        ("GET", "/..%2f..%2fetc/passwd", 404, "not_found"),
    ],
)
def test_paths_and_methods_that_are_not_there(make, method, path, status, kind) -> None:
    response = make().call(method, path)
    assert response.status_code == status
    assert error_of(response)["type"] == kind
    if status == 405:
        assert response.headers["allow"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [(EngineOverloaded("secret words", 3), 429, "rate_limited"), (EngineError("secret words"), 502, "engine_error")],
)
def test_what_fails_before_the_first_event_is_an_ordinary_error(make, error, status, kind, stream) -> None:
    server = make(ScriptedEngine({"": Script(["x"], error=error)}))
    for response in (server.ask(stream=stream), server.chat(stream=stream)):
        assert response.status_code == status
        openai_kind = "rate_limit_error" if status == 429 else "server_error"
        assert error_of(response)["type"] in (kind, openai_kind)
        assert "secret" not in response.text
        assert response.headers.get("retry-after") == ("3" if status == 429 else None)


def test_a_bug_is_a_500_in_the_same_shape(make) -> None:
    def broken(messages):
        raise RuntimeError("secret words")

    server = make(ScriptedEngine(broken))
    for response in (server.ask(), server.ask(stream=True), server.chat()):
        assert response.status_code == 500
        assert error_of(response)["type"] == "server_error"
        assert "secret" not in response.text


@pytest.mark.parametrize(
    ("offered", "kept"), [("job-7.a_B", True), ("x" * 64, True), ("x" * 65, False), ("a b", False), ("ä", False)]
)
def test_a_short_and_safe_request_id_is_kept(make, offered, kept) -> None:
    response = make().call("GET", "/health", headers={"x-request-id": offered.encode()})
    assert (response.headers["x-request-id"] == offered) is kept
    assert response.headers["x-request-id"]
