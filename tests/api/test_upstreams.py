"""`demur serve --engine openai`: the whole server in a process of its own, in front of scripted hosts."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from demur.answering import RequestParams, UnresolvedRequest
from demur.answering.confidence import ScoringServices
from demur.answering.resolve import resolve
from demur.answering.sampling_settings import fit
from demur.engine.base import Message, Prompt
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.serving.command import run
from demur.settings import Settings, UpstreamSettings
from hostile_host import HostileHost, hostile
from live import serving

OUTPUT = ["Two and ", "two.\nAnswer: 4\n", "Confidence: 0.9"]


@dataclass
class Fleet:
    """Two hosts under one address. The second is out of order, and both want their own key."""

    seen: list[tuple[str, dict]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/{host}/v1/models", self.models),
                Route("/{host}/v1/chat/completions", self.complete, methods=["POST"]),
            ]
        )

    def _is_wrong(self, request: Request) -> bool:
        key = request.headers["authorization"]
        self.keys.add(key)
        return key != f"Bearer key-of-{request.path_params['host']}"

    async def models(self, request: Request) -> Response:
        if self._is_wrong(request):
            return JSONResponse({}, 401)
        return JSONResponse({"object": "list", "data": [{"id": "org/tiny", "owned_by": "vllm", "max_model_len": 512}]})

    async def complete(self, request: Request) -> Response:
        body = await request.json()
        self.seen.append((request.path_params["host"], body))
        if self._is_wrong(request) or request.path_params["host"] == "broken":
            return JSONResponse({"error": {"message": "out of order"}}, 500)
        if "too long" in body["messages"][-1]["content"]:
            return JSONResponse({"error": {"message": "maximum context length"}}, 400)
        several = body.get("n", 1) if request.path_params["host"] == "several" else 1
        return StreamingResponse(
            self.choices(several) if several > 1 else self.events(), media_type="text/event-stream"
        )

    async def choices(self, count: int) -> AsyncIterator[str]:
        """As many at once, each with the count of its tokens; the last of them has another answer."""
        for i in range(count):
            text = f"Answer: {4 if i < count - 1 else 5}\nConfidence: 0.{i + 1}"
            choice = {"index": i, "delta": {"content": text}, "finish_reason": "stop"}
            yield f"data: {json.dumps({'choices': [choice], 'usage': {'prompt_tokens': 9, 'completion_tokens': 8}})}\n\n"
        yield "data: [DONE]\n\n"

    async def events(self) -> AsyncIterator[str]:
        for i, text in enumerate(OUTPUT):
            reason = "stop" if i == len(OUTPUT) - 1 else None
            yield f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': text}, 'finish_reason': reason}]})}\n\n"
        yield f"data: {json.dumps({'choices': [], 'usage': {'prompt_tokens': 9, 'completion_tokens': 8}})}\n\n"
        yield "data: [DONE]\n\n"


@pytest.fixture
def fleet() -> Iterator[tuple[Fleet, str]]:
    fleet = Fleet()
    with serving(fleet.app()) as address:
        yield fleet, address


@contextmanager
def demur(*arguments: str, **environment: str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "demur", "serve", "--port", "0", "--engine", "openai", *arguments],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | environment,
    )
    assert process.stdout is not None
    try:
        found = re.fullmatch(r"demur answers on (\S+) with \S+ \((?:not )?calibrated\)\n", process.stdout.readline())
        assert found
        yield found[1]
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_answers_come_from_the_host_that_works(fleet, tmp_path: Path) -> None:
    hosts, address = fleet
    manifest = {"name": "demur-fleet", "calibrated": True, "contracts": ["response"]}
    (tmp_path / "demur.json").write_text(json.dumps(manifest))
    upstreams = [{"url": f"{address}/broken/v1", "key_env": "BROKEN_KEY"}, f"{address}/good/v1"]
    environment = {
        "DEMUR_UPSTREAMS": json.dumps(upstreams),
        "DEMUR_UPSTREAM_KEY": "key-of-good",
        "BROKEN_KEY": "key-of-broken",
    }
    with (
        demur("--manifest", str(tmp_path / "demur.json"), **environment) as server,
        httpx.Client(base_url=server) as client,
    ):
        reply = client.post("/v1/answers", json={"question": "2 + 2?", "samples": 3}).json()
        assert (reply["answer"], reply["confidence"], reply["model"]) == ("4", 0.9, "demur-fleet")
        assert (reply["calibrated"], reply["usage"]["completion_tokens"]) == (True, 24)
        assert client.get("/v1/models").json()["data"][0]["demur"]["max_model_len"] == 512
        refused = client.post("/v1/answers", json={"question": "too long"})
        assert (refused.status_code, refused.json()["error"]["type"]) == (400, "invalid_request")
        assert "maximum" not in refused.text
        counted = client.get("/metrics").text
        assert client.get("/ready").status_code == 200
    assert "broken" in {host for host, _ in hosts.seen}
    assert {body["model"] for _, body in hosts.seen} == {"org/tiny"}
    assert not any("structured_outputs" in body for _, body in hosts.seen)
    name = address.removeprefix("http://")
    assert f'demur_upstream_rests{{upstream="{name} 0"}} 1.0' in counted
    assert f'demur_upstream_rests{{upstream="{name} 1"}} 0.0' in counted
    assert hosts.keys == {"Bearer key-of-good", "Bearer key-of-broken"}
    assert "key-of" not in counted


def test_the_samples_of_a_vote_are_one_request_to_a_vllm_host(fleet) -> None:
    hosts, address = fleet
    with demur("--upstream", f"{address}/several/v1", DEMUR_UPSTREAM_KEY="key-of-several") as server:
        asked = {"question": "2 + 2?", "samples": 4, "selection": "majconf", "risk_threshold": 0, "seed": 7}
        reply = httpx.post(f"{server}/v1/answers", json=asked).json()
    (asked_of_host,) = [body for _, body in hosts.seen]
    assert (asked_of_host["n"], asked_of_host["seed"]) == (4, 7)
    assert reply["answer"] == "4"
    assert (reply["usage"]["completion_tokens"], reply["usage"]["samples_drawn"]) == (32, 4)


@pytest.mark.parametrize("forced", ["auto", "always"])
def test_a_model_nobody_described_is_forced_where_the_hosts_can(fleet, forced) -> None:
    """As a whole where that is said; an output that can be read is left alone otherwise."""
    hosts, address = fleet
    options = {"DEMUR_UPSTREAM_KEY": "key-of-good", "DEMUR_FORCE_CONTRACT": forced}
    with demur("--upstream", f"{address}/good/v1", **options) as server:
        reply = httpx.post(f"{server}/v1/answers", json={"question": "2 + 2?"}).json()
    assert (reply["model"], reply["calibrated"], reply["answer"]) == ("org/tiny", False, "4")
    (asked,) = [body for _, body in hosts.seen]
    assert ("structured_outputs" in asked) is (forced == "always")


def test_hostile_hosts_beside_one_that_works() -> None:
    """Every caller gets an answer or a typed error, the metrics stay numbers, and /ready asks no host anything."""
    kinds = ["401", "choices 5", "usage NaN, later", "usage 1e308, later", "a bomb", "refuses", "text without end"]
    host = HostileHost()
    with hostile(host) as address:
        upstreams = json.dumps([f"{address}/{quote(kind)}/v1" for kind in [*kinds, "good"]])
        with demur(DEMUR_UPSTREAMS=upstreams) as server, httpx.Client(base_url=server, timeout=30) as client:
            replies = [client.post("/v1/answers", json={"question": "2 + 2?", "max_tokens": 50}) for _ in range(30)]
            stated = [line.rsplit(" ", 1) for line in client.get("/metrics").text.splitlines() if line[0] != "#"]
            looks = host.looks.total()
            ready = [client.get("/ready").status_code for _ in range(100)]
            assert host.looks.total() - looks < len(ready)
            assert set(ready) == {200}
    statuses = [reply.status_code for reply in replies]
    answered = [reply for reply in replies if reply.status_code == 200 and reply.json()["answer"] == "4"]
    assert set(statuses) <= {200, 502}
    assert len(answered) >= 20
    assert all(r.json()["error"]["type"] == "engine_error" for r in replies if r.status_code == 502)
    counted = {name: float(value) for name, value in stated if name.startswith("demur")}
    assert all(math.isfinite(value) and value >= 0 for value in counted.values())
    assert counted['demur_tokens_total{kind="completion"}'] < 10_000
    assert counted[f'demur_upstream_rests{{upstream="{address.removeprefix("http://")} 7"}}'] == 0


@pytest.mark.parametrize(
    ("chosen", "pairs", "words"),
    [
        ({}, [], "--upstream"),
        ({"upstreams": ["http://127.0.0.1:9/v1"]}, [], "no upstream answers: 127.0.0.1:9"),
        ({"upstreams": ["127.0.0.1:9"]}, [], "--upstreams"),
        ({"upstreams": [{"url": "http://127.0.0.1:9/v1", "key_env": "NO_SUCH_KEY"}]}, [], "NO_SUCH_KEY"),
        ({"upstreams": ["http://127.0.0.1:9/v1"]}, ["dtype=float32"], "dtype"),
    ],
)
def test_what_cannot_be_is_one_line(capsys, logging_restored, chosen, pairs, words) -> None:
    assert run({"engine": "openai", "port": 0, **chosen}, pairs, []) in (1, 2)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert words in said


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("http://a/v1", ["http://a/v1"]),
        ("http://a/v1, https://b/v1", ["http://a/v1", "https://b/v1"]),
        (' [{"url": "http://a/v1", "key_env": "A"}, "http://b/v1"]', ["http://a/v1", "http://b/v1"]),
    ],
)
def test_upstreams_from_the_environment(text, urls) -> None:
    assert [upstream.url for upstream in Settings(upstreams=text).upstreams] == urls


@pytest.mark.parametrize("text", ["", "a", "[", "[7]", '[{"url": "http://a/v1", "key": "x"}]', "http://user:key@a/v1"])
def test_upstreams_that_cannot_be(text) -> None:
    with pytest.raises(ValidationError, match="upstreams"):
        Settings(upstreams=text)


@pytest.mark.parametrize(
    ("asked", "characters", "max_model_len", "max_tokens"),
    [
        ({}, 100, None, 1024),
        ({}, 100, 4096, 1024),
        ({}, 100, 512, 462),
        ({"max_tokens": 500}, 100, 512, 500),
        ({}, 2000, 512, 1024),
    ],
)
def test_a_default_is_cut_to_what_fits_a_model_far_away(asked, characters, max_model_len, max_tokens) -> None:
    turns = (Message(role="user", content="x" * characters),)
    manifest = Manifest(name="m")
    request = resolve(
        UnresolvedRequest(turns, RequestParams(**asked)),
        manifest,
        Settings(),
        ScoringServices(ScriptedEngine(), manifest),
    )
    assert fit(request, Prompt(turns), max_model_len).max_tokens == max_tokens


def test_upstreams_in_the_settings() -> None:
    settings = Settings(upstreams=["http://a/v1", {"url": "http://b/v1", "limit": 3}], upstream_key="secret")
    assert settings.upstreams == (UpstreamSettings(url="http://a/v1"), UpstreamSettings(url="http://b/v1", limit=3))
    assert "secret" not in repr(settings)
