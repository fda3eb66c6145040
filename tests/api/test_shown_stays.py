"""What a stream shows is in the final reply too, wherever the output is cut and whatever is decided then."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing
from itertools import product
from typing import Any

import pytest

from demur.answering import Answer, Answerer, Final, RequestParams, UnresolvedRequest
from demur.answering.events import ClaimGiven, Delta, Event, Reset
from demur.engine.base import Message
from demur.engine.scripted import Script, ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings

CLAIMS = (
    'First 2 * 20.\nSolution:\n<Confidence value=0.97 text="small">2 * 20 = 40</Confidence>\n'
    '<Confidence value=0.4 text="not > sure">40 + 30 = 70</Confidence>\nAnswer:70'
)
RESTARTED = 'Solution:\n<Confidence value=0.5 text="a">one</Confidence>\nSolution:\nIt is two.\nAnswer:2'
BARE = "It is 70.\nSolution:\nIt is 70, \\boxed{70}.\nAnswer:70"
RESPONSE = "<think>Two rows.</think>Two rows are 40.\nAnswer: 60\nNo: more.\nAnswer: 70\nConfidence: 0.7"
UNREADABLE = "Two rows are 40.\nAnswer: 70\nConfidence: very high"
IDK = "Two rows are 40.\nAnswer: <IDK>"
OUTPUTS = [CLAIMS, RESTARTED, BARE, RESPONSE, UNREADABLE, IDK]
LEVELS = [("response", "response"), ("claims", "claims"), ("claims", "response"), ("explicit_risk", "response")]
ASKED = [
    {"contract": contract, "granularity": granularity, "risk_threshold": t, "include_withheld": withheld}
    for (contract, granularity), t, withheld in product(LEVELS, (0.0, 0.5, 0.99), (False, True))
]


def answerer(output: str, finish: Any) -> Answerer:
    engine = ScriptedEngine(
        lambda messages: Script([output], finish_reason=finish),
        chunker=lambda text: [text[i : i + 5] for i in range(0, len(text), 5)],
    )
    manifest = Manifest(name="test", calibrated=True, contracts=("response", "claims", "explicit_risk"))
    return Answerer(engine, manifest, Settings(), clock=lambda: 0.0)


async def streamed(output: str, finish: str, fields: dict[str, Any]) -> tuple[str, list[Any], Answer]:
    """What somebody who followed the events has on the screen before the last one, and the reply."""
    one, text, claims = answerer(output, finish), "", list[Any]()
    active = one.open(UnresolvedRequest((Message(role="user", content="q"),), RequestParams(**fields)))
    async with aclosing(one.stream(active, answer_id="ans_1")) as events:
        async for event in events:
            if isinstance(event, Final):
                return text, claims, event.answer
            text, claims = fold(text, claims, event)
    raise AssertionError("a stream ends with the answer")


def fold(text: str, claims: list[Any], event: Event) -> tuple[str, list[Any]]:
    match event:
        case Delta():
            return text + event.text, claims
        case ClaimGiven():
            return text, [*claims, event.claim]
        case Reset():
            return "", []
        case _:
            return text, claims


def cuts(output: str) -> Iterator[tuple[str, str]]:
    """Every beginning of an output as it is when the token limit cuts it, and the whole as it ends."""
    yield from ((output[:i], "length") for i in range(len(output) + 1))
    yield output, "stop"


@pytest.mark.parametrize("output", OUTPUTS, ids=["claims", "restarted", "bare", "response", "unreadable", "idk"])
@pytest.mark.parametrize("fields", ASKED, ids=lambda f: "-".join(str(value) for value in f.values()))
def test_a_stream_shows_nothing_that_the_reply_does_not(output: str, fields: dict[str, Any]) -> None:
    async def all_cuts() -> None:
        for cut, finish in cuts(output):
            text, claims, reply = await streamed(cut, finish, fields)
            check(text, claims, reply, fields)

    asyncio.run(all_cuts())


def check(text: str, claims: list[Any], reply: Answer, fields: dict[str, Any]) -> None:
    whatever = fields["granularity"] == "claims" or (
        fields["risk_threshold"] == 0 and reply.contract != "explicit_risk"
    )
    shown = reply if reply.text is not None else reply.withheld
    if text or claims:
        assert shown is not None
        assert (shown.text, list(shown.claims or ())) == (text, claims)
    if reply.decision == "abstain":
        assert reply.answer is None
        assert reply.reason is not None
        assert (reply.text is not None) == (whatever and bool(text or claims))
        assert (reply.withheld is not None) == fields["include_withheld"]
        assert reply.raw is None


@pytest.mark.parametrize(
    "fields", [f for f in ASKED if not f["include_withheld"]], ids=lambda f: "-".join(map(str, f.values()))
)
@pytest.mark.parametrize("output", [CLAIMS, RESPONSE])
def test_a_reply_is_the_same_streamed_and_in_one_piece(make, events, output: str, fields: dict[str, Any]) -> None:
    server = make(ScriptedEngine(lambda messages: output))
    for most in range(1, len(output.split()) + 2, 2):
        whole = server.ask(max_tokens=most, **fields).json()
        last = events(server.ask(max_tokens=most, stream=True, **fields).text)[-1][1]
        assert {**last, "id": None, "created": None} == {**whole, "id": None, "created": None}


def test_text_that_can_be_shown_at_once_is_one_event(make, events) -> None:
    """Without a `Solution:` line all of it is shown at the end, however it came."""
    server = make(ScriptedEngine(lambda messages: "40 and 30 " * 100 + "are 70.\nAnswer: 70"))
    told = events(server.ask(contract="claims", risk_threshold=0.5, stream=True).text)
    assert [data["text"] for name, data in told if name == "delta"] == [told[-1][1]["text"]]


@pytest.mark.parametrize("stream", [False, True])
def test_a_chat_keeps_its_sentence_and_has_the_text_beside_it(make, stream: bool) -> None:
    server = make(ScriptedEngine(lambda messages: CLAIMS))
    reply = server.chat(contract="claims", max_tokens=14, risk_threshold=0.99, stream=stream)
    lines = [line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: {")]
    choices = [json.loads(line)["choices"][0] for line in lines] if stream else reply.json()["choices"]
    written = "".join(choice["delta"].get("content", "") for choice in choices) if stream else None
    content = written if stream else choices[0]["message"]["content"]
    demur = next(choice["demur"] for choice in choices if choice.get("demur"))
    assert content == "I abstain: the output was cut off at the token limit."
    assert (demur["decision"], demur["reason"], demur["answer"]) == ("abstain", "truncated", None)
    assert demur["text"].startswith("2 * 20 = 40")
    assert demur["claims"][0]["decision"] == "highlight"


def test_a_vote_shows_no_text_of_an_abstention(make) -> None:
    """Several samples never stream their text, so none of it stays."""
    server = make(ScriptedEngine(lambda messages: Script([CLAIMS[:90]], finish_reason="length")))
    for fields in ({"contract": "claims"}, {"contract": "response", "risk_threshold": 0}):
        reply = server.ask(samples=2, **fields).json()
        assert (reply["decision"], reply["text"], reply["claims"]) == ("abstain", None, None)
