"""The official client, unchanged, against a real server."""

from collections.abc import Iterator

import openai
import pytest

from demur.engine.scripted import Script, ScriptedEngine

RESPONSE = "Two and two.\nAnswer: 4\nConfidence: 0.9"
ASK = [{"role": "user", "content": "q"}]


@pytest.fixture
def server(run):
    return run(ScriptedEngine({"q": [RESPONSE, RESPONSE.replace("0.9", "0.2")]}))


@pytest.fixture
def client(server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0) as client:
        yield client


def test_an_answer(client) -> None:
    completion = client.chat.completions.create(model="demur-test", messages=ASK)
    (choice,) = completion.choices
    assert choice.message.role == "assistant"
    assert choice.message.content == "Two and two.\n\nAnswer: 4"
    assert choice.message.refusal is None
    assert choice.finish_reason == "stop"
    assert choice.demur["confidence"] == 0.9
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens
    assert completion.usage.completion_tokens == 7


def test_an_abstention_is_an_ordinary_completion_that_says_so_once(client) -> None:
    extra = {"risk_threshold": 0.95, "contract": "response"}
    (choice,) = client.chat.completions.create(model="demur-test", messages=ASK, extra_body=extra).choices
    assert choice.finish_reason == "stop"
    assert choice.message.refusal is None
    assert choice.message.content == "I abstain: the confidence is 0.90, below your risk threshold of 0.95."
    assert (choice.demur["decision"], choice.demur["reason"]) == ("abstain", "below_threshold")


def test_every_choice_is_decided_by_itself(client, server) -> None:
    choices = client.chat.completions.create(model="demur-test", messages=ASK, n=2, seed=7).choices
    assert [choice.index for choice in choices] == [0, 1]
    assert [choice.demur["decision"] for choice in choices] == ["answer", "abstain"]
    assert sorted(drawn.sampling.seed for drawn in server.engine.drawn) == [7, 8]


def test_all_fields_that_concern_sampling_reach_the_engine(client, server) -> None:
    client.chat.completions.create(
        model="demur-test", messages=ASK, max_completion_tokens=50, temperature=0.3, top_p=0.8, seed=5, user="me"
    )
    sampling = server.engine.drawn[0].sampling
    assert (sampling.max_tokens, sampling.temperature, sampling.top_p, sampling.seed) == (50, 0.3, 0.8, 5)


def test_a_conversation_goes_on_with_an_earlier_reply(client, server) -> None:
    first = client.chat.completions.create(model="demur-test", messages=ASK).choices[0].message
    client.chat.completions.create(model="demur-test", messages=[*ASK, first, {"role": "user", "content": "q again"}])
    messages = server.engine.drawn[1].messages
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[0]["content"] == "q"
    assert "q again" in messages[2]["content"]
    assert messages[2]["content"] != "q again"


@pytest.mark.parametrize("n", [1, 2])
def test_streaming(client, n) -> None:
    stream = client.chat.completions.create(
        model="demur-test", messages=ASK, n=n, stream=True, stream_options={"include_usage": True}
    )
    *chunks, last = list(stream)
    assert last.choices == []
    assert last.usage.completion_tokens == 7 * n
    for index in range(n):
        parts = [choice for chunk in chunks for choice in chunk.choices if choice.index == index]
        assert parts[0].delta.role == "assistant"
        assert [part.finish_reason for part in parts] == [None] * (len(parts) - 1) + ["stop"]
        content = "".join(part.delta.content or "" for part in parts)
        assert parts[-1].demur["decision"] == ("answer" if index == 0 else "abstain")
        assert content == "Two and two.\n\nAnswer: 4" if index == 0 else content.startswith("I abstain")
        assert not any(part.delta.refusal for part in parts)


def test_the_streaming_helper_of_the_client(client) -> None:
    with client.chat.completions.stream(model="demur-test", messages=ASK) as stream:
        kinds = {event.type for event in stream}
        completion = stream.get_final_completion()
    assert {"chunk", "content.delta", "content.done"} <= kinds
    assert completion.choices[0].message.content == "Two and two.\n\nAnswer: 4"


def test_no_usage_chunk_unless_asked_for(client) -> None:
    chunks = list(client.chat.completions.create(model="demur-test", messages=ASK, stream=True))
    assert all(chunk.choices and chunk.usage is None for chunk in chunks)


def test_a_cut_output_says_length(client) -> None:
    (choice,) = client.chat.completions.create(model="demur-test", messages=ASK, max_tokens=3).choices
    assert choice.finish_reason == "length"
    assert choice.demur["reason"] == "truncated"


def test_models(client) -> None:
    assert [model.id for model in client.models.list()] == ["demur-test"]
    assert client.models.retrieve("demur-test").demur["calibrated"] is True
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other/model")


@pytest.mark.parametrize(
    ("arguments", "error", "param"),
    [
        ({"model": "other"}, openai.NotFoundError, "model"),
        ({"extra_body": {"risk_threshold": 2}}, openai.BadRequestError, "risk_threshold"),
        ({"extra_body": {"risk_treshold": 0.2}}, openai.BadRequestError, "risk_treshold"),
        ({"modalities": ["audio"]}, openai.BadRequestError, "modalities"),
        ({"extra_body": {"include_token_values": True}}, openai.BadRequestError, "include_token_values"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_errors_are_the_clients_own(client, arguments, error, param, stream) -> None:
    with pytest.raises(error) as caught:
        client.chat.completions.create(**{"model": "demur-test", "messages": ASK, "stream": stream} | arguments)
    assert caught.value.param == param
    assert caught.value.body["message"] in str(caught.value)
    assert caught.value.request_id == caught.value.body["request_id"]


def test_an_error_in_the_middle_of_a_stream_is_raised(run) -> None:
    server = run(ScriptedEngine({"q": Script([RESPONSE], delay=0.05)}), keep_alive=0.01)
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0) as client:
        stream = client.chat.completions.create(
            model="demur-test", messages=ASK, stream=True, extra_body={"timeout": 0.1}
        )
        with pytest.raises(openai.APIError, match="no answer within"):
            list(stream)
