"""Free, then settled: where an output does not end in a readable answer, only its tail is forced."""

import asyncio
import re
from typing import Any

import pytest

from demur.answering import RequestParams, UnresolvedRequest
from demur.answering.errors import DeadlineExceeded
from demur.answering.tail_forcing import FreeReply, TailForcer
from demur.core.answer_span import OutputForm
from demur.core.contracts import CONTRACTS
from demur.core.reader import read
from demur.engine.base import Chunk, EngineOverloaded, RequestRefused, Sampling
from demur.engine.scripted import END, Gate, Script, ScriptedEngine, token_of
from tails import TAILS, TURNS, answerer, ask, script


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_free_text_is_settled_by_its_tail(contract: str, finish: Any) -> None:
    last, engine = ask(script("40 and 2 make 42, I think.", TAILS[contract], finish=finish), contract=contract)
    reply = last.answer
    assert (reply.decision, reply.answer) == ("answer", "42")
    assert reply.confidence == (None if contract == "explicit_risk" else 0.8)
    assert reply.settled is not None
    assert (reply.settled.by, reply.settled.after) == ("continued", finish)
    assert last.finish_reason == "stop"
    free, tail = engine.drawn
    assert (free.sampling.constraint, tail.request_id) == (None, "ans-tail-0")
    assert re.fullmatch(tail.sampling.constraint or "", TAILS[contract])
    assert tail.sampling.temperature == 0


def test_the_same_tokens_are_continued_without_their_end_token() -> None:
    last, engine = ask(script("40 and 2.", TAILS["response"]), include_raw=True)
    written = engine.drawn[1].written
    assert written is not None
    assert written.token_ids == tuple(token_of(word) for word in ("40", " and", " 2."))
    assert END not in written.token_ids
    assert last.answer.raw == "40 and 2.\n\nAnswer: 42\nConfidence: 0.8"
    assert last.answer.usage.completion_tokens == 3 + 1 + 3
    assert last.answer.usage.prompt_tokens == len(
        (asyncio.run(engine.prepare(engine.drawn[0].messages))).token_ids or ()
    )


@pytest.mark.parametrize(
    ("contract", "text"),
    [
        ("response", "40 + 2\nAnswer: 42\nConfidence: 0.8"),
        ("response", "So it is **42**.\n\n**Answer:** 42\n**Confidence:** 80%"),
        ("claims", 'Solution:\n<Confidence value=0.8 text="sum">40 + 2</Confidence>\nAnswer: 42'),
        ("explicit_risk", "Answer: <IDK>"),
    ],
)
def test_what_can_be_read_is_left_alone(contract: str, text: str) -> None:
    last, engine = ask(script(text, TAILS[contract]), contract=contract)
    assert len(engine.drawn) == 1
    assert last.answer.settled is None
    reply = last.answer
    assert reply.usage.completion_tokens == len(text.split())


MISSING = [
    ("response", "so 42\nAnswer:", "stop", "", " 42\nConfidence: 0.8"),
    ("response", "so 42\nAnswer: ", "stop", "", "42\nConfidence: 0.8"),
    ("response", "so 42\nAnswer: 42", "stop", "\nConfidence:", " 0.8"),
    ("response", "so 42\nAnswer: 42\n", "stop", "Confidence:", " 0.8"),
    ("response", "so 42\nAnswer: 4", "length", "", "2\nConfidence: 0.8"),
    ("response", "so 42\nAnswer: 42\nConfidence:", "stop", "", " 0.8"),
    ("response", "so 42\nAnswer: 42\nConfidence: 0", "length", "", ".8"),
    ("response", "so 42\nAnswer: 42\nConfidence: quite high", "stop", "\nConfidence:", " 0.8"),
    ("response", "Answer: 41\nNo, wait, that is", "length", "\n\nAnswer:", " 42\nConfidence: 0.8"),
    ("response", "It is \\boxed{42}", "stop", "\nConfidence:", " 0.8"),
    ("response", "The answer is: 42.", "stop", "\nConfidence:", " 0.8"),
    ("response", "The answer is: 42.", "length", "\n\nAnswer:", " 42\nConfidence: 0.8"),
    ("response", "It may be 42 or so", "stop", "\n\nAnswer:", " 42\nConfidence: 0.8"),
    ("claims", 'Solution:\n<Confidence value=0.8 text="sum">40 + ', "length", "", "2</Confidence>\nAnswer: 42"),
    ("claims", 'Solution:\n<Confidence value=0.8 text="su', "length", '">', "40 + 2</Confidence>\nAnswer: 42"),
    ("claims", 'Solution:\n<Confidence value=0.8 text="sum">40</Confidence>', "stop", "\nAnswer:", " 42"),
    ("claims", 'Solution:\n<Confidence value=0.8 text="sum">40</Confidence>\n', "length", "", "Answer: 42"),
    ("claims", "It is 42.\nAnswer: 42", "stop", "\n\nSolution:\n<Confidence value=", TAILS["claims"]),
    ("explicit_risk", "so\nAnswer:", "stop", "", " 42"),
]


@pytest.mark.parametrize(("contract", "text", "finish", "opening", "rest"), MISSING)
def test_only_what_is_missing_is_added(contract: str, text: str, finish: Any, opening: str, rest: str) -> None:
    last, engine = ask(script(text, rest, finish=finish), contract=contract, include_raw=True)
    drawn = engine.drawn[1]
    assert drawn.written is not None
    assert (drawn.written.closing, drawn.written.opening) == ("", opening)
    assert re.fullmatch(drawn.sampling.constraint or "", rest)
    assert last.answer.raw == text + opening + rest
    assert last.answer.answer == "42"
    assert last.answer.confidence == (None if contract == "explicit_risk" else 0.8)


@pytest.mark.parametrize(
    ("text", "closing"),
    [
        ("<think>Maybe Answer: 7\nConfidence: 0.9", "\n</think>\n\n"),
        ("◁think▷Answer: 7", "\n◁/think▷\n\n"),
        ("<|channel|>analysis<|message|>Answer: 7", "\n<|end|><|start|>assistant<|channel|>final<|message|>\n\n"),
    ],
)
def test_a_thought_that_fills_its_share_is_closed_and_never_read(text: str, closing: str) -> None:
    last, engine = ask(script(text, TAILS["response"], finish="length"), risk_threshold=0.0)
    assert engine.drawn[1].written is not None
    assert (engine.drawn[1].written.closing, engine.drawn[1].written.opening) == (closing, "Answer:")
    assert (last.answer.answer, last.answer.confidence, last.answer.text) == ("42", 0.8, "")


def test_what_a_model_wrote_for_somebody_else_does_not_hide_the_tail() -> None:
    last, engine = ask(script("Answer: 7\nUser: And what is 8 + 8?\nAnswer: 16", TAILS["response"]))
    assert engine.drawn[1].written is not None
    assert engine.drawn[1].written.closing == "\n</think>\n\n"
    assert (last.answer.answer, last.answer.confidence) == ("42", 0.8)


def test_tokens_are_kept_for_the_tail_within_the_callers_limit() -> None:
    for limit, contract in ((1000, "response"), (1000, "claims"), (100, "claims"), (16, "response")):
        tail = Script(["more " * 2000], tail=Script(["last " * 2000]))
        last, engine = ask(Script(["word " * 2000], tail=tail), contract=contract, max_tokens=limit)
        kept = min(CONTRACTS[contract].tail_tokens, limit // 2)
        for_last = {320: 48, 50: 25}.get(kept, 0) if contract == "claims" else 0
        assert engine.drawn[0].sampling.max_tokens == limit - kept
        assert engine.drawn[1].sampling.max_tokens == kept - for_last
        assert [drawn.sampling.max_tokens for drawn in list(engine.drawn)[2:]] == ([for_last] if for_last else [])
        assert last.answer.usage.completion_tokens == limit
        assert (last.finish_reason, last.answer.reason) == ("length", "truncated")


def test_a_tail_may_take_what_the_reply_has_left_but_no_more_than_it_can_need() -> None:
    for contract, most in (("response", 160), ("explicit_risk", 160), ("claims", 1000 - 2 - 48)):
        _, engine = ask(script("two words", TAILS[contract]), contract=contract, max_tokens=1000)
        assert engine.drawn[1].sampling.max_tokens == most


def test_tokens_are_counted_on_where_a_part_was_not_counted() -> None:
    reply = FreeReply()
    reply.take(Chunk("some words", finish_reason="length", completion_tokens=7))
    for counted in (None, 5):
        reply.begin_tail()
        assert reply.take(Chunk("x", completion_tokens=counted)) is not None
        reply.take(Chunk("", finish_reason="length"))
    (ended,) = reply.last(goes_on=False)
    assert ended.completion_tokens == 7 + 2 + 5


@pytest.mark.parametrize("limit", [1, 15])
def test_a_limit_of_few_tokens_leaves_no_tail(limit: int) -> None:
    last, engine = ask(script("word " * 99, TAILS["response"]), max_tokens=limit)
    assert (len(engine.drawn), last.answer.reason) == (1, "truncated")
    assert last.answer.usage.completion_tokens == limit


def test_a_host_that_is_asked_says_so() -> None:
    played = script("It is 42.", "Answer: 42\nConfidence: 0.8", resumed="asked")
    last, engine = ask(played, include_raw=True)
    assert last.answer.raw == "It is 42.\nAnswer: 42\nConfidence: 0.8"
    assert last.answer.settled is not None
    assert last.answer.settled.by == "asked"
    written = engine.drawn[1].written
    assert written is not None
    assert "finish with two lines" in written.request
    assert re.fullmatch(written.request_form or "", "Answer: 42\nConfidence: 0.8")


def test_each_sample_of_a_vote_is_settled() -> None:
    texts = ["so 42", "Answer: 7\nConfidence: 0.4", "hm"]
    played = Script(texts, tail=Script([" 42\nConfidence: 0.8", "", " 42\nConfidence: 0.6"]))
    last, engine = ask(played, samples=3, seed=5)
    assert last.answer.answer == "42"
    report = last.answer.samples
    assert report is not None
    assert [member.settled is not None for member in sorted(report.members, key=lambda m: m.id)] == [True, False, True]
    assert {drawn.request_id for drawn in engine.drawn} == {"ans-0", "ans-1", "ans-2", "ans-tail-0", "ans-tail-2"}
    assert [drawn.sampling.seed for drawn in engine.drawn if drawn.written] == [None, None]


def test_a_tail_that_is_refused_leaves_the_sample_as_it_was() -> None:
    played = Script(["The answer is 42."], tail=Script([""], error=RequestRefused("no such field")))
    last, _ = ask(played, risk_threshold=0.9)
    assert (last.answer.decision, last.answer.reason) == ("abstain", "confidence_missing")


def test_what_else_goes_wrong_in_a_tail_is_an_error() -> None:
    with pytest.raises(EngineOverloaded):
        ask(Script(["It is 42."], tail=Script([""], error=EngineOverloaded("busy"))))


def test_the_deadline_holds_for_the_tail() -> None:
    async def expire() -> ScriptedEngine:
        gate = Gate()
        one = answerer(Script(["It is 42."], tail=Script(["a"], gates={0: gate})))
        active = one.open(UnresolvedRequest(TURNS, RequestParams()))
        asking = asyncio.create_task(one.answer(active, answer_id="ans"))
        await asyncio.to_thread(gate.wait_reached)
        active.deadline.expire(DeadlineExceeded("no answer in time", "timeout"))
        with pytest.raises(DeadlineExceeded):
            await asking
        assert isinstance(one.engine, ScriptedEngine)
        return one.engine

    engine = asyncio.run(expire())
    assert (engine.running, list(engine.cancelled)) == (0, ["ans-tail-0"])


@pytest.mark.parametrize("samples", [1, 2])
def test_leaving_stops_the_tail(samples: int) -> None:
    async def leave() -> ScriptedEngine:
        gate = Gate()
        one = answerer(Script(["It is 42."], tail=Script(["a b c"], gates={1: gate})))
        active = one.open(UnresolvedRequest(TURNS, RequestParams(samples=samples)))
        asking = asyncio.create_task(one.answer(active, answer_id="ans"))
        await asyncio.to_thread(gate.wait_reached)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert isinstance(one.engine, ScriptedEngine)
        return one.engine

    engine = asyncio.run(leave())
    assert engine.running == 0
    assert "ans-tail-0" in engine.cancelled


def test_early_abstention_needs_no_tail() -> None:
    text = 'Solution:\n<Confidence value=0.2 text="?">1</Confidence>\nand so on and on'
    last, engine = ask(
        script(text, TAILS["claims"]), contract="claims", granularity="response", stopping="decided", risk_threshold=0.5
    )
    assert (last.answer.reason, len(engine.drawn)) == ("below_threshold", 1)


def test_the_likelihood_of_an_answer_in_a_tail_is_that_of_its_own_tokens() -> None:
    """The end token within the reply and what was put behind it were not drawn as a part of the answer."""
    tail = Script([" 42\nConfidence: 0.8"], logprobs={"42": -0.5})
    last, _ = ask(Script(["40 and 2."], tail=tail), include_signals=["answer_logprob"])
    assert last.answer.signals is not None
    assert last.answer.signals["answer_logprob"].value == pytest.approx(0.60653, abs=1e-4)


@pytest.mark.parametrize("finish", ["length", "stop"])
@pytest.mark.parametrize("broken", ["2 + 2\n= 4", "2 + 2\n\nso it is", "2 + 2 = 4"])
def test_a_tail_keeps_the_doubt_of_the_steps_before_it(broken, finish) -> None:
    """A solution that began anew would take the place of them."""
    begun = 'Solution:\n<Confidence value=0.2 text="doubt">1 + 1 = 3</Confidence>\n'
    begun += f'<Confidence value=0.9 text="x">{broken}'
    free = FreeReply()
    free.take(Chunk(begun, finish_reason=finish))
    tail = TailForcer(OutputForm(CONTRACTS["claims"])).plan(free, Sampling(max_tokens=300))
    assert tail is not None
    last = "Answer: 4" if "\n" in broken else "</Confidence>\nAnswer: 4"
    found = read(begun + tail.written.closing + tail.written.opening + last, "claims")
    assert (found.answer, found.confidence, [claim.confidence for claim in found.claims]) == ("4", 0.2, [0.2, 0.9])
