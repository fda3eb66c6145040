"""Several samples for one answer: the vote, stopping early, and what of it may be seen."""

import asyncio
import re

import httpx
import pytest

from demur.answering import Answerer, RequestParams, UnresolvedRequest
from demur.answering.errors import DeadlineExceeded
from demur.answering.events import Final
from demur.engine.base import EngineError, Message
from demur.engine.scripted import Gate, Script, ScriptedEngine
from demur.grading import Grader
from demur.manifest import Manifest
from demur.settings import Settings


def output(answer: str, confidence: object = 0.9) -> str:
    return f"Reasons for {answer}.\nAnswer: {answer}\nConfidence: {confidence}"


def tokens_saved(server) -> dict[str, float]:
    """By what saved them."""
    series = re.findall(r'^demur_tokens_saved_total\{by="(\w+)"\} (\S+)$', server.call("GET", "/metrics").text, re.M)
    return {by: float(tokens) for by, tokens in series}


def engine(*outputs: str) -> ScriptedEngine:
    return ScriptedEngine(lambda messages: Script(outputs))


@pytest.mark.parametrize(
    ("selection", "answer", "confidence"), [("maxconf", "7", 0.95), ("majconf", "8", 0.6), ("majority", "8", None)]
)
def test_the_rule_chooses(make, selection, answer, confidence) -> None:
    server = make(engine(output("7", 0.95), output("8", 0.6), output("8.0", 0.5)))
    reply = server.ask(samples=3, selection=selection, risk_threshold=0.1).json()
    assert reply["answer"] == answer
    assert reply["text"] == f"Reasons for {answer}."
    assert confidence in (None, reply["confidence"])
    assert [group["members"] for group in reply["samples"]["groups"] if group["chosen"]] == [
        [0] if answer == "7" else [1, 2]
    ]


def test_samples_differ_in_number_and_seed_only(make) -> None:
    server = make(engine(output("7")))
    server.ask(samples=3, seed=40)
    drawn = list(server.engine.drawn)
    assert [one.sampling.seed for one in drawn] == [40, 41, 42]
    assert [one.request_id.rpartition("-")[2] for one in drawn] == ["0", "1", "2"]
    assert all(one.messages == drawn[0].messages for one in drawn)


@pytest.mark.parametrize("stream", [False, True])
def test_a_decided_vote_stops_the_rest_in_the_engine(make, events, stream) -> None:
    never = Gate()

    def source(messages: object) -> Script:
        ended = len(server.engine.drawn) <= 5
        return Script([output("7", 1.0)], gates={} if ended else {1: never})

    server = make(ScriptedEngine(source))
    response = server.ask(samples=8, selection="majority", stopping="decided", stream=stream, max_tokens=100)
    reply = events(response.text)[-1][1] if stream else response.json()
    assert reply["answer"] == "7"
    assert reply["samples"]["stopped_by"] == "decided"
    assert (reply["samples"]["drawn"], reply["samples"]["aborted"]) == (5, 3)
    assert (reply["usage"]["samples_drawn"], reply["usage"]["samples_aborted"]) == (5, 3)
    assert reply["samples"]["tokens_saved"] > 0
    assert reply["samples"]["tokens"] == reply["usage"]["completion_tokens"]
    assert (server.engine.running, len(server.engine.cancelled)) == (0, 3)
    begun = reply["samples"]["tokens"] - 5 * len(output("7", 1.0).split())
    assert tokens_saved(server) == {"vote": 3 * 100 - begun}


def test_sample_events_come_as_samples_end_and_carry_no_text(make, events) -> None:
    server = make(engine(output("canary-7", 0.9), output("canary-8", 0.2), "canary without anything"))
    response = server.ask(samples=3, stream=True, risk_threshold=0.95)
    *before, (name, reply) = events(response.text)
    assert [data for kind, data in before if kind == "sample"] != []
    assert {kind for kind, _ in before} <= {"sample", "progress"}
    assert sorted(data["id"] for kind, data in before if kind == "sample") == [0, 1, 2]
    assert {data["state"] for kind, data in before if kind == "sample"} == {"value", "missing"}
    assert (name, reply["decision"]) == ("answer", "abstain")
    assert "canary" not in response.text


@pytest.mark.parametrize("fields", [{}, {"include_raw": True}])
def test_answers_that_lost_stay_withheld(make, fields) -> None:
    server = make(engine(output("7", 0.9), output("canary", 0.2), output("7", 0.9)))
    response = server.ask(samples=3, **fields)
    assert response.json()["answer"] == "7"
    assert "canary" not in response.text
    asked = server.ask(samples=3, include_withheld=True).json()
    assert [group["answer"] for group in asked["samples"]["groups"]] == ["7", "canary"]


@pytest.mark.parametrize(
    ("outputs", "reason"),
    [
        (["nothing", "at all"], "answer_missing"),
        (["no end " * 30, "either " * 30], "truncated"),
        (["no end " * 30, "nothing"], "answer_missing"),
        ([output("7", "high"), output("8", "higher")], "confidence_invalid"),
        (["Answer: 7", "Answer: 7"], "confidence_missing"),
    ],
)
def test_votes_that_come_to_nothing_say_why(make, outputs, reason) -> None:
    reply = make(engine(*outputs)).ask(samples=2, max_tokens=20, risk_threshold=0.2).json()
    assert (reply["decision"], reply["reason"], reply["confidence"]) == ("abstain", reason, None)
    assert reply["samples"]["drawn"] == 2


def test_a_readable_sample_outvotes_unreadable_ones(make) -> None:
    reply = make(engine("nothing", output("7", 0.8), "cut " * 30)).ask(samples=3, max_tokens=20).json()
    assert (reply["answer"], reply["confidence"]) == ("7", 0.8)
    assert [member["group"] for member in reply["samples"]["members"]] == [None, 0, None]


def test_declining_can_win_under_explicit_risk(make) -> None:
    outputs = ["Answer: <IDK>", "Answer: 7", "Answer: <IDK>"]
    reply = make(engine(*outputs)).ask(samples=3, contract="explicit_risk", selection="majority").json()
    assert (reply["decision"], reply["reason"], reply["confidence"]) == ("abstain", "idk", None)
    assert [group["members"] for group in reply["samples"]["groups"]] == [[0, 2], [1]]


@pytest.mark.parametrize("selection", ["majconf", "maxconf", "majority"])
def test_a_vote_that_no_confidence_can_come_to_is_decided_by_its_members(make, selection) -> None:
    server = make(engine(*["Answer: 7"] * 16))
    reply = server.ask(samples=16, contract="explicit_risk", selection=selection, stopping="decided").json()
    assert (reply["answer"], reply["samples"]["stopped_by"], reply["samples"]["drawn"]) == ("7", "decided", 9)


def test_claims_of_the_winner_are_marked(make) -> None:
    claims = 'Solution:\n<Confidence value={0} text="why">step</Confidence>\nAnswer:7'
    server = make(engine(claims.format(0.3), claims.format(0.9)))
    reply = server.ask(samples=2, contract="claims", risk_threshold=0.5).json()
    assert [claim["decision"] for claim in reply["claims"]] == ["assert"]
    assert reply["confidence"] == 0.9


def test_one_lost_sample_fails_the_request(make) -> None:
    script = Script([output("7")], error=EngineError("lost"), error_after=2)
    server = make(ScriptedEngine({"": script}))
    assert server.ask(samples=3).status_code == 502
    assert server.engine.running == 0


def test_choices_have_samples_of_their_own(make) -> None:
    server = make(engine(output("7", 0.9), output("7", 0.8), output("8", 0.9), output("9", 0.8)))
    choices = server.chat(n=2, samples=2, seed=0).json()["choices"]
    assert [choice["demur"]["answer"] for choice in choices] == ["7", "8"]
    assert sorted(drawn.sampling.seed for drawn in server.engine.drawn) == [0, 1, 2, 3]
    assert server.chat(n=33, samples=2).json()["error"]["param"] == "n"


def test_more_samples_than_the_operator_allows(make) -> None:
    server = make(max_samples=4)
    assert server.ask(samples=4).status_code == 200
    assert server.ask(samples=5).json()["error"]["param"] == "samples"


def test_a_client_that_leaves_stops_all_samples(run) -> None:
    gate = Gate()
    server = run(ScriptedEngine({"q": Script([output("7")], gates={1: gate})}))

    async def leave() -> None:
        async with httpx.AsyncClient(base_url=server.url) as client:
            asking = asyncio.create_task(client.post("/v1/answers", json={"question": "q", "samples": 8}))
            await asyncio.to_thread(gate.wait_reached)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            while server.engine.running:
                await client.get("/health")

    asyncio.run(asyncio.wait_for(leave(), 20))
    assert len(server.engine.cancelled) == 8


HOPELESS = (
    'Solution:\n<Confidence value=0.9 text="a">one</Confidence>\n<Confidence value=0.2 text="b">two</Confidence>\n'
    + '<Confidence value=0.9 text="c">three four five</Confidence>\n' * 5
    + "Answer:7"
)


@pytest.mark.parametrize(
    ("fields", "gives_up"),
    [
        ({"stopping": "decided"}, True),
        ({"stopping": "confident"}, True),
        ({"stopping": "none"}, False),
        ({"stopping": "decided", "include_withheld": True}, False),
        ({"stopping": "decided", "granularity": "claims"}, False),
        ({"stopping": "decided", "risk_threshold": 0.1}, False),
    ],
)
def test_a_single_sample_without_hope_is_given_up(make, fields, gives_up) -> None:
    server = make(engine(HOPELESS))
    ask = {"contract": "claims", "granularity": "response", "risk_threshold": 0.5, "max_tokens": 100} | fields
    reply = server.ask(**ask).json()
    assert (reply["usage"]["samples_aborted"], len(server.engine.cancelled)) == (int(gives_up), int(gives_up))
    if gives_up:
        assert (reply["decision"], reply["reason"], reply["confidence"]) == ("abstain", "below_threshold", 0.2)
        assert reply["usage"]["completion_tokens"] < len(HOPELESS.split())
    assert tokens_saved(server) == ({"abstention": 100 - reply["usage"]["completion_tokens"]} if gives_up else {})


def test_giving_up_decides_as_reading_to_the_end_does(make) -> None:
    asked = {"contract": "claims", "granularity": "response", "risk_threshold": 0.5}
    whole, early = (make(engine(HOPELESS)).ask(**asked, stopping=mode).json() for mode in ("none", "confident"))
    for name in ("decision", "reason", "confidence", "answer", "text", "claims"):
        assert whole[name] == early[name]


def test_formulas_are_grouped_by_value_where_a_grader_runs() -> None:
    outputs = [output(r"$\frac{x}{2}$", 0.5), output("$0.5x$", 0.5), output("$x^2$", 0.6)]
    manifest = Manifest(name="demur-test", calibrated=True)
    question = UnresolvedRequest((Message(role="user", content="q"),), RequestParams(samples=3, selection="majority"))

    async def vote(grader: Grader | None) -> Final:
        answerer = Answerer(engine(*outputs), manifest, Settings(), grader=grader)
        return await answerer.answer(answerer.open(question), answer_id="a")

    with Grader() as grader:
        graded = asyncio.run(vote(grader)).answer.samples
    assert graded is not None
    assert [group.members for group in graded.groups] == [(0, 1), (2,)]


def test_a_vote_over_endless_formulas_ends_at_its_deadline() -> None:
    hostile = [output(", ".join(f"x^{{{n}{i}!}}" for i in range(10, 40))) for n in range(1, 10)]
    question = UnresolvedRequest((Message(role="user", content="q"),), RequestParams(samples=9, timeout=1.5))

    async def vote(grader: Grader) -> Final:
        answerer = Answerer(engine(*hostile), Manifest(name="demur-test", calibrated=True), Settings(), grader=grader)
        return await answerer.answer(answerer.open(question), answer_id="a")

    with Grader() as grader, pytest.raises(DeadlineExceeded):
        asyncio.run(vote(grader))
