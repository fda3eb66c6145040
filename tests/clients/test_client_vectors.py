"""The client against the wire vectors that the server is run against too."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest

from demur_client import NO_RETRY, Answer, Client, RedecideError, StatusError, StreamError
from demur_client.decoding import Fields, answer
from demur_client.events import EventReader
from demur_client.request import build
from demur_client.sse import Decoder

Vector = dict[str, Any]


def test_a_reply_is_read_without_loss(replies_vector: Vector) -> None:
    reply = replies_vector["reply"]
    read = answer(Fields(reply))
    assert json.loads(json.dumps(read.to_dict())) == reply
    assert bool(read) is (reply["decision"] == "answer")


def test_spans_index_the_text(replies_vector: Vector) -> None:
    read = answer(Fields(replies_vector["reply"]))
    for content in (read, read.withheld):
        if content and content.text:
            assert [content.text[slice(*claim.span)] for claim in content.claims] == [c.text for c in content.claims]


def test_a_request_is_built_as_it_is_on_the_wire(replies_vector: Vector) -> None:
    options = dict(replies_vector["request"])
    question = options.pop("question")
    assert build(question, options).body == replies_vector["request"]
    assert build(question, options, stream=True).body == replies_vector["request"] | {"stream": True}


def test_the_threshold_moves_as_on_the_server(decisions_vector: Vector) -> None:
    start = answer(Fields(decisions_vector["reply"]))
    for case in decisions_vector["cases"]:
        if "refused" in case:
            with pytest.raises(RedecideError, match=case["refused"]):
                start.at(case["risk_threshold"])
        else:
            moved = start.at(case["risk_threshold"]).to_dict()
            assert {name: moved[name] for name in case} == case


def test_a_moved_threshold_can_be_moved_back(decisions_vector: Vector) -> None:
    """All but one reason comes back: an answer no longer says that its confidence was cut off."""
    start = answer(Fields(decisions_vector["reply"]))
    for case in decisions_vector["cases"]:
        if "refused" not in case:
            back = start.at(case["risk_threshold"]).at(start.risk_threshold)
            assert replace(back, reason=start.reason) == start
            assert back.reason == start.reason or (start.reason, back.reason) == ("truncated", "confidence_missing")


def test_sse_is_read_however_it_is_cut(sse_vector: Vector) -> None:
    chunks = [chunk.encode() for chunk in sse_vector["chunks"]]
    single_bytes = [bytes([byte]) for chunk in chunks for byte in chunk]
    for pieces in (chunks, single_bytes, [b"".join(chunks)]):
        decoder = Decoder()
        events = [{"event": each.event, "data": each.data} for piece in pieces for each in decoder.feed(piece)]
        assert events == sse_vector["events"]


@pytest.mark.parametrize("size", [1, 7, 1_000_000])
def test_events_fold_to_what_was_shown(events_vector: Vector, size: int) -> None:
    *shown, last = events_vector["events"]
    if last["event"] not in ("answer", "error"):
        shown.append(last)
    transcript = _read(shown, size).transcript
    folded = events_vector.get("folded", {"text": "", "claims": []})
    assert transcript.text == folded["text"]
    assert [_wire(claim) for claim in transcript.claims] == folded["claims"]


def test_a_stream_ends_with_the_answer_or_an_error(events_vector: Vector, use: Any) -> None:
    body = b"".join(_encoded(event) for event in events_vector["events"])
    last = events_vector["events"][-1]

    def handler(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    def run() -> Answer:
        return use(handler, lambda client: client.stream("7 * 8?").result())

    if last["event"] == "answer":
        expected = answer(Fields(last["data"]))
        assert run() == expected
    else:
        with pytest.raises(StreamError, match=r"stopped in the middle|ended before the answer"):
            run()


def test_an_error_reply_becomes_a_typed_error(errors_vector: Vector) -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        return httpx.Response(errors_vector["status"], headers=errors_vector["headers"], text=errors_vector["body"])

    with (
        Client(transport=httpx.MockTransport(handler), retry=NO_RETRY) as client,
        pytest.raises(StatusError) as raised,
    ):
        client.answer("7 * 8?")
    error, expect = raised.value, errors_vector["expect"]
    assert (error.status, error.body) == (errors_vector["status"], errors_vector["body"])
    assert (error.may_retry, error.retry_after) == (expect["retry"], expect["retry_after"])
    assert (error.type, error.param, error.request_id) == (expect["type"], expect["param"], expect["request_id"])
    assert error.message == (expect["message"] or error.message)
    assert str(errors_vector["status"]) in str(error)


def _read(events: Sequence[Vector], size: int) -> EventReader:
    """The events, put on the wire and read in pieces of `size` bytes."""
    body = b"".join(_encoded(event) for event in events)
    reader = EventReader()
    for at in range(0, len(body), size):
        for _ in reader.feed(body[at : at + size]):
            pass
    return reader


def _encoded(event: Vector) -> bytes:
    return f"event: {event['event']}\ndata: {json.dumps(event['data'])}\n\n".encode()


def _wire(claim: Any) -> Vector:
    fields = {name: getattr(claim, name) for name in ("text", "confidence", "explanation", "decision")}
    return fields | {"span": list(claim.span), "problems": list(claim.problems)}
