"""What OpenAI's clients send by habit: passed on, taken without effect, or refused in OpenAI's own words."""

import json

import pytest

from demur.api_keys import make_key
from demur.engine.scripted import Script, ScriptedEngine
from demur.settings import Settings

RESPONSE = "First line.\nSecond line.\nAnswer: 4\nConfidence: 0.4"


@pytest.fixture
def server(make):
    return make(ScriptedEngine({"q": RESPONSE}))


def message(server, **fields):
    return server.chat("q", **fields).json()["choices"][0]["message"]


def test_what_shapes_the_output_reaches_the_engine(server) -> None:
    asked = {"frequency_penalty": 0.5, "presence_penalty": -1, "repetition_penalty": 1.1, "min_p": 0.05, "top_k": 20}
    server.chat("q", **asked, logit_bias={"17": -100}, seed=-1, chat_template_kwargs={"enable_thinking": False})
    sampling = server.engine.drawn[0].sampling
    assert sampling.shaping.changed() == asked | {"logit_bias": {17: -100}}
    assert sampling.seed == 2**63 - 1
    server.chat("q", top_k=-1, seed=2**64 - 1, n=2)
    assert server.engine.drawn[1].sampling.shaping.changed() == {}
    assert sorted(drawn.sampling.seed for drawn in list(server.engine.drawn)[1:]) == [0, 2**63 - 1]


def test_what_cannot_change_an_answer_is_taken(server) -> None:
    harmless = {
        "reasoning_effort": "high",
        "verbosity": "low",
        "store": True,
        "service_tier": "flex",
        "stream_options": {"include_obfuscation": False},
        "ignore_eos": True,
        "skip_special_tokens": True,
        "priority": 3,
        "request_id": "r-1",
        "metadata": {"a": "b"},
        "user": "u",
        "model": None,
    }
    plain, with_all = server.chat("q").json(), server.chat("q", **harmless).json()
    assert with_all["choices"][0]["message"] == plain["choices"][0]["message"]


def test_the_newer_name_of_max_tokens_holds(server) -> None:
    server.chat("q", max_tokens=5, max_completion_tokens=6)
    asked = {"input": "q", "max_tokens": 5, "max_output_tokens": 7}
    server.call("POST", "/v1/responses", json=asked)
    assert [drawn.sampling.max_tokens for drawn in server.engine.drawn] == [6, 7]


def test_a_whole_number_may_have_a_point(server) -> None:
    server.call(
        "POST",
        "/v1/answers",
        content=b'{"question": "q", "max_tokens": 6.0, "seed": 3.0, "top_k": 20.0}',
        headers={"content-type": "application/json"},
    )
    sampling = server.engine.drawn[0].sampling
    assert (sampling.max_tokens, sampling.seed, sampling.shaping.top_k) == (6, 3, 20)
    assert server.ask("q", max_tokens=6.5).json()["error"]["param"] == "max_tokens"
    assert server.ask("q", max_tokens=True).json()["error"]["param"] == "max_tokens"


@pytest.mark.parametrize(
    ("stop", "text"),
    [("Second", "First line."), (["zzz", "line"], "First"), ("Answer", "First line.\nSecond line."), ("4", None)],
)
def test_stop_cuts_the_text_and_never_the_answer(server, stop, text) -> None:
    found = message(server, stop=stop, risk_threshold=0)["content"]
    assert found == f"{text or 'First line.' + chr(10) + 'Second line.'}\n\nAnswer: 4"


@pytest.mark.parametrize("stream", [False, True])
def test_logprobs_of_the_visible_text(make, stream) -> None:
    script = Script([RESPONSE], logprobs={"First": -0.5, "Second": float("-inf")})
    server = make(ScriptedEngine({"q": script}))
    asked = {"logprobs": True, "top_logprobs": 2, "risk_threshold": 0}
    if stream:
        chunks = [json.loads(line[6:]) for line in server.chat("q", stream=True, **asked).text.split("\n\n")[:-2]]
        (told,) = [choice["logprobs"] for chunk in chunks for choice in chunk["choices"] if choice["logprobs"]]
    else:
        told = server.chat("q", **asked).json()["choices"][0]["logprobs"]
    assert "".join(token["token"] for token in told["content"]) == "First line.\nSecond line."
    assert [token["logprob"] for token in told["content"]] == [-0.5, -0.125, -9999.0, -0.125]
    assert bytes(told["content"][0]["bytes"]) == b"First"
    assert server.engine.drawn[0].sampling.logprobs == 2


def test_no_logprobs_where_nothing_is_shown(server) -> None:
    abstained = server.chat("q", logprobs=True).json()["choices"][0]
    assert (abstained["demur"]["decision"], abstained["logprobs"]) == ("abstain", None)
    assert server.chat("q", top_logprobs=2, risk_threshold=0).json()["choices"][0]["logprobs"] is None
    claims = server.chat("q", logprobs=True, contract="claims", risk_threshold=0).json()["choices"][0]
    assert claims["logprobs"] is None
    assert [drawn.sampling.logprobs for drawn in server.engine.drawn] == [0, None, 0]


def test_tools_are_left_alone_unless_one_is_forced(server) -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    response = server.chat("q", tools=tools, risk_threshold=0)
    assert response.json()["choices"][0]["message"]["content"].endswith("Answer: 4")
    assert response.headers["demur-notice"] == "no tool is called unless tool_choice forces one"


def test_a_history_with_tools(server) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}}
    history = [
        {"role": "system", "content": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]},
        {"role": "user", "content": "How cold is it, q?"},
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "hm"},
        {"role": "tool", "tool_call_id": "call_1", "content": "-3"},
    ]
    response = server.call("POST", "/v1/chat/completions", json={"messages": history})
    assert response.status_code == 200
    system, asked, called, last = server.engine.drawn[0].messages
    assert (system["content"], asked["content"]) == ("Be brief.", "How cold is it, q?")
    assert called == {"role": "assistant", "content": 'Call weather({"city":"Oslo"})'}
    assert last["role"] == "user"
    assert last["content"].endswith("Result of weather:\n-3\n\nHow cold is it, q?")
    again = [*history, {"role": "user", "content": "And in q degrees Fahrenheit?"}]
    server.call("POST", "/v1/chat/completions", json={"messages": again})
    last = server.engine.drawn[1].messages[-1]["content"]
    assert last.endswith("Result of weather:\n-3\n\nAnd in q degrees Fahrenheit?")


SENTENCE = "I abstain: the confidence is 0.40, below your risk threshold of 0.5."


def test_an_abstention_is_said_once(server) -> None:
    assert message(server) == {"role": "assistant", "content": SENTENCE, "refusal": None}
    assert message(server, abstain_as="refusal") == {"role": "assistant", "content": None, "refusal": SENTENCE}


@pytest.mark.parametrize("stream", [False, True])
def test_an_abstention_can_be_an_error(server, stream) -> None:
    response = server.chat("q", abstain_as="error", stream=stream)
    error = response.json()["error"]
    assert (response.status_code, error["type"], error["code"], error["message"]) == (
        422,
        "abstention",
        "abstained",
        SENTENCE,
    )


def test_operator_and_key_say_how_to_abstain(make) -> None:
    assert message(make(ScriptedEngine({"q": RESPONSE}), abstain_as="refusal"))["refusal"] == SENTENCE
    key, text = make_key("somebody", abstain_as="error")
    keys = '{"keys": [' + key.model_dump_json() + "]}"
    server = make(ScriptedEngine({"q": RESPONSE}), keys=keys, abstain_as="refusal")
    asked = {"messages": [{"role": "user", "content": "q"}]}
    headers = {"authorization": f"Bearer {text}"}
    assert server.call("POST", "/v1/chat/completions", json=asked, headers=headers).status_code == 422
    own = server.call("POST", "/v1/chat/completions", json=asked | {"abstain_as": "content"}, headers=headers)
    assert own.json()["choices"][0]["message"]["content"] == SENTENCE


@pytest.mark.parametrize(
    ("fields", "status", "kind", "code"),
    [
        ({"model": "other"}, 404, "invalid_request_error", "model_not_found"),
        ({"risk_threshold": 2}, 400, "invalid_request_error", "invalid_value"),
        ({"risk_treshold": 0.2}, 400, "invalid_request_error", "unknown_parameter"),
        (
            {"messages": [{"role": "user", "content": "q " * 5000}]},
            400,
            "invalid_request_error",
            "context_length_exceeded",
        ),
        ({"include_withheld": True}, 403, "permission_error", "permission_denied"),
    ],
)
def test_errors_in_openais_words(make, fields, status, kind, code) -> None:
    server = make(ScriptedEngine({"q": RESPONSE}), allow_withheld=False)
    response = (
        server.chat(**fields) if "messages" not in fields else server.call("POST", "/v1/chat/completions", json=fields)
    )
    error = response.json()["error"]
    assert (response.status_code, error["type"], error["code"]) == (status, kind, code)


def test_no_key_in_openais_words(make) -> None:
    key, _ = make_key("somebody")
    response = make(keys='{"keys": [' + key.model_dump_json() + "]}").chat()
    error = response.json()["error"]
    assert (response.status_code, error["type"], error["code"]) == (401, "invalid_request_error", "invalid_api_key")


@pytest.mark.parametrize("path", ["/health", "/ready", "/ping", "/version", "/v1/models", "/v1/models/"])
def test_head(server, path) -> None:
    head, get = server.call("HEAD", path), server.call("GET", path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(get.content))


def test_trailing_slashes(server) -> None:
    assert server.call("GET", "/v1/models/demur-test/").json()["id"] == "demur-test"
    asked = {"messages": [{"role": "user", "content": "q"}]}
    assert server.call("POST", "/v1/chat/completions/", json=asked).status_code == 200
    assert server.call("GET", "/nowhere/").status_code == 404


def test_pages_of_listed_origins_may_call(make) -> None:
    server = make(cors_origins=("https://app.example.org",))
    wants = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    asked = server.call("OPTIONS", "/v1/answers", headers={"origin": "https://app.example.org", **wants})
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == "https://app.example.org"
    assert (
        server.call("GET", "/v1/models", headers={"origin": "https://app.example.org"})
        .headers["access-control-expose-headers"]
        .startswith("x-request-id")
    )
    other = server.call("GET", "/v1/models", headers={"origin": "https://other.example.org"})
    assert "access-control-allow-origin" not in other.headers
    assert "access-control-allow-origin" not in make().call("GET", "/v1/models", headers={"origin": "null"}).headers


@pytest.mark.parametrize("origins", ["https://a.example/path", "example.org", "https://user@example.org"])
def test_what_is_no_origin(origins) -> None:
    with pytest.raises(ValueError, match="origin"):
        Settings(cors_origins=origins)


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [("gzip", "gzip"), ("br", "br"), ("gzip, deflate, br", "br"), ("zstd, br", "zstd"), ("br;q=0", None), ("", None)],
)
def test_long_replies_are_compressed_and_streams_are_not(make, accepted, encoding) -> None:
    server = make(ScriptedEngine({"q": "word " * 500 + "\nAnswer: 4\nConfidence: 0.9"}))
    headers = {"accept-encoding": accepted}
    asked = {"messages": [{"role": "user", "content": "q"}]}
    reply = server.call("POST", "/v1/chat/completions", json=asked, headers=headers)
    assert reply.headers.get("content-encoding") == encoding
    assert reply.json()["choices"][0]["demur"]["answer"] == "4"
    if encoding:
        assert int(reply.headers["content-length"]) < len(reply.content)
    streamed = server.call("POST", "/v1/chat/completions", json=asked | {"stream": True}, headers=headers)
    assert "content-encoding" not in streamed.headers
    assert "content-encoding" not in server.call("GET", "/health", headers=headers).headers
