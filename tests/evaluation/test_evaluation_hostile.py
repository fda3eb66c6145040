"""An endpoint under evaluation that is broken or hostile costs its questions, and neither the run nor its figures."""

import asyncio

import httpx
import pytest

from demur.evaluation.asking.answers_api import AnswersApi
from demur.evaluation.asking.base import BadReply, Request
from demur.evaluation.asking.chat import ChatApi, content_of
from demur.evaluation.asking.endpoint import Endpoint, GaveUp, connect
from demur.evaluation.errors import EndpointError
from hostile_host import HostileHost, endless, hostile, silent, status

NO_CHOICE = Request({})
GOOD = {"decision": "answer", "answer": "4", "confidence": 0.5, "usage": {"completion_tokens": 3}}
KINDS = {
    "a reply without end": endless(b"HTTP/1.1 200 OK\r\n\r\n", b'{"choices": ['),
    "a refusal without end": endless(b"HTTP/1.1 500 x\r\n\r\n", b"x"),
    "a bomb": status(200, b"x", "content-encoding: gzip\r\n"),
    "nested": status(200, b"[" * 100_000),
    "a nested refusal": status(400, b"[" * 50_000),
    "a page": status(200, b"<html>"),
    "led elsewhere": status(307, b"", "location: /trap/v1/chat/completions\r\n"),
    "no http": b"\x00\r\n\r\n",
    "a byte now and then": silent(b"HTTP/1.1 200 OK\r\n\r\n", b"x", 0.05),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_is_given_up(kind):
    host = HostileHost(chat=dict(KINDS))

    async def post(address: str) -> None:
        async with connect(f"{address}/{kind}/v1", None, timeout=0.5, connections=1) as client:
            await Endpoint(client, retries=0, most_bytes=1 << 20).post("/v1/chat/completions", {}, content_of)

    with hostile(host) as address, pytest.raises(GaveUp) as caught:
        asyncio.run(post(address))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
    assert host.calls == {kind: 1}
    assert host.sent[kind] < 8 << 20


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e400", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_pause_is_never_longer_than_is_obeyed(value):
    pauses, waiting = [], [httpx.Response(429, headers={"retry-after": value}), httpx.Response(403, text="x\x1b[2J\ny")]

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async def post() -> None:
        transport = httpx.MockTransport(lambda request: waiting.pop(0))
        async with httpx.AsyncClient(transport=transport, base_url="http://host") as client:
            await Endpoint(client, 1, pause).post("/v1/chat/completions", {}, content_of)

    with pytest.raises(EndpointError, match=r"answers 403: x \[2J y$"):
        asyncio.run(post())
    assert 0 < pauses[0] <= 600


@pytest.mark.parametrize(
    "wrong",
    [
        *({"confidence": value} for value in (float("nan"), float("inf"), -0.1, 2, 10**400, True, "0.5", [])),
        *({"answer": value} for value in (5, [], {})),
        *({"text": value} for value in (5, [])),
        {"raw": 5},
        {"claims": 5},
        {"claims": [5]},
        {"claims": [{"text": 5, "span": [0, 1], "confidence": 0.5}]},
        {"claims": [{"text": "a", "span": [0], "confidence": 0.5}]},
        {"claims": [{"text": "a", "span": [0, float("nan")], "confidence": 0.5}]},
        {"claims": [{"text": "a", "span": [0, 1], "confidence": float("nan")}]},
        {"withheld": 5},
        {"confidence": None, "samples": 5},
        {"confidence": None, "samples": {"members": [5]}},
    ],
)
def test_an_answer_object_that_cannot_be_is_no_answer(wrong):
    with pytest.raises(BadReply, match="cannot be read"):
        AnswersApi(NO_CHOICE).output({**GOOD, **wrong})


@pytest.mark.parametrize("count", [float("nan"), float("inf"), 1e308, -1, "7", True, 10**30, []])
def test_tokens_that_cannot_be_count_as_none(count):
    usage = {"completion_tokens": count}
    assert AnswersApi(NO_CHOICE).output({**GOOD, "usage": usage}).tokens == 0
    assert ChatApi(NO_CHOICE).output({"choices": [{"message": {"content": "4"}}], "usage": usage}).tokens == 0
