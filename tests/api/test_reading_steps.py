"""How often samples are read: as rarely as what watches them allows, with the same replies, counts and bills."""

import asyncio
import re

import pytest

from demur.answering import Answerer, RequestParams, UnresolvedRequest
from demur.answering.errors import DeadlineExceeded
from demur.answering.reading_steps import STEP
from demur.engine.base import Message
from demur.engine.scripted import Gate, Script, ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings

OUTPUT = "Six hens lay one egg each.\nAnswer: 6\nConfidence: 0.9"
DOUBTFUL = (
    'Solution:\n<Confidence value=0.1 text="w">one is two</Confidence>\n'
    + '<Confidence value=0.9 text="v">and on it goes for some more words</Confidence>\n' * 4
    + "Answer: 2"
)


def steps(server) -> list[int | None]:
    return [one.sampling.step for one in server.engine.drawn]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"samples": 3}, None),
        ({"samples": 3, "stopping": "decided"}, None),
        ({"contract": "claims"}, None),
        ({"contract": "claims", "granularity": "response", "risk_threshold": 0.8}, None),
        ({"contract": "claims", "granularity": "response", "risk_threshold": 0.8, "stopping": "decided"}, STEP),
        ({"stream": True, "risk_threshold": 0.8}, STEP),
        ({"stream": True, "samples": 3}, STEP),
        ({"stream": True, "risk_threshold": 0}, 1),
        ({"stream": True, "contract": "claims"}, 1),
    ],
    ids=str,
)
def test_only_what_is_watched_is_read_in_steps(make, fields, expected) -> None:
    server = make(ScriptedEngine(lambda messages: OUTPUT))
    assert server.ask(**fields).status_code == 200
    assert set(steps(server)) == {expected}


@pytest.mark.parametrize("stream", [False, True])
def test_a_chat_shows_nothing_before_its_end_and_takes_it_whole(make, stream) -> None:
    server = make(ScriptedEngine(lambda messages: OUTPUT))
    assert server.chat(stream=stream).status_code == 200
    assert steps(server) == [None]


@pytest.mark.parametrize("fields", [{"samples": 2}, {"contract": "claims"}, {"include_raw": True}], ids=str)
def test_whole_and_streamed_replies_are_equal(make, events, fields) -> None:
    server = make(ScriptedEngine(lambda messages: [OUTPUT, "Seven.\nAnswer: 7\nConfidence: 0.2"]))
    whole = server.ask(**fields).json()
    last = events(server.ask(stream=True, **fields).text)[-1][1]
    for reply in (whole, last):
        del reply["id"], reply["created"]
    assert whole == last


@pytest.mark.parametrize("samples", [1, 2])
def test_a_whole_reply_that_runs_out_of_time_is_billed_for_what_was_generated(samples) -> None:
    gate = Gate()

    async def cut_short() -> int:
        engine = ScriptedEngine(lambda messages: Script([OUTPUT], gates={5: gate}))
        answerer = Answerer(engine, Manifest(name="m", contracts=("response",)), Settings(force_contract="never"))
        question = UnresolvedRequest((Message(role="user", content="q"),), RequestParams(samples=samples, timeout=0.3))
        active = answerer.open(question)
        with pytest.raises(DeadlineExceeded):
            await answerer.answer(active, answer_id="ans")
        assert engine.running == 0
        return active.tokens - active.prompt_tokens

    assert asyncio.run(cut_short()) == 5 * samples


def test_what_an_abstention_generated_in_vain_is_counted(make) -> None:
    server = make(ScriptedEngine(lambda messages: DOUBTFUL))
    asked = {"contract": "claims", "granularity": "response", "risk_threshold": 0.8, "stopping": "decided"}
    reply = server.ask(**asked).json()
    assert reply["reason"] == "below_threshold"
    metrics = server.call("GET", "/metrics").text
    late = float(re.search(r"^demur_tokens_past_decision_total (\S+)$", metrics, re.M)[1])
    assert 0 < late <= STEP
    assert reply["usage"]["completion_tokens"] < len(DOUBTFUL.split())
