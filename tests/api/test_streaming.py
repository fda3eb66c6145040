"""Live streams behind a real uvicorn: what arrives when, and what a client that leaves sets free."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from demur.engine.base import EngineDead, EngineError
from demur.engine.scripted import Gate, Script, ScriptedEngine

RESPONSE = "Two and two.\nAnswer: 4\nConfidence: 0.9"
CLAIMS = (
    'Private.\nSolution:\n<Confidence value=0.9 text="a">First.</Confidence>\n'
    '<Confidence value=0.3 text="b">Second.</Confidence>\nAnswer:4'
)


def until(condition: Callable[[], bool], server) -> None:
    """Wait for something to become true in the server: it is looked at between events of the server's own loop."""

    async def look() -> None:
        async with httpx.AsyncClient(base_url=server.url) as client:
            while not condition():
                await client.get("/health")

    asyncio.run(asyncio.wait_for(look(), 10))


@contextmanager
def streaming(server, body: dict, path: str = "/v1/answers") -> Iterator[Iterator[str]]:
    """The lines of a stream as they arrive."""
    with httpx.stream("POST", server.url + path, json=body | {"stream": True}, timeout=10) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield response.iter_lines()


def next_event(lines: Iterator[str]) -> tuple[str, dict]:
    name = "message"
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            return name, json.loads(line.removeprefix("data: "))
    raise EOFError


def test_claims_arrive_while_the_model_still_writes(run) -> None:
    gate = Gate()
    server = run(ScriptedEngine({"q": Script([CLAIMS], gates={6: gate})}))
    with streaming(server, {"question": "q", "contract": "claims"}) as lines:
        names = []
        while "claim" not in names:
            name, data = next_event(lines)
            names.append(name)
        assert (data["text"], data["decision"]) == ("First.", "assert")
        assert server.engine.running == 1
        gate.open()
        while name != "answer":
            name, data = next_event(lines)
    assert [claim["decision"] for claim in data["claims"]] == ["assert", "highlight"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/answers", {"question": "q"}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "q"}]}),
    ],
)
def test_silence_is_filled_with_comments(run, path, body) -> None:
    gate = Gate()
    server = run(ScriptedEngine({"q": Script([RESPONSE], gates={0: gate})}), keep_alive=0.01)
    with streaming(server, body, path) as lines:
        assert next(line for line in lines if line).startswith(":")
        assert next(line for line in lines if line).startswith(":")
        gate.open()
        assert any(line.startswith("data: ") for line in lines)


def test_a_comment_is_no_first_event(run) -> None:
    server = run(ScriptedEngine({"q": Script([RESPONSE], gates={0: Gate()})}), keep_alive=0.01)
    with streaming(server, {"question": "q"}) as lines:
        assert next(line for line in lines if line).startswith(":")
    counted = server.app.state.context.metrics.registry.get_sample_value
    ended = {"method": "POST", "endpoint": "/v1/answers", "status": "200"}
    until(lambda: counted("demur_requests_total", ended) == 1, server)
    assert counted("demur_time_to_first_event_seconds_count", {"endpoint": "/v1/answers"}) is None


def test_a_text_that_streams_is_not_interrupted_by_comments(run) -> None:
    server = run(ScriptedEngine({"q": Script([RESPONSE * 20], delay=0.001)}), keep_alive=5)
    with streaming(server, {"question": "q", "risk_threshold": 0}) as lines:
        assert not any(line.startswith(":") for line in lines)


@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("after", [0, 2])
def test_a_client_that_leaves_stops_the_engine(run, path, stream, after) -> None:
    gate = Gate()
    server = run(ScriptedEngine({"q": Script([RESPONSE], gates={after: gate})}))
    body = {"question": "q"} if path == "/v1/answers" else {"messages": [{"role": "user", "content": "q"}], "n": 3}
    running = 1 if path == "/v1/answers" else 3

    async def leave() -> None:
        async with httpx.AsyncClient(base_url=server.url) as client:
            asking = asyncio.create_task(client.post(path, json=body | {"stream": stream}))
            await asyncio.to_thread(gate.wait_reached)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    asyncio.run(leave())
    until(lambda: server.engine.running == 0, server)
    assert len(server.engine.cancelled) == running
    gate.open()


def test_leaving_in_the_middle_of_the_text_stops_the_engine(run) -> None:
    server = run(ScriptedEngine({"q": Script([CLAIMS * 1000], delay=0.001)}, max_model_len=100_000))
    with streaming(server, {"question": "q", "contract": "claims", "max_tokens": 90_000}) as lines:
        assert next_event(lines)
    until(lambda: server.engine.running == 0, server)
    assert len(server.engine.cancelled) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_the_timeout_stops_the_engine(run, stream) -> None:
    gate = Gate()
    server = run(ScriptedEngine({"q": Script([RESPONSE], gates={0: gate})}))
    body = {"question": "q", "timeout": 0.05, "stream": stream}
    response = httpx.post(f"{server.url}/v1/answers", json=body)
    assert response.status_code == 504
    assert response.json()["error"]["type"] == "timeout"
    assert response.json()["error"]["param"] == "timeout"
    assert (server.engine.running, len(server.engine.cancelled)) == (0, 1)


def test_a_timeout_after_the_stream_began_is_its_last_event(run) -> None:
    gate = Gate()
    server = run(ScriptedEngine({"q": Script([RESPONSE], gates={2: gate})}))
    with streaming(server, {"question": "q", "timeout": 0.5}) as lines:
        assert next_event(lines)[0] == "progress"
        name, data = next_event(lines)
        assert (name, data["type"], data["param"]) == ("error", "timeout", "timeout")
        assert list(lines) == [""]


@pytest.mark.parametrize(("error", "kind"), [(EngineDead("gone"), "unavailable"), (EngineError("odd"), "engine_error")])
def test_a_failure_after_the_stream_began_is_its_last_event(run, error, kind) -> None:
    server = run(ScriptedEngine({"q": Script([RESPONSE], error=error, error_after=2)}))
    with streaming(server, {"question": "q"}) as lines:
        assert next_event(lines)[0] == "progress"
        name, data = next_event(lines)
        assert (name, data["type"]) == ("error", kind)
        assert data.keys() == {"type", "code", "message", "param", "request_id"}
        with pytest.raises(EOFError):
            next_event(lines)


def test_death_reaches_every_request_in_flight(run) -> None:
    gate = Gate()
    server = run(ScriptedEngine({"q": Script([RESPONSE], gates={2: gate})}))

    async def all_in_flight() -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=server.url) as client:
            asking = [
                asyncio.create_task(client.post("/v1/answers", json={"question": "q", "stream": stream}))
                for stream in (False, True, False)
            ]
            while server.engine.running < 3:
                await client.get("/health")
            assert (await client.get("/ready")).status_code == 200
            server.engine.die()
            replies = await asyncio.gather(*asking)
            assert (await client.get("/ready")).status_code == 503
            assert (await client.get("/health")).status_code == 200
            replies.append(await client.post("/v1/answers", json={"question": "q"}))
            return replies

    whole, streamed, other, later = asyncio.run(all_in_flight())
    for reply in (whole, other, later):
        assert reply.status_code == 503
        assert reply.json()["error"]["type"] == "unavailable"
    assert streamed.text.rstrip().split("\n\n")[-1].startswith("event: error\n")


def test_streams_do_not_mix(run) -> None:
    server = run(ScriptedEngine(chunker=list))

    async def many() -> list[httpx.Response]:
        async with httpx.AsyncClient(
            base_url=server.url, limits=httpx.Limits(max_connections=50), timeout=60
        ) as client:
            bodies = [{"question": f"nonce {i}", "stream": True, "risk_threshold": 0} for i in range(50)]
            return await asyncio.gather(*(client.post("/v1/answers", json=body) for body in bodies))

    replies = asyncio.run(many())
    alone = [server.ask(f"nonce {i}", risk_threshold=0).json()["answer"] for i in range(50)]
    streamed = [json.loads(reply.text.rstrip().split("\n")[-1].removeprefix("data: "))["answer"] for reply in replies]
    assert streamed == alone
    assert len({reply.headers["x-request-id"] for reply in replies}) == 50
