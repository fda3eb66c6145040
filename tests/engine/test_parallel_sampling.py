"""Several samples of one prompt as one request to a host, `n` choices of it, against a scripted host."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from demur.engine.base import Chunk, EngineError, Prompt, RequestRefused, Sampling, Untold
from demur.engine.openai import OpenAIEngine
from demur.engine.parallel_sampling import differ_by_seed_alone
from demur.engine.upstreams import Upstream

SAMPLING = Sampling(max_tokens=8, seed=3, step=None)


@dataclass
class Host:
    """What the host was asked; its behaviour is the first part of the path."""

    bodies: list[dict] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    asked: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    closed: threading.Event = field(default_factory=threading.Event)

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{mode}/v1/chat/completions", self.complete, methods=["POST"])])

    async def complete(self, request: Request) -> Response:
        mode, body = request.path_params["mode"], await request.json()
        self.bodies.append(body)
        self.ids.append(request.headers["x-request-id"])
        self.asked.release()
        if mode == "nothing" or (mode == "refuses" and "n" in body):
            return JSONResponse({"error": {"message": "no such thing"}}, 400)
        return StreamingResponse(self.events(mode, body), media_type="text/event-stream")

    async def events(self, mode: str, body: dict) -> AsyncIterator[str]:
        count = 1 if mode == "ignores" else body.get("n", 1)
        counts = mode not in ("ignores", "uncounted")
        try:
            if mode == "odd":
                for index in ("0", -1, -2, count, 10**30, None, True, [0]):
                    yield event(index, "wrong", 1)
            for i in range(count):
                yield event(i, f"{i}:", 1 if counts else None)
            if mode == "endless":
                await asyncio.sleep(60)
            for i in range(count):
                yield event(i, "long " * (1000 if mode == "long" and i == 1 else 1), 2 if counts else None)
                yield event(i, "", 2 + i if counts else None, "stop")
                if mode == "cut":
                    return
                if mode == "one first" and i == 0:
                    await asyncio.sleep(60)
            yield event(None, "", sum(2 + i for i in range(count)))
            yield "data: [DONE]\n\n"
        finally:
            self.closed.set()


def event(index: object, text: str, tokens: int | None, finish: str | None = None) -> str:
    choices = [] if index is None else [{"index": index, "delta": {"content": text}, "finish_reason": finish}]
    usage = {"prompt_tokens": 5, "completion_tokens": tokens, "prompt_tokens_details": {"cached_tokens": 4}}
    usage = None if tokens is None else usage
    return f"data: {json.dumps({'choices': choices, 'usage': usage})}\n\n"


@pytest.fixture
def host() -> Host:
    return Host()


def engine(address: str, mode: str, **options: object) -> OpenAIEngine:
    limit = options.pop("limit", 256)
    return OpenAIEngine([Upstream(f"{address}/{mode}/v1", limit=limit)], "m", **{"stream_interval": True} | options)


def numbered(count: int) -> list[Sampling]:
    return [replace(SAMPLING, seed=3 + i, untold=Untold()) for i in range(count)]


def opened(the_engine: OpenAIEngine, samplings: list[Sampling]) -> list[AsyncGenerator[Chunk, None]]:
    prompt = Prompt(({"role": "user", "content": "6 * 7?"},))
    ids = [f"r-{i}" for i in range(len(samplings))]
    return list(the_engine.streams(prompt, samplings, request_ids=ids))


async def read(stream: AsyncGenerator[Chunk, None]) -> list[Chunk]:
    async with aclosing(stream) as chunks:
        return [chunk async for chunk in chunks]


def samples(the_engine: OpenAIEngine, samplings: list[Sampling], times: int = 1) -> list[list[Chunk]]:
    async def run() -> list[list[Chunk]]:
        try:
            for _ in range(times):
                found = await asyncio.gather(*map(read, opened(the_engine, samplings)))
            assert the_engine.running == 0
            return found
        finally:
            await the_engine.close()

    return asyncio.run(run())


def texts(found: list[list[Chunk]]) -> list[str]:
    return ["".join(chunk.text for chunk in chunks) for chunks in found]


@pytest.mark.parametrize("mode", ["good", "odd"])
def test_samples_that_differ_by_seed_alone_are_one_request(address, host, mode):
    found = samples(engine(address, mode), numbered(3))
    assert texts(found) == ["0:long ", "1:long ", "2:long "]
    assert [chunks[-1].finish_reason for chunks in found] == ["stop"] * 3
    assert [chunks[-1].completion_tokens for chunks in found] == [2, 3, 4]
    assert found[2][-1].cached_tokens == 4
    (body,) = host.bodies
    assert (body["n"], body["seed"], body["stream_options"]["continuous_usage_stats"]) == (3, 3, True)
    assert host.ids == ["r-0"]


@pytest.mark.parametrize(
    ("samplings", "options"),
    [
        ([SAMPLING, replace(SAMPLING, seed=9)], {}),
        ([SAMPLING, replace(SAMPLING, seed=None)], {}),
        ([SAMPLING, replace(SAMPLING, seed=4, temperature=0.5)], {}),
        ([SAMPLING, replace(SAMPLING, seed=4, max_tokens=9)], {}),
        ([replace(SAMPLING, step=1), replace(SAMPLING, step=1, seed=4)], {}),
        (numbered(2), {"stream_interval": False}),
        (numbered(1), {}),
    ],
)
def test_others_are_a_request_each(address, host, samplings, options):
    samples(engine(address, "good", **options), samplings)
    assert [body.get("n") for body in host.bodies] == [None] * len(samplings)
    assert sorted(host.ids) == [f"r-{i}" for i in range(len(samplings))]


def test_without_seeds_they_are_alike():
    assert differ_by_seed_alone([replace(SAMPLING, seed=None)] * 4)


def test_all_of_them_count_as_running_and_need_room(address, host):
    async def look() -> list[int]:
        the_engine = engine(address, "endless", limit=4)
        streams = opened(the_engine, numbered(3))
        reading = [asyncio.create_task(read(stream)) for stream in streams]
        await asyncio.to_thread(host.asked.acquire, timeout=10)
        running = [the_engine.running]
        more = asyncio.create_task(read(opened(the_engine, numbered(2))[0]))
        await asyncio.to_thread(host.asked.acquire, timeout=10)
        running.append(the_engine.running)
        for task in [*reading, more]:
            task.cancel()
        await asyncio.gather(*reading, more, return_exceptions=True)
        running.append(the_engine.running)
        await the_engine.close()
        return running

    assert asyncio.run(look()) == [3, 4, 0]
    assert [body.get("n") for body in host.bodies] == [3, None]
    assert host.closed.wait(10)


@pytest.mark.parametrize("mode", ["ignores", "refuses"])
def test_a_host_that_does_not_draw_several_is_asked_for_each_from_then_on(address, host, mode):
    found = samples(engine(address, mode), numbered(3), times=2)
    assert texts(found) == ["0:long "] * 3
    assert [chunks[-1].completion_tokens for chunks in found] == [2] * 3
    first = {"ignores": 3, "refuses": 4}[mode]
    assert [body.get("n") for body in host.bodies] == [3, *[None] * (first - 1), None, None, None]
    assert sorted(body["seed"] for body in host.bodies[-3:]) == [3, 4, 5]


def test_the_only_sample_of_a_host_that_passes_over_the_others_is_counted(address, host):
    assert [chunks[-1].completion_tokens for chunks in samples(engine(address, "ignores"), numbered(3))] == [2] * 3


def test_samples_that_a_host_counts_together_are_a_request_each_from_then_on(address, host):
    found = samples(engine(address, "uncounted"), numbered(2), times=2)
    assert [body.get("n") for body in host.bodies] == [2, None, None]
    assert [chunks[-1].completion_tokens for chunks in found] == [2, 2]


def test_a_request_that_is_refused_either_way_shows_nothing(address, host):
    async def run() -> None:
        the_engine = engine(address, "nothing")
        for _ in range(2):
            found = await asyncio.gather(*map(read, opened(the_engine, numbered(2))), return_exceptions=True)
            assert all(isinstance(each, RequestRefused) for each in found)
        await the_engine.close()

    asyncio.run(run())
    assert [body.get("n") for body in host.bodies] == [2, None, None] * 2


def test_a_request_that_breaks_off_breaks_off_those_that_have_not_ended(address):
    async def run() -> list[object]:
        the_engine = engine(address, "cut")
        found = await asyncio.gather(*map(read, opened(the_engine, numbered(3))), return_exceptions=True)
        await the_engine.close()
        return found

    first, *others = asyncio.run(run())
    assert texts([first]) == ["0:long "]
    assert all(isinstance(error, EngineError) and "broke off" in str(error) for error in others)


def test_a_sample_ends_when_its_text_does(address, host):
    async def run() -> list[Chunk]:
        the_engine = engine(address, "one first")
        first, *others = opened(the_engine, numbered(3))
        waiting = [asyncio.create_task(read(stream)) for stream in others]
        async with asyncio.timeout(30):
            found = await read(first)
        assert not any(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert the_engine.running == 0
        await the_engine.close()
        return found

    assert texts([asyncio.run(run())]) == ["0:long "]
    assert host.closed.wait(10)


def test_what_one_sample_has_too_much_of_text_is_cut_from_it_alone(address):
    found = samples(engine(address, "long"), numbered(3))
    assert [len(text) for text in texts(found)] == [7, 128 * SAMPLING.max_tokens, 7]
    assert [[c.finish_reason for c in chunks if c.finish_reason] for chunks in found] == [
        ["stop"],
        ["length"],
        ["stop"],
    ]


def test_streams_that_nobody_reads_ask_for_nothing(address, host):
    async def run() -> None:
        the_engine = engine(address, "good")
        for stream in opened(the_engine, numbered(3)):
            await stream.aclose()
        await the_engine.close()

    asyncio.run(run())
    assert host.bodies == []
