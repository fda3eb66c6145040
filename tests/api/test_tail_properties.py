"""Whatever was written and however it comes in pieces, a tail ends it in an answer that is read."""

import asyncio
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cut_streams import cut_by, fold
from demur.answering import Final
from demur.answering.tail_forcing import FreeReply, TailForcer
from demur.core.answer_span import OutputForm
from demur.core.contracts import CONTRACTS
from demur.core.contracts.patterns import WIDE
from demur.core.reader import read
from demur.engine.base import Chunk, Sampling
from demur.engine.resuming import put_behind
from demur.engine.scripted import Script
from tails import BEGUN, CUT, TAILS, WHOLE, answerer, events_of, script

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
