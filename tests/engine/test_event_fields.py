"""What an upstream's events may hold, and what of it costs the sample."""

import json

import pytest

from demur.engine.base import EngineError
from demur.engine.chat_event import Ask, read_event

ASK = Ask(b"{}", {}, max_tokens=16, prompt_bytes=100, logprobs=True)


def event(**choice: object) -> bytes:
    return json.dumps({"choices": [{"index": 0, **choice}], "service_tier": {"any": ["thing"]}}).encode()


@pytest.mark.parametrize("unread", [float("nan"), float("inf"), "0", None, [], True])
def test_a_log_probability_that_is_none_costs_the_signal_alone(unread) -> None:
    token = {"token": "4", "logprob": unread}
    chunk = read_event(event(delta={"content": "4"}, logprobs={"content": [token]}), ASK)
    assert chunk is not None
    assert (chunk.text, [each.logprob for each in chunk.logprobs]) in (("4", []), ("4", [0.0]))


@pytest.mark.parametrize(
    "data",
    [
        event(delta={"content": 4}),
        event(delta={"content": "4"}, finish_reason=4),
        b'{"choices": [{"delta": {"content": "4"}}], "usage": {"completion_tokens": NaN}}',
        b'{"choices": [{"delta": {"content": "\\ud83d"}, "logprobs": NaN}]}',
        b'{"choices": ' + b"[" * 50_000,
        b'{"choices": [{"delta": {"content": "4"}}]} and more',
    ],
)
def test_what_is_typed_has_its_type(data) -> None:
    with pytest.raises(EngineError):
        read_event(data, ASK)


def test_an_event_that_says_nothing_is_none() -> None:
    assert read_event(event(delta={"role": "assistant", "content": ""}), ASK) is None
    assert read_event(b'{"choices": []}', ASK) is None
