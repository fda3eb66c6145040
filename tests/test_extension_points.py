"""A confidence source, a selection rule and an engine from outside the package answer a question through the server."""

import asyncio
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from demur.answering.confidence import SOURCES, FinishedSample, Score, ScoringServices
from demur.answering.params import RequestParams
from demur.api.app import create_app
from demur.core.answers import Reading
from demur.core.selection import RULES, Rule
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.serving.engines import ENGINES, Loaded
from demur.serving.server import open_app
from demur.settings import Settings

MANIFEST = Manifest(name="toy", calibrated=True, contracts=("response",))


@contextmanager
def registered(registry: MutableMapping[str, Any], name: str, entry: object) -> Iterator[None]:
    assert name not in registry
    registry[name] = entry
    try:
        yield
    finally:
        del registry[name]


async def post(app: Any, **body: Any) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://toy") as client:
        return await client.post("/v1/answers", json={"question": "q", **body})


async def get(app: Any, path: str) -> Any:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://toy") as client:
        return (await client.get(path)).json()


def app_with(*outputs: str) -> Any:
    return create_app(ScriptedEngine({"q": outputs}), MANIFEST, Settings())


class Brevity:
    """Short outputs are surer."""

    per_claim = False

    def unavailable(self, services: ScoringServices) -> str | None:
        return None if isinstance(services.engine, ScriptedEngine) else "only a scripted engine is ever brief"

    def refusal(self, params: RequestParams) -> str | None:
        return "brevity is the soul of one sample" if params.samples > 1 else None

    def scorer(self, services: ScoringServices) -> "Brevity":
        return self

    async def score(self, sample: FinishedSample) -> Score:
        return Score(Reading("value", 1 / len(sample.text.split())))


@pytest.fixture
def brevity() -> Iterator[None]:
    with registered(SOURCES, "brevity", Brevity()):
        yield


@pytest.mark.usefixtures("brevity")
def test_a_confidence_source_decides() -> None:
    app = app_with("Answer: 4\nConfidence: 0.9")
    reply = asyncio.run(post(app, confidence_source="brevity", risk_threshold=0.25)).json()
    assert (reply["answer"], reply["confidence"], reply["confidence_source"]) == ("4", 0.25, "brevity")
    withheld = asyncio.run(post(app, confidence_source="brevity", risk_threshold=0.26)).json()
    assert (withheld["decision"], withheld["answer"], withheld["confidence"]) == ("abstain", None, 0.25)
    assert asyncio.run(post(app)).json()["confidence"] == 0.9


@pytest.mark.usefixtures("brevity")
def test_a_confidence_source_is_listed_and_documented_and_may_refuse() -> None:
    app = app_with("Answer: 4\nConfidence: 0.9")
    refused = asyncio.run(post(app, confidence_source="brevity", samples=2))
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "confidence_source"
    assert "one sample" in refused.json()["error"]["message"]
    model = asyncio.run(get(app, "/v1/models"))["data"][0]["demur"]
    assert model["confidence_sources"] == ["verbalized", "brevity"]
    schema = asyncio.run(get(app, "/openapi.json"))["components"]["schemas"]["AnswerRequest"]
    assert schema["properties"]["confidence_source"]["enum"] == ["verbalized", "critic", "brevity"]


def test_a_source_that_nobody_registered_is_an_error_that_names_the_others() -> None:
    refused = asyncio.run(post(app_with("Answer: 4"), confidence_source="brevity"))
    assert refused.status_code == 400
    assert "'verbalized' or 'critic'" in refused.json()["error"]["message"]


LEAST = Rule(lambda tally: (-tally.top,), min, lambda tallies, k, remaining, budget: False)
"""The least sure group wins."""


def test_a_selection_rule_chooses() -> None:
    app = app_with("Answer: 4\nConfidence: 0.9", "Answer: 5\nConfidence: 0.2", "Answer: 4\nConfidence: 0.8")
    with registered(RULES, "least", LEAST):
        reply = asyncio.run(post(app, samples=3, selection="least", risk_threshold=0.1)).json()
    assert (reply["answer"], reply["confidence"]) == ("5", 0.2)


class ToyLoader:
    takes_arguments = True
    compares_formulas = False

    async def load(self, settings: Settings, arguments: Mapping[str, Any]) -> Loaded:
        output = f"Answer: {arguments['answer']}\nConfidence: 1.0"
        return Loaded(ScriptedEngine({"q": [output]}), MANIFEST)


def test_an_engine_is_started_and_answers() -> None:
    async def ask() -> Any:
        async with open_app(Settings(engine="toy"), {"answer": 17}) as app:
            return (await post(app)).json()

    with registered(ENGINES, "toy", ToyLoader()):
        assert asyncio.run(ask())["answer"] == "17"
    with pytest.raises(ValueError, match="'vllm', 'openai' or 'scripted'"):
        Settings(engine="toy")
