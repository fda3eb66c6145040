"""Steps that use up the tokens of a tail are ended by a last one, which forces the answer alone."""

import re
from dataclasses import replace
from typing import Any

import pytest

from demur.answering.tail_forcing import FreeReply, TailForcer
from demur.core.answer_span import OutputForm
from demur.core.contracts import CONTRACTS
from demur.engine.base import Chunk, RequestRefused, Sampling
from demur.engine.scripted import Script, piece_of, words
from tails import BEGUN, CUT, TAILS, WHOLE, ask


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
