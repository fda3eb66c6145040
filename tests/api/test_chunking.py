"""However the engine cuts its output into chunks: the same answer, and events that fold to it."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cut_streams import cut_by, fold
from demur.answering import Answerer, RequestParams, UnresolvedRequest
from demur.answering.events import Delta, Event, Final, Progress
from demur.engine.base import Message
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings

MANIFEST = Manifest(name="demur-test", calibrated=True, contracts=("response", "claims", "explicit_risk"))
TURNS = (Message(role="user", content="q"),)
LABELS = ["Solution:", "Answer:", "Confidence:", "\n", " ", "**", "<think>", "</think>"]
TAGS = ["<Confidence value=0.7", ' text="why">', "</Confidence>", "<IDK>", "<", ">", '"']
VALUES = ["0.9", "95%", "high", "4", "a < b", "\\boxed{4}", "ä𝑥🥚"]
PIECES = st.sampled_from(LABELS + TAGS + VALUES)
OUTPUTS = st.lists(PIECES, max_size=25).map("".join)
SETTINGS = Settings(allow_withheld=True)


async def events_of(output: str, sizes: list[int], fields: dict[str, Any]) -> list[Event]:
    engine = ScriptedEngine(lambda messages: output, chunker=cut_by(sizes))
    answerer = Answerer(engine, MANIFEST, SETTINGS, clock=lambda: 0)
    question = UnresolvedRequest(TURNS, RequestParams(**fields))
    return [event async for event in answerer.stream(answerer.open(question), answer_id="ans")]


@pytest.mark.parametrize(
    "fields",
    [
        {"contract": "response", "risk_threshold": 0.0},
        {"contract": "response", "risk_threshold": 0.8},
        {"contract": "response", "risk_threshold": 0.8, "include_withheld": True},
        {"contract": "claims", "risk_threshold": 0.8},
        {"contract": "claims", "risk_threshold": 0.8, "granularity": "response", "aggregation": "product"},
        {"contract": "explicit_risk", "risk_threshold": 0.0},
    ],
    ids=str,
)
@settings(max_examples=60, deadline=None)
@given(output=OUTPUTS, sizes=st.lists(st.integers(0, 9), max_size=40))
def test_every_way_of_cutting_gives_the_same(fields, output, sizes) -> None:
    *before, last = asyncio.run(events_of(output, sizes, fields))
    *whole, alone = asyncio.run(events_of(output, [], fields))
    assert isinstance(last, Final)
    assert last == alone
    assert fold(before) == fold(whole)
    shown, claims = fold(before)
    given_text = last.answer.text if last.answer.decision == "answer" else getattr(last.answer.withheld, "text", None)
    live = any(isinstance(event, Delta) for event in before)
    if live and given_text is not None:
        assert shown == given_text
        assert claims == list(last.answer.claims or getattr(last.answer.withheld, "claims", None) or ())
    if fields["contract"] == "explicit_risk" or fields.get("granularity") == "response":
        assert all(isinstance(event, Progress) for event in before)
