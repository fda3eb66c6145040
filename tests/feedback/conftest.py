"""A server that keeps what it answers, in a file of SQLite, with a clock and chances that the test decides."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from demur.api.app import create_app
from demur.calibration.store import CalibratorStore
from demur.engine.scripted import ScriptedEngine, Source
from demur.feedback.database import open_database
from demur.feedback.opening import options_of
from demur.feedback.options import FeedbackOptions
from demur.feedback.service import Feedback
from demur.manifest import Manifest
from demur.settings import Settings

MANIFEST = Manifest.model_validate({"name": "demur-test", "calibrated": True, "contracts": ["response", "claims"]})
FINGERPRINT = "0123456789ab"


@dataclass
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def settings_of(**fields: Any) -> Settings:
    return Settings(**{"audit_share": 1.0, "learn_share": 0.0} | fields)


@dataclass
class Kept:
    """One server with its store."""

    app: FastAPI
    feedback: Feedback
    clock: Clock
    headers: dict[str, str] = field(default_factory=dict)

    def by(self, key: str) -> "Kept":
        """The same as the holder of another key."""
        return replace(self, headers={"authorization": f"Bearer {key}"})

    def call(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        async def request() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://demur") as client:
                return await client.request(method, path, headers=self.headers, **arguments)

        return asyncio.run(request())

    def ask(self, question: str = "How many eggs?", **fields: Any) -> dict[str, Any]:
        reply = self.call("POST", "/v1/answers", json={"question": question, **fields})
        assert reply.status_code == 200, reply.text
        return reply.json()

    def say(self, answer_id: str, **fields: Any) -> httpx.Response:
        return self.call("POST", "/v1/feedback", json={"answer_id": answer_id, **fields})

    def take(self, queue: str = "audit", limit: int = 1) -> list[dict[str, Any]]:
        self.feedback.flush()
        reply = self.call("GET", "/v1/feedback/queue", params={"queue": queue, "limit": limit})
        assert reply.status_code == 200, reply.text
        return reply.json()["items"]

    def summary(self) -> dict[str, Any]:
        return self.call("GET", "/v1/feedback/summary").json()


Keep = Callable[..., Kept]


@pytest.fixture
def database(tmp_path: Path) -> str:
    return str(tmp_path / "feedback.db")


@pytest.fixture
def keep(database: str) -> Iterator[Keep]:
    """keep(source, **settings): a server; all of one test share its database."""
    with ExitStack() as stack:

        def start(
            source: Source | str | None = None,
            *,
            seed: int = 0,
            url: str | None = None,
            options: FeedbackOptions | None = None,
            manifest: Manifest = MANIFEST,
            calibrators: tuple[Path, ...] = (),
            **fields: Any,
        ) -> Kept:
            settings, clock = settings_of(**fields), Clock()
            feedback = Feedback(
                open_database(url or database),
                options or options_of(settings),
                manifest,
                FINGERPRINT,
                settings,
                clock=clock,
                rng=Random(seed),
            )
            stack.callback(feedback.close)
            engine = ScriptedEngine((lambda _: source) if isinstance(source, str) else source or {})
            store = CalibratorStore(calibrators, FINGERPRINT)
            app = create_app(engine, manifest, settings, feedback=feedback, calibrators=store, fingerprint=FINGERPRINT)
            return Kept(app, feedback, clock)

        yield start
