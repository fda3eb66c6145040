"""Where the files are, and what the real app exposes."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families

from demur.api.app import create_app
from demur.core.contracts import CONTRACTS
from demur.engine.scripted import ScriptedEngine
from demur.feedback.opening import open_feedback
from demur.feedback.watching import Watched
from demur.manifest import Manifest
from demur.settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def deploy() -> Path:
    return ROOT / "deploy"


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """One that keeps answers as well."""
    settings = Settings(feedback_db=str(tmp_path_factory.mktemp("feedback") / "feedback.db"))
    manifest = Manifest(name="demur-test", contracts=tuple(CONTRACTS))
    with open_feedback(settings, manifest, "0123456789ab") as feedback:
        yield create_app(ScriptedEngine(), manifest, settings, feedback=feedback)


@pytest.fixture(scope="session")
def served_paths(app: FastAPI) -> set[str]:
    return set(app.openapi()["paths"])


@pytest.fixture(scope="session")
def exposed(app: FastAPI) -> dict[str, set[str]]:
    """Series name -> its label names, as the app shows them after an answer, an abstention and a refusal."""
    context = app.state.context
    context.metrics.admission.refused.labels("queue_full")  # a series appears with its first label
    context.feedback.metrics.grades.labels("audit", "right")
    context.feedback.metrics.shadow.labels("cal_2", "only_shadow")
    context.feedback.metrics.show(
        [
            Watched(
                name="m",
                max_error=0.1,
                threshold=0.5,
                count=0,
                wrong=0,
                e_value=1.0,
                alpha=0.05,
                alarm_at=None,
                processes={},
            )
        ]
    )
    text = asyncio.run(_ask_and_scrape(app))
    return {
        sample.name: {name for other in family.samples if other.name == sample.name for name in other.labels}
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def _ask_and_scrape(app: FastAPI) -> str:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://in-process") as client:
        for t in (0.0, 1.0):
            await client.post("/v1/answers", json={"question": "How many eggs?", "risk_threshold": t})
        return (await client.get("/metrics")).text
