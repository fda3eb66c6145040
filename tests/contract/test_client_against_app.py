"""The real client against the real app on a real socket; only the model is scripted."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from demur.api.app import create_app
from demur.engine.base import EngineError, Message
from demur.engine.scripted import Gate, Script, ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings
from demur_client import (
    NO_RETRY,
    AnswerEvent,
    AsyncClient,
    ClaimEvent,
    Client,
    DeltaEvent,
    Failure,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ProgressEvent,
    ResetEvent,
    ServerError,
    StreamError,
)
from live import serving

LIMIT = 1000
"""Round trips after which something that has to happen has not."""

VECTORS = {
    file.stem: json.loads(file.read_text())
    for file in sorted((Path(__file__).parents[1] / "vectors" / "replies").glob("*.json"))
}
MOVABLE = {
    name: vector
    for name, vector in VECTORS.items()
    if vector["reply"]["contract"] != "explicit_risk" and len(vector["completions"]) == 1
}
MODEL = {"name": "demur-test", "calibrated": True, "contracts": ["response", "claims", "explicit_risk"]}
RESPONSE = "Two rows of 20 are 40. With 30 more that makes 70.\nAnswer: 70\nConfidence: {}"
CLAIMS = """Rows first.
Solution:
<Confidence value=0.97 text="a small product">2 * 20 = 40</Confidence>
<Confidence value=0.62 text="the sum was not checked">40 + 30 = 70</Confidence>
Answer:70"""


@dataclass(frozen=True)
class Running:
    """A server with its engine, and a client of it."""

    engine: ScriptedEngine
    url: str
    client: Client

    def until_idle(self) -> None:
        """Return when the engine has been told to stop its work; each round trip lets the server go on."""
        for _ in range(LIMIT):
            if httpx.get(f"{self.url}/health").is_success and self.engine.running == 0:
                break
        assert (self.engine.running, len(self.engine.cancelled)) == (0, 1)


@pytest.fixture
def run() -> Iterator[Callable[..., Running]]:
    """run(script, **settings): the real app, answering every question as the script says."""
    with ExitStack() as stack:

        def start(script: str | Script, **settings: Any) -> Running:
            engine = ScriptedEngine(lambda messages: script)
            app = create_app(engine, Manifest.model_validate(MODEL), Settings(**settings))
            url = stack.enter_context(serving(app))
            return Running(engine, url, stack.enter_context(Client(base_url=url, retry=NO_RETRY)))

        yield start


def test_answer_and_abstention(run: Callable[..., Running]) -> None:
    client = run(RESPONSE.format(0.62)).client
    given, abstained = (client.answer("How many?", risk_threshold=t) for t in (0.6, 0.8))
    assert (given.answer, given.confidence, given.reason) == ("70", 0.62, None)
    assert given.text == "Two rows of 20 are 40. With 30 more that makes 70."
    assert (abstained.answer, abstained.text, abstained.reason) == (None, None, "below_threshold")
    assert given.id != abstained.id
    assert given.usage.samples_drawn == 1


@pytest.fixture(scope="module")
def replaying() -> Iterator[Client]:
    """A client of a server that answers the question "[name]" with the completion of that reply vector."""

    def script(messages: Sequence[Message]) -> Script:
        name = messages[-1]["content"].partition("[")[2].partition("]")[0]
        completion = MOVABLE[name]["completions"][0]
        return Script([completion["text"]], finish_reason=completion["finish_reason"])

    app = create_app(ScriptedEngine(script), Manifest.model_validate(MODEL), Settings())
    with serving(app) as url, Client(base_url=url, retry=NO_RETRY) as client:
        yield client


@pytest.mark.parametrize("name", MOVABLE)
def test_at_decides_as_the_server_does(replaying: Client, name: str) -> None:
    """Ask once with withheld text, move the threshold in the client; ask anew at each threshold; compare."""
    options = MOVABLE[name]["request"] | {"question": f"[{name}]", "include_withheld": True}
    start = replaying.answer(**options)
    for t in (0.0, 0.4, 0.62, 0.63, 0.8, 1.0):
        served, moved = replaying.answer(**options | {"risk_threshold": t}), start.at(t)
        assert (moved.decision, moved.answer, moved.text) == (served.decision, served.answer, served.text)
        assert (moved.claims, moved.withheld) == (served.claims, served.withheld)
        assert moved.reason == served.reason or (start.risk_threshold, moved.reason) == (0.0, "confidence_missing")


def test_claims_stream_as_they_close(run: Callable[..., Running]) -> None:
    client = run(CLAIMS).client
    with client.stream("How many?", contract="claims", risk_threshold=0.8) as stream:
        events = list(stream)
    claims = tuple(event.claim for event in events if isinstance(event, ClaimEvent))
    last = events[-1]
    assert isinstance(last, AnswerEvent)
    assert claims == last.answer.claims
    assert "".join(event.text for event in events if isinstance(event, DeltaEvent)) == last.answer.text
    assert [claim.decision for claim in claims] == ["assert", "highlight"]
    assert [last.answer.text[slice(*claim.span)] for claim in claims] == ["2 * 20 = 40", "40 + 30 = 70"]


def test_a_claim_arrives_while_the_model_still_writes(run: Callable[..., Running]) -> None:
    gate = Gate()
    before = CLAIMS[: CLAIMS.index("</Confidence>") + len("</Confidence>")]
    running = run(Script([CLAIMS], gates={len(before.split()) + 1: gate}))
    with running.client.stream("How many?", contract="claims") as stream:
        first = next(event for event in stream if isinstance(event, ClaimEvent))
        gate.wait_reached()
        assert running.engine.running == 1
        gate.open()
        assert stream.result().claims[0] == first.claim


def test_a_second_solution_resets(run: Callable[..., Running]) -> None:
    wrong = 'Solution:\n<Confidence value=0.9 text="a guess">It is 80</Confidence>\nNo.\n'
    with run(wrong + CLAIMS).client.stream("How many?", contract="claims") as stream:
        events = list(stream)
    assert any(isinstance(event, ResetEvent) for event in events)
    assert [claim.text for claim in stream.transcript.claims] == ["2 * 20 = 40", "40 + 30 = 70"]
    assert stream.transcript.text == stream.result().text


def test_nothing_withheld_is_streamed(run: Callable[..., Running]) -> None:
    with run(RESPONSE.format(0.62)).client.stream("How many?", risk_threshold=0.8) as stream:
        events = list(stream)
    assert {type(event) for event in events} <= {ProgressEvent, AnswerEvent}
    assert stream.transcript.text == ""
    assert not stream.result()


def test_withheld_text_is_refused_where_the_operator_forbids_it(run: Callable[..., Running]) -> None:
    client = run(RESPONSE.format(0.62), allow_withheld=False).client
    with pytest.raises(PermissionDeniedError) as raised:
        client.answer("How many?", include_withheld=True)
    assert (raised.value.status, raised.value.param) == (403, "include_withheld")


def test_errors_name_field_and_request(run: Callable[..., Running]) -> None:
    client = run(RESPONSE.format(0.9)).client
    with pytest.raises(InvalidRequestError) as invalid:
        client.answer("How many?", risk_threshold=7)
    assert invalid.value.param == "risk_threshold"
    assert invalid.value.request_id
    with pytest.raises(NotFoundError) as unknown:
        client.stream("How many?", model="another").result()
    assert unknown.value.param == "model"


def test_an_address_that_is_no_demur_server(run: Callable[..., Running]) -> None:
    with Client(base_url=f"{run('').url}/elsewhere") as client, pytest.raises(NotFoundError):
        client.answer("How many?")


def test_engine_trouble_is_a_server_error_before_and_a_stream_error_after_the_start(
    run: Callable[..., Running],
) -> None:
    at_once = run(Script([CLAIMS], error=EngineError("broken")))
    with pytest.raises(ServerError):
        at_once.client.answer("How many?", contract="claims")
    later = run(Script([CLAIMS], error=EngineError("broken"), error_after=20))
    with pytest.raises(StreamError) as raised:
        later.client.stream("How many?", contract="claims").result()
    assert raised.value.request_id
    assert raised.value.type == "engine_error"


def test_leaving_a_stream_stops_the_engine(run: Callable[..., Running]) -> None:
    gate = Gate()
    running = run(Script([CLAIMS], gates={8: gate}))
    with running.client.stream("How many?", contract="claims") as stream:
        next(stream)
        gate.wait_reached()
    running.until_idle()


def test_cancelling_a_task_stops_the_engine(run: Callable[..., Running]) -> None:
    gate = Gate()
    running = run(Script([CLAIMS], gates={8: gate}))

    async def ask() -> None:
        async with AsyncClient(base_url=running.url) as client:
            task = asyncio.create_task(client.answer("How many?"))
            await asyncio.to_thread(gate.wait_reached)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(ask())
    running.until_idle()


def test_many_questions_with_one_bad_one(run: Callable[..., Running]) -> None:
    client = run(RESPONSE.format(0.9)).client
    answers = client.answer_many(["a?", "", "c?"], concurrency=3)
    assert [bool(answer) for answer in answers] == [True, False, True]
    assert isinstance(answers[1], Failure)
    assert answers[1].error.param == "question"
