"""A contract, a confidence source, a selection rule and an engine from outside the package answer a question."""

import asyncio
import re
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from demur import prompts
from demur.answering.confidence import SOURCES, FinishedSample, Needs, Score, ScoringServices, Signal
from demur.answering.params import RequestParams
from demur.api.app import create_app
from demur.core import parsing
from demur.core.answers import Completion
from demur.core.contracts import CONTRACTS, Contract, Draft, Tail
from demur.core.parsing.lexer import Token
from demur.core.reader import detect_contract, read
from demur.core.selection import RULES, Rule
from demur.engine.demo import demo_answer
from demur.engine.scripted import Script, ScriptedEngine
from demur.manifest import Manifest
from demur.serving.app_loading import open_app
from demur.serving.engine_loaders import ENGINES, Loaded
from demur.settings import Settings
from demur_training.rewards import check_settings, compute_score

ROOT = Path(__file__).parents[1]

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
    votes = True

    def needs(self, services: ScoringServices) -> Needs:
        return Needs()

    def unavailable(self, services: ScoringServices) -> str | None:
        return None if isinstance(services.engine, ScriptedEngine) else "only a scripted engine is ever brief"

    def refusal(self, params: RequestParams, services: ScoringServices) -> str | None:
        return "brevity is the soul of one sample" if params.samples > 1 else None

    def scorer(self, services: ScoringServices) -> "Brevity":
        return self

    async def score(self, sample: FinishedSample) -> Score:
        return Score(Signal(1 / len(sample.text.split())))


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
    assert model["confidence_sources"] == ["verbalized", "answer_logprob", "agreement", "p_true", "brevity"]
    schema = asyncio.run(get(app, "/openapi.json"))["components"]["schemas"]["AnswerRequest"]
    assert schema["properties"]["confidence_source"]["enum"] == model["confidence_sources"]


def test_a_source_that_nobody_registered_is_an_error_that_names_the_others() -> None:
    refused = asyncio.run(post(app_with("Answer: 4"), confidence_source="brevity"))
    assert refused.status_code == 400
    assert "'verbalized', 'critic'" in refused.json()["error"]["message"]


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


VERDICT = Contract(
    name="verdict",
    summary="yes or no, and a confidence in words of its own",
    template="{task} Answer yes or no and say how sure you are.\nVerdict: yes or no\nSureness: 0 to 1\n\n{question}",
    pattern=r"Verdict: (yes|no)\nSureness: 0\.[0-9]",
    parser=lambda settings: VerdictParser(),
    render=lambda solution: f"Verdict: {solution.answer}\nSureness: {solution.confidence}",
    recognizes=lambda output: output.startswith("Verdict:"),
)


class VerdictParser:
    """Shows nothing before the end: two lines are soon read."""

    running_confidence = None

    def __init__(self) -> None:
        self._text = ""

    def take(self, token: Token) -> list[parsing.Event]:
        self._text += token.raw
        return []

    def finish(self) -> tuple[list[parsing.Event], Completion]:
        found = dict(line.split(": ", 1) for line in self._text.splitlines() if ": " in line)
        read = parsing.read_probability(found.get("Sureness", ""))
        answer = found.get("Verdict")
        return [], Completion("verdict", answer, read.value, read.state, self._text)


@pytest.fixture
def verdict() -> Iterator[None]:
    with registered(CONTRACTS, "verdict", VERDICT):
        yield


@pytest.mark.usefixtures("verdict")
def test_a_contract_is_asked_read_and_decided_on() -> None:
    engine = ScriptedEngine({"q": ["Verdict: yes\nSureness: 0.7"]})
    app = create_app(engine, Manifest(name="toy", contracts=("verdict",)), Settings(force_contract="always"))
    reply = asyncio.run(post(app, contract="verdict", risk_threshold=0.7)).json()
    assert (reply["contract"], reply["answer"], reply["confidence"]) == ("verdict", "yes", 0.7)
    assert asyncio.run(post(app, risk_threshold=0.71)).json()["reason"] == "below_threshold"
    model = asyncio.run(get(app, "/v1/models"))["data"][0]["demur"]
    assert set(model["prompts"]) == {"verdict"}


@pytest.mark.usefixtures("verdict")
def test_a_contract_without_tails_is_forced_as_a_whole() -> None:
    engine = ScriptedEngine({"q": ["Verdict: yes\nSureness: 0.7"]})
    asyncio.run(post(create_app(engine, Manifest(name="toy", contracts=("verdict",)), Settings())))
    assert [drawn.sampling.constraint for drawn in engine.drawn] == [VERDICT.pattern]


def sureness(draft: Draft) -> list[Tail]:
    if draft.completion.state == "value":
        return []
    asked = {"request": "How sure are you?", "request_pattern": r"Sureness: 0\.[0-9]"}
    return [Tail(opening="\nSureness:", pattern=r" 0\.[0-9]", example=" 0.5", **asked)]


def test_a_contract_brings_its_own_tail() -> None:
    settled = replace(VERDICT, tails=sureness, untrained_template="{task} Yes or no? Think first.\n{question}")
    engine = ScriptedEngine({"q": Script(["Verdict: yes"], tail=Script([" 0.7"]))})
    with registered(CONTRACTS, "verdict", settled):
        app = create_app(engine, Manifest(name="toy", contracts=("verdict",)), Settings())
        reply = asyncio.run(post(app)).json()
    assert (reply["answer"], reply["confidence"]) == ("yes", 0.7)
    assert reply["settled"] == {"by": "continued", "after": "stop"}
    assert "Think first." in engine.drawn[0].messages[0]["content"]


@pytest.mark.usefixtures("verdict")
def test_a_contract_is_known_to_prompts_reader_and_demo() -> None:
    assert prompts.wrap("q?", "verdict").endswith("Sureness: 0 to 1\n\nq?")
    assert detect_contract("Verdict: no\nSureness: 0.2") == "verdict"
    (output, *_) = demo_answer(prompts.messages("Which is larger, 9.11 or 9.9?", "verdict"))
    assert read(output, "verdict").answer == "9.9"


@pytest.mark.usefixtures("verdict")
def test_a_contract_may_be_trained() -> None:
    check_settings({"rule": "brier", "contract": "verdict"})
    reward = compute_score("toy", "Verdict: yes\nSureness: 1.0", "yes", contract="verdict")
    assert (reward["valid"], reward["confidence"], reward["score"]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("room", ["server/demur", "training/demur_training"])
def test_no_contract_is_compared_by_name(room: str) -> None:
    """What differs between contracts is a field of the contract."""
    compared = re.compile(r"(?<!force_)contract\b[\"'\])]* (?:==|!=|in|not in) [(\[{]?[\"']")
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in (ROOT / room).rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if compared.search(line)
    ]
    assert not wrong, "\n".join(wrong)
