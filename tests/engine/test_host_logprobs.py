"""Log-probabilities of OpenAI-compatible hosts: asked for only where wanted, and no host is trusted with them."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from demur.engine.base import Chunk, EngineError, RequestRefused, Sampling, TokenLogprob
from demur.engine.host_logprobs import cached_tokens, token_logprobs
from demur.engine.openai import OpenAIEngine
from demur.engine.upstreams import Upstream
from live import serving

OWN = Sampling(max_tokens=8, logprobs=0)
TWENTY = replace(OWN, logprobs=20)
Refuses = Callable[[dict[str, Any]], bool]


def token(text: str, logprob: Any = -0.5, **more: Any) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode()), "top_logprobs": [], **more}


def event(text: str = "", *, logprobs: Any = None, finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish, "logprobs": logprobs}
    return f"data: {json.dumps({'choices': [choice], **more})}\n\n"


@contextmanager
def host(*events: str, refuses: Refuses = lambda body: False) -> Iterator[tuple[OpenAIEngine, list[dict[str, Any]]]]:
    """An engine over one host that streams these events, and the bodies that it was asked with."""
    bodies: list[dict[str, Any]] = []

    async def complete(request: Request) -> Response:
        bodies.append(await request.json())
        if refuses(bodies[-1]):
            return JSONResponse({"error": {"message": "logprobs are not supported"}}, 400)
        return StreamingResponse(iter([*events, "data: [DONE]\n\n"]), media_type="text/event-stream")

    with serving(Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])) as address:
        yield OpenAIEngine([Upstream(f"{address}/v1")], "m"), bodies


async def _sample(engine: OpenAIEngine, samplings: tuple[Sampling, ...]) -> list[Chunk]:
    found: list[Chunk] = []
    try:
        prompt = await engine.prepare([{"role": "user", "content": "6 * 7?"}])
        for sampling in samplings:
            async with aclosing(engine.stream(prompt, sampling, request_id="r")) as chunks:
                found += [chunk async for chunk in chunks]
    finally:
        await engine.close()
    return found


def sample(engine: OpenAIEngine, *samplings: Sampling) -> list[Chunk]:
    return asyncio.run(_sample(engine, samplings))


def told(chunks: list[Chunk]) -> list[TokenLogprob]:
    return [each for chunk in chunks for each in chunk.logprobs]


GOOD = [
    event("4", logprobs={"content": [token("4", -0.25)]}),
    event("2", logprobs={"content": [token("2", -0.5, top_logprobs=[token("2", -0.5), token("3", -2.0)])]}),
    event(finish="stop", usage={"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 6}}),
]


@pytest.mark.parametrize(
    ("sampling", "asked"),
    [
        (replace(OWN, logprobs=None), {}),
        (OWN, {"logprobs": True}),
        (TWENTY, {"logprobs": True, "top_logprobs": 20}),
    ],
)
def test_they_are_asked_for_where_wanted_and_read_as_they_come(sampling, asked) -> None:
    with host(*GOOD) as (engine, bodies):
        chunks = sample(engine, sampling)
    assert {name: value for name, value in bodies[0].items() if "logprobs" in name} == asked
    assert "".join(chunk.text for chunk in chunks) == "42"
    tokens = [TokenLogprob(b"4", -0.25), TokenLogprob(b"2", -0.5, (("2", -0.5), ("3", -2.0)))]
    assert told(chunks) == (tokens if asked else [])
    assert chunks[-1].cached_tokens == 6


def test_a_token_may_be_a_part_of_a_character() -> None:
    half = [
        {"token": "\\xe6", "logprob": -1.0, "bytes": [230]},
        {"token": "\\x9d", "logprob": -1.0, "bytes": [157, 177]},
    ]
    assert b"".join(each.text for each in token_logprobs({"content": half})).decode() == "東"
    assert token_logprobs({"content": [{"token": " so", "logprob": -1.0}]}) == (TokenLogprob(b" so", -1.0),)


@pytest.mark.parametrize("sampling", [OWN, TWENTY])
def test_a_host_that_refuses_them_answers_without_and_is_not_asked_again(sampling) -> None:
    with host(*GOOD[:1], event(finish="stop"), refuses=lambda body: "logprobs" in body) as (engine, bodies):
        chunks = sample(engine, sampling, sampling)
    asked = [body.get("top_logprobs", "logprobs" in body) for body in bodies]
    assert asked == ([True, False, False] if sampling is OWN else [20, 5, False, False])
    assert "".join(chunk.text for chunk in chunks) == "44"
    assert told(chunks) == []


def test_a_host_that_tells_few_alternatives_is_asked_for_few() -> None:
    with host(*GOOD, refuses=lambda body: body.get("top_logprobs", 0) > 5) as (engine, bodies):
        chunks = sample(engine, TWENTY, TWENTY, OWN)
    assert [body.get("top_logprobs") for body in bodies] == [20, 5, 5, None]
    assert len(told(chunks)) == 6


def test_a_request_that_is_refused_anyway_says_nothing_about_them() -> None:
    with host(refuses=lambda body: True) as (engine, bodies), pytest.raises(RequestRefused):
        sample(engine, OWN)
    assert [("logprobs" in body) for body in bodies] == [True, False]


WRONG = [
    7,
    "all of them",
    [],
    {"content": "42"},
    {"content": [7]},
    {"content": [{"token": "4"}]},
    {"content": [token("4", "-0.5")]},
    {"content": [token("4", None)]},
    {"content": [token("4", float("nan"))]},
    {"content": [token("4", bytes=[256])]},
    {"content": [token("4", bytes=["52"])]},
    {"content": [token("4", bytes=[52] * 2000)]},
    {"content": [token("4" * 2000)]},
    {"content": [token("4", top_logprobs=[token("4")] * 100)]},
    {"content": [token("4", top_logprobs={"4": -0.5})]},
]


@pytest.mark.parametrize("sent", WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_read_costs_the_signal_and_not_the_sample(sent) -> None:
    assert token_logprobs(sent) == token_logprobs({"content": [token("4")] * 20_000}) == ()
    with host(event("4", logprobs=sent), event(finish="stop")) as (engine, _):
        chunks = sample(engine, OWN)
    assert ("".join(chunk.text for chunk in chunks), told(chunks)) == ("4", [])


def test_more_tokens_than_can_be_are_not_kept() -> None:
    flood = event("4", logprobs={"content": [token("4")] * 100})
    with host(flood, event(finish="stop")) as (engine, _):
        assert told(sample(engine, OWN)) == []


def test_tokens_without_end_and_without_text_end_the_sample() -> None:
    endless = (event(logprobs={"content": [token("x" * 200)] * 100}) for _ in range(2000))
    with host(*endless) as (engine, _), pytest.raises(EngineError):
        sample(engine, OWN)


@pytest.mark.parametrize(
    ("logprob", "kept"), [(0.0001, 0.0), (-9999.0, -9999.0), (-1e300, -1e4), (float("-inf"), -1e4)]
)
def test_a_logarithm_is_that_of_a_probability(logprob, kept) -> None:
    assert token_logprobs({"content": [token("4", logprob)]}) == (TokenLogprob(b"4", kept),)


@pytest.mark.parametrize(
    "details", [None, 7, [], {}, {"cached_tokens": -1}, {"cached_tokens": True}, {"cached_tokens": 99}]
)
def test_a_count_of_cached_tokens_that_cannot_be_is_none(details) -> None:
    assert cached_tokens(details, 10) is None
    assert cached_tokens({"cached_tokens": 10}, 10) == 10
