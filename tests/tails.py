"""Answers of a scripted engine whose tails are forced, and the texts that tests cut them out of."""

import asyncio
from contextlib import aclosing
from typing import Any

from demur.answering import Answerer, Final, RequestParams, UnresolvedRequest
from demur.answering.events import Event
from demur.engine.base import Message
from demur.engine.scripted import Script, ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings

MANIFEST = Manifest.uncalibrated("stock")
TURNS = (Message(role="user", content="q"),)
TAILS = {
    "response": " 42\nConfidence: 0.8",
    "claims": '0.8 text="the sum">40 + 2 < 43</Confidence>\nAnswer: 42',
    "explicit_risk": " 42",
}
WHOLE = {
    "response": "Answer: 42\nConfidence: 0.8",
    "claims": f"Solution:\n<Confidence value={TAILS['claims']}",
    "explicit_risk": "Answer: 42",
}
"""What a host writes that is asked in a further turn."""


def script(text: str, tail: str, **options: Any) -> Script:
    cut = {"finish_reason": options.pop("finish")} if "finish" in options else {}
    return Script([text], tail=Script([tail], **options), **cut)


def answerer(played: Script, **options: Any) -> Answerer:
    chunker = {"chunker": options.pop("chunker")} if "chunker" in options else {}
    engine = ScriptedEngine(lambda messages: played, **chunker)
    return Answerer(engine, MANIFEST, Settings(**options), clock=lambda: 0.0)


async def events_of(one: Answerer, **fields: Any) -> list[Event]:
    active = one.open(UnresolvedRequest(TURNS, RequestParams(**fields)))
    async with aclosing(one.stream(active, answer_id="ans")) as events:
        return [event async for event in events]


def ask(played: Script, **fields: Any) -> tuple[Final, ScriptedEngine]:
    one = answerer(played)
    *_, last = asyncio.run(events_of(one, **fields))
    assert isinstance(last, Final)
    assert isinstance(one.engine, ScriptedEngine)
    return last, one.engine


BEGUN = 'Solution:\n<Confidence value=0.8 text="sum">40 + 2 = 42</Confidence>\n'
CUT = [  # how the steps of a tail end, what is put behind them, what is written then, and what the last step is
    ('<Confidence value=0.6 text="so">The sum of the', "</Confidence>\nAnswer:", " 42", "The sum of the"),
    ('<Confidence value=0.6 text="so">The sum</Confi', "dence>\nAnswer:", " 42", "The sum"),
    ('<Confidence value=0.6 text="so">The sum</Confidence', ">\nAnswer:", " 42", "The sum"),
    ('<Confidence value=0.6 text="so">3 <', "</Confidence>\nAnswer:", " 42", "3 <"),
    ('<Confidence value=0.6 text="so">', "", "42</Confidence>\nAnswer: 42", "42"),
    ('<Confidence value=0.6 text="so"', ">", "42</Confidence>\nAnswer: 42", "42"),
    ('<Confidence value=0.6 text="s', '">', "42</Confidence>\nAnswer: 42", "42"),
    ("<Confidence value=0.6 te", 'xt="', 'so">42</Confidence>\nAnswer: 42', "42"),
    ("<Confidence value=0.6", ' text="', 'so">42</Confidence>\nAnswer: 42', "42"),
    ("<Confidence value=0.", "", '6 text="so">42</Confidence>\nAnswer: 42', "42"),
    ("<Confidence value=", "", '0.6 text="so">42</Confidence>\nAnswer: 42', "42"),
    ("<Conf", "idence value=", '0.6 text="so">42</Confidence>\nAnswer: 42', "42"),
    ("", "Answer:", " 42", None),
    ("Ans", "wer:", " 42", None),
    ("Answer:", "", " 42", None),
    ("Answer: 4", "", "2", None),
]
