"""Free, then settled: where an output does not end in a readable answer, only its tail is forced."""

import asyncio
import re
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cut_streams import cut_by, fold
from demur.answering import Answerer, Final, RequestParams, UnresolvedRequest
from demur.answering.errors import DeadlineExceeded
from demur.answering.events import Event
from demur.answering.tail_forcing import FreeReply, TailForcer
from demur.core.answer_span import OutputForm
from demur.core.contracts import CONTRACTS
from demur.core.contracts.patterns import WIDE
from demur.core.reader import read
from demur.engine.base import Chunk, EngineOverloaded, Message, RequestRefused, Sampling
from demur.engine.resuming import put_behind
from demur.engine.scripted import END, Gate, Script, ScriptedEngine, piece_of, token_of, words
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


@pytest.mark.parametrize(("cut", "opening", "rest", "step"), CUT)
def test_steps_that_use_up_their_tokens_are_followed_by_an_answer(cut: str, opening: str, rest: str, step: Any) -> None:
    steps_tail = Script([BEGUN.removeprefix("Solution:\n<Confidence value=") + cut], finish_reason="length")
    played = Script(["I add."], tail=replace(steps_tail, tail=Script([rest])))
    last, engine = ask(played, contract="claims", include_raw=True, risk_threshold=0.0)
    assert [drawn.request_id for drawn in engine.drawn] == ["ans-0", "ans-tail-0", "ans-last-tail-0"]
    written, drawn = engine.drawn[2].written, engine.drawn[2].sampling
    assert written is not None
    assert (written.text, written.opening) == (f"I add.\n\n{BEGUN}{cut}", opening)
    assert re.fullmatch(drawn.constraint or "", rest)
    assert last.answer.raw == written.text + opening + rest
    assert (last.answer.answer, last.finish_reason) == ("42", "stop")
    told = [(claim.text, claim.confidence) for claim in last.answer.claims or ()]
    assert told == [("40 + 2 = 42", 0.8), *([] if step is None else [(step, 0.6)])]
    assert last.answer.text == "\n".join(text for text, _ in told)
    assert last.answer.settled is not None
    assert (last.answer.settled.by, last.answer.settled.after) == ("continued", "stop")
    tokens = "".join(map(piece_of, written.token_ids))
    assert tokens == written.text.rstrip()
    assert last.answer.usage.completion_tokens == len(written.token_ids) + len(words(opening)) + len(words(rest))


@pytest.mark.parametrize("cut", [case[0] for case in CUT])
def test_a_host_that_was_asked_for_steps_is_asked_for_the_answer_too(cut: str) -> None:
    steps = Script([f"{BEGUN}{cut}"], finish_reason="length", resumed="asked")
    played = Script(["I add."], tail=replace(steps, tail=Script(["Answer: 42"], resumed="asked")))
    last, engine = ask(played, contract="claims", risk_threshold=0.0)
    written = engine.drawn[2].written
    assert written is not None
    assert '"Answer:"' in written.request
    assert re.fullmatch(written.request_form or "", "Answer: 42")
    told = [(claim.text, claim.confidence) for claim in last.answer.claims or ()]
    assert last.answer.answer == "42"
    assert told[0] == ("40 + 2 = 42", 0.8)
    assert all(text in ("…", "The sum of the", "The sum", "3 <") and p == 0.6 for text, p in told[1:])


def test_a_solution_that_is_asked_for_anew_states_its_confidence() -> None:
    steps = Script(["I will now think"], finish_reason="length", resumed="asked")
    whole = Script([WHOLE["claims"]], resumed="asked")
    last, engine = ask(Script(["I add."], tail=replace(steps, tail=whole)), contract="claims")
    written = engine.drawn[2].written
    assert written is not None
    assert "Solution:" in written.request
    assert re.fullmatch(written.request_form or "", WHOLE["claims"].replace("40 + 2 < 43", "40 + 2"))
    assert (last.answer.answer, last.answer.confidence) == ("42", 0.8)


def test_a_last_tail_of_an_engine_that_does_not_count_has_the_tokens_that_were_kept() -> None:
    free = FreeReply()
    free.take(Chunk("some words", finish_reason="length"))
    free.begin_tail()
    free.take(Chunk(f"\n\n{BEGUN}", finish_reason="length"))
    tail = TailForcer(OutputForm(CONTRACTS["claims"])).plan(free, Sampling(max_tokens=1000))
    assert tail is not None
    assert tail.sampling.max_tokens == CONTRACTS["claims"].last_tail_tokens


def test_tokens_are_counted_on_where_a_part_was_not_counted() -> None:
    reply = FreeReply()
    reply.take(Chunk("some words", finish_reason="length", completion_tokens=7))
    for counted in (None, 5):
        reply.begin_tail()
        assert reply.take(Chunk("x", completion_tokens=counted)) is not None
        reply.take(Chunk("", finish_reason="length"))
    (ended,) = reply.last(goes_on=False)
    assert ended.completion_tokens == 7 + 2 + 5


def test_steps_of_which_none_can_be_read_are_followed_by_a_short_one() -> None:
    played = Script(["I add."], tail=Script(["0"], finish_reason="length", tail=Script([TAILS["claims"]])))
    last, engine = ask(played, contract="claims")
    assert engine.drawn[2].written is not None
    assert engine.drawn[2].written.opening == "\n\nSolution:\n<Confidence value="
    assert (last.answer.answer, last.answer.confidence) == ("42", 0.8)


def test_a_last_tail_that_is_refused_leaves_the_sample_as_it_was() -> None:
    refused = Script([""], error=RequestRefused("no room"))
    played = Script(["I add."], tail=Script(['0.8 text="sum">40 + 2'], finish_reason="length", tail=refused))
    last, _ = ask(played, contract="claims", risk_threshold=0.0)
    assert (last.answer.reason, last.finish_reason) == ("truncated", "length")


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


LABELLED = ["Solution:", "Answer:", "Confidence:", "\n", " ", "**", "<think>", "</think>"]
TAGS = ["<Confidence value=0.7", ' text="why">', "</Confidence>", "<IDK>", "<", ">", '"', "`", "```\n"]
VALUES = ["0.9", "95%", "high", "4", "a < b", "\\boxed{4}", "ä𝑥🥚", "User: hm", "It is 4."]
PIECES = st.sampled_from(LABELLED + TAGS + VALUES)
OUTPUTS = st.lists(PIECES, max_size=20).map("".join)
FINISHES = st.sampled_from(["stop", "length"])


def planned(contract: str, text: str, finish: Any, *, after_tail: bool = False) -> tuple[str, str] | None:
    """What is put behind an output, and the expression that follows; None where it is left alone."""
    free = FreeReply()
    if after_tail:
        free.begin_tail()
    free.take(Chunk(text, finish_reason=finish))
    tail = TailForcer(OutputForm(CONTRACTS[contract])).plan(free, Sampling(max_tokens=100))
    if tail is None or tail.sampling.constraint is None:
        return None
    return tail.written.closing + tail.written.opening, tail.sampling.constraint


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.sampled_from([*((c, False) for c in CONTRACTS), ("claims", True)]), OUTPUTS, FINISHES)
def test_whatever_was_written_a_tail_makes_it_readable(data, case, text, finish) -> None:
    contract, is_last = case
    assume(finish == "length" or not is_last)
    tail, described = planned(contract, text, finish, after_tail=is_last), CONTRACTS[contract]
    if tail is None:
        assert described.is_complete(read(text, contract))
        return
    opening, pattern = tail
    # An answer without a letter or a digit in it may be none.
    rest = data.draw(
        st.from_regex(re.compile(pattern.replace(WIDE, "é")), fullmatch=True, alphabet=st.characters(max_codepoint=255))
    )
    assume(any(c.isalnum() for c in (text + opening + rest).rpartition("Answer:")[2].split("\nConf")[0]))
    completion = read(text + opening + rest, contract)
    assert described.is_complete(completion), (text, opening, rest, completion)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.sampled_from([case[0] for case in CUT]), OUTPUTS)
def test_whatever_steps_were_cut_off_an_answer_that_is_asked_for_is_read(data, cut, before) -> None:
    free = FreeReply()
    free.begin_tail()
    free.take(Chunk(f"{before}\n\n{BEGUN}{cut}", finish_reason="length"))
    tail = TailForcer(OutputForm(CONTRACTS["claims"])).plan(free, Sampling(max_tokens=100))
    if tail is None:
        return
    form = re.compile((tail.written.request_form or "").replace(WIDE, "é"))
    asked = data.draw(st.from_regex(form, fullmatch=True, alphabet=st.characters(max_codepoint=255)))
    assume(any(c.isalnum() for c in asked.rpartition("Answer:")[2]))
    completion = read(free.text + put_behind(tail.written, "asked") + asked, "claims")
    assert CONTRACTS["claims"].is_complete(completion), (free.text, asked, completion)


@pytest.mark.parametrize("before", ["Answer: 4\nUser: and now?", "</Confidence>User: hm", "It is 4.\n\nUser: next\nA"])
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_thought_begun_in_another_speakers_turn_ends_with_a_tail_that_is_read(before: str, finish: str) -> None:
    text = f"{before}<think>"
    tail = planned("response", text, finish)
    assert tail is not None
    completion = read(f"{text}{tail[0]} 7\nConfidence: 0.3", "response")
    assert (completion.answer, completion.confidence) == ("7", 0.3)


@pytest.mark.parametrize(
    "fields",
    [
        {"contract": "response", "risk_threshold": 0.0},
        {"contract": "response", "risk_threshold": 0.85},
        {"contract": "response", "risk_threshold": 0.85, "include_withheld": True},
        {"contract": "claims", "risk_threshold": 0.85},
        {"contract": "claims", "risk_threshold": 0.85, "granularity": "response"},
        {"contract": "explicit_risk", "risk_threshold": 0.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("resumed", ["continued", "asked"])
@settings(max_examples=40, deadline=None)
@given(text=OUTPUTS, finish=FINISHES, sizes=st.lists(st.integers(0, 9), max_size=40))
def test_every_way_of_cutting_text_and_tail_gives_the_same(fields, resumed, text, finish, sizes) -> None:
    tails = TAILS if resumed == "continued" else WHOLE
    played = script(text, tails[fields["contract"]], finish=finish, resumed=resumed)
    told_alike_however_it_is_cut(played, sizes, fields)


@pytest.mark.parametrize("threshold", [0.0, 0.7, 0.85])
@pytest.mark.parametrize("resumed", ["continued", "asked"])
@settings(max_examples=40, deadline=None)
@given(cut=st.sampled_from([case[0] for case in CUT]), text=OUTPUTS, sizes=st.lists(st.integers(0, 9), max_size=60))
def test_every_way_of_cutting_a_reply_with_a_last_tail_gives_the_same(threshold, resumed, cut, text, sizes) -> None:
    begun = BEGUN.removeprefix("Solution:\n<Confidence value=") if resumed == "continued" else BEGUN
    rest = next(case[2] for case in CUT if case[0] == cut)
    end = Script([rest if resumed == "continued" else "Answer: 42"], resumed=resumed)
    played = Script([text], tail=Script([begun + cut], finish_reason="length", resumed=resumed, tail=end))
    told_alike_however_it_is_cut(played, sizes, {"contract": "claims", "risk_threshold": threshold})


def told_alike_however_it_is_cut(played: Script, sizes: list[int], fields: dict[str, Any]) -> None:
    *before, last = asyncio.run(events_of(answerer(played, chunker=cut_by(sizes)), **fields))
    *whole, alone = asyncio.run(events_of(answerer(played, chunker=lambda text: [text]), **fields))
    assert isinstance(last, Final)
    assert last == alone
    assert fold(before) == fold(whole)
    shown, claims = fold(before)
    told = last.answer if last.answer.text is not None else last.answer.withheld
    if shown or claims:
        assert told is not None
        assert (shown, claims) == (told.text, list(told.claims or ()))
    if fields["contract"] == "explicit_risk" or fields.get("granularity") == "response":
        assert not shown


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
