"""The engine over OpenAI-compatible hosts, against a scripted host that misbehaves on demand."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from demur.engine.base import EngineError, EngineOverloaded, RequestRefused, Sampling, Untold
from demur.engine.openai import OpenAIEngine
from demur.engine.upstreams import Served, Upstream, find_served

SAMPLING = Sampling(max_tokens=8, temperature=0.5, seed=3)
CARDS = {
    "vllm": [{"id": "m", "owned_by": "vllm", "max_model_len": 4096}],
    "short": [{"id": "m", "owned_by": "vllm", "max_model_len": 2048}],
    "hosted": [{"id": "m", "owned_by": "somebody"}, {"id": "n", "owned_by": "somebody"}],
}


@dataclass
class Host:
    """What the scripted host saw. Its behaviour is the first part of the path."""

    bodies: list[dict] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    closed: threading.Event = field(default_factory=threading.Event)
    down: set[str] = field(default_factory=set)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/{mode}/v1/chat/completions", self.complete, methods=["POST"]),
                Route("/{mode}/v1/models", self.models),
            ]
        )

    async def models(self, request: Request) -> Response:
        mode = request.path_params["mode"]
        if mode == "500" or mode in self.down:
            return JSONResponse({}, 500)
        if mode == "page":
            return Response("<html>", media_type="text/html")
        return JSONResponse({"object": "list", "data": CARDS.get(mode, [])})

    async def complete(self, request: Request) -> Response:
        mode = request.path_params["mode"]
        self.calls[mode] = self.calls.get(mode, 0) + 1
        self.bodies.append(await request.json())
        self.headers.append(dict(request.headers))
        match mode:
            case "500":
                return JSONResponse({"error": {"message": "broken"}}, 500)
            case "429":
                return JSONResponse({"error": {"message": "busy"}}, 429, {"retry-after": "7"})
            case "400":
                return JSONResponse({"error": {"message": "no such model"}}, 400)
            case "flaky" if self.calls[mode] == 1:
                return JSONResponse({"error": {"message": "broken"}}, 503)
            case _:
                return StreamingResponse(self.events(mode), media_type="text/event-stream")

    async def events(self, mode: str) -> AsyncIterator[str]:
        try:
            yield event({"delta": {"role": "assistant", "content": ""}})
            if mode == "early":
                return
            if mode == "garbage":
                yield "data: {not json\n\n"
                return
            yield event({"delta": {"content": "4"}})
            if mode == "cut":
                return
            if mode == "half":
                yield 'data: {"choices": [{"del'
                return
            if mode == "endless":
                while True:
                    await asyncio.sleep(0.01)
                    yield event({"delta": {"content": "."}})
            yield event({"delta": {"content": "2"}})
            yield event({"delta": {}, "finish_reason": "length" if mode == "long" else "stop"})
            yield event(None, usage={"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7})
            yield "data: [DONE]\n\n"
        finally:
            self.closed.set()


def event(choice: dict | None, **more: object) -> str:
    choices = [] if choice is None else [{"index": 0, "finish_reason": None, **choice}]
    body = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}
    return f"data: {json.dumps(body)}\n\n"


@pytest.fixture
def host() -> Host:
    return Host()


def engine(address: str, *modes: str, **options: object) -> OpenAIEngine:
    return OpenAIEngine([Upstream(f"{address}/{mode}/v1") for mode in modes], "m", **options)


async def sample(engine: OpenAIEngine, sampling: Sampling = SAMPLING) -> list:
    prompt = await engine.prepare([{"role": "user", "content": "6 * 7?"}])
    async with using(engine), aclosing(engine.stream(prompt, sampling, request_id="r-1")) as chunks:
        return [chunk async for chunk in chunks]


@asynccontextmanager
async def using(engine: OpenAIEngine) -> AsyncIterator[OpenAIEngine]:
    try:
        yield engine
    finally:
        await engine.close()


def text(chunks: list) -> str:
    return "".join(chunk.text for chunk in chunks)


def test_a_sample_with_its_ending_and_its_usage(address, host):
    chunks = asyncio.run(sample(engine(address, "good")))
    assert text(chunks) == "42"
    assert [c.finish_reason for c in chunks if c.finish_reason] == ["stop"]
    assert (chunks[-1].prompt_tokens, chunks[-1].completion_tokens) == (5, 2)
    assert host.bodies[0]["messages"] == [{"role": "user", "content": "6 * 7?"}]
    assert (host.bodies[0]["max_tokens"], host.bodies[0]["temperature"], host.bodies[0]["seed"]) == (8, 0.5, 3)


def test_the_host_is_told_which_request_and_which_trace_this_is(address, host):
    async def traced() -> None:
        async with using(engine(address, "good")) as the_engine:
            prompt = await the_engine.prepare([{"role": "user", "content": "x"}])
            trace = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
            async with aclosing(the_engine.stream(prompt, SAMPLING, request_id="r-7", trace=trace)) as chunks:
                async for _ in chunks:
                    pass

    asyncio.run(traced())
    assert host.headers[0]["x-request-id"] == "r-7"
    assert host.headers[0]["traceparent"] == f"00-{'a' * 32}-{'b' * 16}-01"


def test_a_sample_cut_at_the_token_limit(address):
    assert asyncio.run(sample(engine(address, "long")))[-2].finish_reason == "length"


def test_a_constraint_goes_only_to_hosts_that_take_it(address, host):
    forced = Sampling(max_tokens=8, constraint="Answer: [0-9]+")
    asyncio.run(sample(engine(address, "good"), forced))
    asyncio.run(sample(engine(address, "good", structured_outputs=True), forced))
    assert "structured_outputs" not in host.bodies[0]
    assert host.bodies[1]["structured_outputs"] == {"regex": "Answer: [0-9]+"}


@pytest.mark.parametrize(("step", "interval"), [(1, None), (8, 8), (100, 32), (None, 32)])
def test_vllm_is_asked_for_as_few_events_as_are_read(address, host, step, interval):
    """Each then says how many tokens there are, so that a sample that is stopped is counted."""
    asked = replace(SAMPLING, step=step, untold=Untold())
    asyncio.run(sample(engine(address, "good", stream_interval=True), asked))
    asyncio.run(sample(engine(address, "good"), asked))
    paced, hosted = host.bodies
    assert paced.get("stream_interval") == interval
    assert paced["stream_options"] == {"include_usage": True} | ({"continuous_usage_stats": True} if interval else {})
    assert "stream_interval" not in hosted
    assert hosted["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("bad", ["500", "429", "early", "garbage"])
def test_what_fails_before_the_first_text_is_tried_elsewhere(address, host, bad):
    chunks = asyncio.run(sample(engine(address, bad, "good")))
    assert text(chunks) == "42"
    assert host.calls == {bad: 1, "good": 1}


def test_a_host_that_recovers_is_tried_again(address):
    assert text(asyncio.run(sample(engine(address, "flaky")))) == "42"


@pytest.mark.parametrize("bad", ["cut", "half"])
def test_what_breaks_off_later_is_an_error_and_not_repeated(address, host, bad):
    with pytest.raises(EngineError, match="broke off"):
        asyncio.run(sample(engine(address, bad, "good")))
    assert host.calls == {bad: 1}


def test_a_wrong_request_is_asked_of_one_other_host(address, host):
    with pytest.raises(RequestRefused, match=r"400.*no such model"):
        asyncio.run(sample(engine(address, "400", "400", "good")))
    assert host.calls == {"400": 2}


def test_overload_says_when_to_come_back(address):
    with pytest.raises(EngineOverloaded) as caught:
        asyncio.run(sample(engine(address, "429")))
    assert caught.value.retry_after == 7


def test_a_host_nobody_listens_at():
    with pytest.raises(EngineError, match="no answer"):
        asyncio.run(sample(OpenAIEngine([Upstream("http://127.0.0.1:9/v1")], "m", attempts=2)))


def test_closing_a_stream_stops_the_work_at_the_host(address, host):
    async def close_early() -> None:
        async with using(engine(address, "endless")) as the_engine:
            prompt = await the_engine.prepare([{"role": "user", "content": "go on"}])
            async with aclosing(the_engine.stream(prompt, SAMPLING, request_id="r-2")) as chunks:
                assert (await anext(chunks)).text == "4"

    asyncio.run(close_early())
    assert host.closed.wait(10)


def test_the_least_loaded_host_is_chosen_and_limits_hold(address, host):
    async def crowd() -> list:
        upstreams = [Upstream(f"{address}/good/v1", limit=1), Upstream(f"{address}/endless/v1", limit=1)]
        async with using(OpenAIEngine(upstreams, "m")) as the_engine:
            prompt = await the_engine.prepare([{"role": "user", "content": "x"}])
            streams = [the_engine.stream(prompt, SAMPLING, request_id=f"r-{i}") for i in range(3)]
            await anext(streams[0])
            await anext(streams[1])
            with pytest.raises(EngineOverloaded, match="limit"):
                await anext(streams[2])
            for stream in streams:
                await stream.aclose()
        return sorted(host.calls)

    assert asyncio.run(crowd()) == ["endless", "good"]


def test_check_needs_one_host_that_answers(address):
    async def check(*modes: str) -> None:
        async with using(engine(address, *modes)) as the_engine:
            await the_engine.check()

    asyncio.run(check("500", "good"))
    with pytest.raises(EngineOverloaded):
        asyncio.run(check("500"))


def test_the_engine_knows_what_its_hosts_are_doing(address, host):
    async def look() -> None:
        upstreams = [Upstream(f"{address.replace('//', '//user:secret@')}/endless/v1"), Upstream(f"{address}/500/v1")]
        async with using(OpenAIEngine(upstreams, "m")) as the_engine:
            prompt = await the_engine.prepare([{"role": "user", "content": "x"}])
            async with aclosing(the_engine.stream(prompt, SAMPLING, request_id="r")) as chunks:
                await anext(chunks)
                await the_engine.check()
                assert the_engine.running == 1
                states = the_engine.upstreams()
            assert [(state.running, state.is_unhealthy) for state in states] == [(1, False), (0, True)]
            assert {state.name for state in states} == {address.removeprefix("http://")}
            assert the_engine.running == 0

    asyncio.run(look())


def test_a_host_that_is_gone_for_days_rests_and_no_more(address, host):
    host.down.add("good")

    async def wait_for_days() -> bool:
        async with using(engine(address, "good")) as the_engine:
            for _ in range(1100):
                with pytest.raises(EngineOverloaded):
                    await the_engine.check()
            return the_engine.upstreams()[0].is_unhealthy

    assert asyncio.run(wait_for_days())


def test_a_host_that_lists_its_models_again_is_asked_at_once_and_well_when_it_answers(address, host):
    async def come_back() -> list[bool]:
        async with using(engine(address, "good")) as the_engine:
            host.down.add("good")
            with pytest.raises(EngineOverloaded):
                await the_engine.check()
            host.down.clear()
            await the_engine.check()
            before = the_engine.upstreams()[0].is_unhealthy
            prompt = await the_engine.prepare([{"role": "user", "content": "x"}])
            async with aclosing(the_engine.stream(prompt, SAMPLING, request_id="r")) as chunks:
                async for _ in chunks:
                    pass
            return [before, the_engine.upstreams()[0].is_unhealthy]

    assert asyncio.run(come_back()) == [True, False]


@pytest.mark.parametrize(
    ("modes", "model", "found"),
    [
        (["vllm"], None, Served("m", 4096, True)),
        (["vllm", "short", "500", "page"], None, Served("m", 2048, True)),
        (["hosted"], "n", Served("n", None, False)),
        (["vllm", "hosted"], "m", Served("m", 4096, False)),
        (["good"], "unlisted", Served("unlisted", None, False)),
    ],
)
def test_the_hosts_are_asked_what_they_serve(address, modes, model, found):
    upstreams = [Upstream(f"{address}/{mode}/v1") for mode in modes]
    assert asyncio.run(find_served(upstreams, model)) == found


@pytest.mark.parametrize(
    ("modes", "words"),
    [(["hosted"], "m, n: name one"), (["good"], "no model: name one"), (["500"], "no upstream answers")],
)
def test_hosts_that_do_not_say_what_they_serve(address, modes, words):
    with pytest.raises(EngineError, match=words):
        asyncio.run(find_served([Upstream(f"{address}/{mode}/v1") for mode in modes], None))


def test_at_least_one_upstream():
    with pytest.raises(ValueError, match="at least one"):
        OpenAIEngine([], "m")
