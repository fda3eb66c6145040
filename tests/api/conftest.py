"""An app around the scripted engine: called in process, or behind a real uvicorn where a stream has to be live."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from calibrated_server import Served
from demur.api.app import create_app
from demur.engine.scripted import ScriptedEngine
from demur.engine.scripted_critic import ScriptedCritic
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving

QUESTION = "How many eggs?"


@pytest.fixture
def logging_restored() -> Iterator[None]:
    """For tests that call the command line in this process, which sets up logging for itself."""
    loggers = [logging.getLogger(name) for name in ("demur", "uvicorn")]
    before = [(one.handlers, one.propagate, one.level) for one in loggers]
    yield
    for one, (one.handlers, one.propagate, level) in zip(loggers, before, strict=True):
        one.setLevel(level)


@dataclass(frozen=True)
class Server:
    """An app with its engine and critic; `url` where uvicorn serves it."""

    app: FastAPI
    engine: ScriptedEngine
    url: str = "http://in-process"
    critic: ScriptedCritic | None = None

    def call(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        """One request in process; a stream comes back when it is over."""

        async def request() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=self.url) as client:
                return await client.request(method, path, **arguments)

        return asyncio.run(request())

    def ask(self, question: str = QUESTION, **fields: Any) -> httpx.Response:
        return self.call("POST", "/v1/answers", json={"question": question, **fields})

    def chat(self, content: str = QUESTION, **fields: Any) -> httpx.Response:
        messages = [{"role": "user", "content": content}]
        return self.call("POST", "/v1/chat/completions", json={"messages": messages, **fields})


def build(
    engine: ScriptedEngine | None = None,
    *,
    manifest: dict[str, Any] | None = None,
    critic: ScriptedCritic | None = None,
    clock: Callable[[], float] = time.monotonic,
    **settings: Any,
) -> Server:
    """The server that the wire vectors assume, with differences."""
    engine = engine or ScriptedEngine()
    model = {"name": "demur-test", "calibrated": True, "contracts": ["response", "claims", "explicit_risk"]}
    described = Manifest.model_validate(model | (manifest or {}))
    return Server(
        create_app(engine, described, Settings(**settings), critic=critic, clock=clock), engine, critic=critic
    )


@contextmanager
def running(server: Server) -> Iterator[Server]:
    with serving(server.app, server.app.state.context.answerer.settings) as url:
        yield replace(server, url=url)


@pytest.fixture
def make() -> Callable[..., Server]:
    """Builds a server in process."""
    return build


@pytest.fixture
def served(make: Callable[..., Server], tmp_path: Path) -> Served:
    return Served(make, tmp_path)


@pytest.fixture
def run() -> Iterator[Callable[..., Server]]:
    """Builds a server behind a real uvicorn; all stop when the test ends."""
    with ExitStack() as stack:
        yield lambda *arguments, **settings: stack.enter_context(running(build(*arguments, **settings)))


@pytest.fixture
def events() -> Callable[[str], list[tuple[str, Any]]]:
    """Splits the text of an event stream into (name, data); comment lines are left out."""

    def split(text: str) -> list[tuple[str, Any]]:
        found = []
        for block in text.split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if fields:
                found.append((fields.get("event", "message"), json.loads(fields["data"])))
        return found

    return split
