"""The likelihood of the answer's own tokens, whatever the tokens and the pieces they come in."""

from itertools import pairwise
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.answering.confidence.answer_logprob import likelihood, tokens_within
from demur.answering.tail_forcing import not_drawn
from demur.answering.visible_tokens import visible_tokens
from demur.engine.base import TokenLogprob
from demur.engine.scripted import Script, ScriptedEngine

OUTPUT = "42 or so.\nAnswer: forty two\nConfidence: 0.9"
LOGPROBS = {"forty": log(0.5), "two": log(0.125)}
ASKED = {"confidence_source": "answer_logprob"}
CHUNKERS = {
    "words": None,
    "characters": list,
    "at once": lambda text: [text],
    "across words": lambda text: [text[i : i + 7] for i in range(0, len(text), 7)],
}


@pytest.fixture
def build(make):
    def server(*outputs, chunks="words", logprobs=LOGPROBS, **settings):
        chunker = {} if CHUNKERS[chunks] is None else {"chunker": CHUNKERS[chunks]}
        return make(ScriptedEngine(lambda messages: Script(outputs, logprobs=logprobs), **chunker), **settings)

    return server


@pytest.mark.parametrize("chunks", CHUNKERS)
@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
def test_it_is_the_geometric_mean_over_the_answers_tokens(build, chunks, path) -> None:
    asked = {"question": "q"} if path == "/v1/answers" else {"messages": [{"role": "user", "content": "q"}]}
    reply = build(OUTPUT, chunks=chunks).call("POST", path, json=asked | ASKED | {"risk_threshold": 0.2}).json()
    reply = reply["choices"][0]["demur"] if "choices" in reply else reply
    assert reply["confidence"] == pytest.approx(0.25)
    assert (reply["decision"], reply["confidence_source"]) == ("answer", "answer_logprob")
    assert "signal_tokens" not in reply["usage"]


def test_it_decides_and_what_is_stated_does_not(build) -> None:
    reply = build(OUTPUT).ask(**ASKED, risk_threshold=0.3).json()
    assert (reply["decision"], reply["reason"]) == ("abstain", "below_threshold")


@pytest.mark.parametrize("fields", [{}, {"include_signals": ["verbalized"]}, {"include_signals": ["p_true"]}])
def test_log_probabilities_are_asked_for_by_nobody_else(build, fields) -> None:
    server = build(OUTPUT)
    server.ask(**fields)
    assert server.engine.drawn[0].sampling.logprobs is None
    server.ask(include_signals=["answer_logprob"])
    assert server.engine.drawn[-1].sampling.logprobs == 0


@pytest.mark.parametrize(
    ("outputs", "logprobs", "reason"),
    [
        ([OUTPUT], None, "told no log-probabilities"),
        (["I do not see it."], LOGPROBS, "no answer"),
    ],
)
def test_where_there_is_none_it_is_missing(build, outputs, logprobs, reason) -> None:
    server = build(*outputs, logprobs=logprobs)
    beside = server.ask(include_signals=["answer_logprob"], include_withheld=True).json()
    assert beside["signals"]["answer_logprob"]["value"] is None
    assert reason in beside["signals"]["answer_logprob"]["missing"]
    reply = server.ask(**ASKED).json()
    assert (reply["decision"], reply["confidence"]) == ("abstain", None)
    assert reply["reason"] == ("confidence_missing" if logprobs is None else "answer_missing")


def test_samples_vote_with_it(build) -> None:
    outputs = [f"Answer: {answer}\nConfidence: {p}" for answer, p in (("right", 0.1), ("wrong", 0.9), ("wrong", 0.8))]
    server = build(*outputs, logprobs={"right": log(0.8), "wrong": log(0.1)})
    reply = server.ask(samples=3, selection="majconf", risk_threshold=0, **ASKED).json()
    assert (reply["answer"], reply["confidence"]) == ("right", pytest.approx(0.8))
    members = [member["confidence"] for member in reply["samples"]["members"]]
    assert members == pytest.approx([0.8, 0.1, 0.1])


def test_of_claims_it_is_one_for_the_whole_answer(build) -> None:
    claims = 'Solution:\n<Confidence value=0.9 text="why">step</Confidence>\nAnswer: forty two'
    server = build(claims)
    reply = server.ask(contract="claims", include_signals=["answer_logprob"], risk_threshold=0.5).json()
    assert reply["signals"]["answer_logprob"]["value"] == pytest.approx(0.25)
    refused = server.ask(contract="claims", **ASKED)
    assert refused.json()["error"]["param"] == "confidence_source"


def tokens(*texts):
    return [TokenLogprob(text, log(1 / (i + 2))) for i, text in enumerate(texts)]


TEXT = "Antwort: Zürich 東\n"
WRITTEN = TEXT.encode()


@pytest.mark.parametrize(
    ("pieces", "wanted"),
    [
        ([b"Antwort:", " Zürich".encode(), " 東".encode(), b"\n"], [1, 2]),
        ([bytes([byte]) for byte in WRITTEN], list(range(9, len(WRITTEN) - 1))),
        ([b"Antwort", b": Z\xc3", b"\xbcrich \xe6", b"\x9d\xb1\n"], [1, 2, 3]),
        ([b"Antwort: Z", b"", "ürich".encode(), b" ", b"", b"", "東".encode(), b"\n"], [0, 1, 2, 3, 4, 5, 6]),
        ([b"Antwort: ", b"", "Zürich 東".encode(), b"", b"\n", b""], [1, 2]),
        ([b"Antwort: ", "Zürich 東".encode()], [1]),
        (["<think>Zürich</think>".encode(), b"Antwort: ", "Zürich 東".encode(), b"\n", b"<|im_end|>"], [2]),
    ],
    ids=["words", "bytes", "split characters", "last has all", "end token", "no token for space", "apart"],
)
def test_every_way_to_cut_the_text_into_tokens(pieces, wanted) -> None:
    span = TEXT.index("Z"), TEXT.index("東") + 1
    written = tokens(*pieces)
    assert tokens_within(TEXT, span, written) == [written[i] for i in wanted]


@given(st.text(max_size=20), st.text(min_size=1, max_size=8), st.text(max_size=20), st.data())
def test_every_split_into_tokens_finds_those_that_wrote_a_part_of_the_answer(before, answer, after, data) -> None:
    text = before + answer + after
    written = text.encode(errors="surrogatepass")
    cuts = sorted(data.draw(st.sets(st.integers(0, len(written)))) | {0, len(written)})
    pieces = [written[a:b] for a, b in pairwise(cuts)]
    start = len(before.encode(errors="surrogatepass"))
    end = start + len(answer.encode(errors="surrogatepass"))
    expected = [piece for piece, (a, b) in zip(pieces, pairwise(cuts), strict=True) if a < end and b > start]
    span = len(before), len(before) + len(answer)
    assert [token.text for token in tokens_within(text, span, tokens(*pieces))] == expected


@pytest.mark.parametrize("pieces", [[b"Antwort: "], ["Antwort: Zurich 東".encode()], [b""], []])
def test_tokens_that_wrote_something_else_are_nobodys(pieces) -> None:
    assert tokens_within(TEXT, (9, 17), tokens(*pieces)) == []


def test_the_likelihood_is_a_probability() -> None:
    assert likelihood([TokenLogprob(b"a", log(0.5)), TokenLogprob(b"b", log(0.5))]) == pytest.approx(0.5)
    assert likelihood([TokenLogprob(b"a", 0.0)]) == 1.0
    assert likelihood([TokenLogprob(b"a", -9999.0)]) == exp(-9999.0)


def test_thought_that_a_host_keeps_apart_is_not_shown_as_tokens_of_the_text() -> None:
    raw, text = "Six.\nAnswer: 6\nConfidence: 0.9", "Six."
    thought = tokens(b"Okay, ", b"maybe 7", b" or so")
    said = tokens(b"Six", b".", b"\nAnswer: 6", b"\nConfidence: 0.9")
    for told in (said, [*thought, *said]):
        shown = visible_tokens(raw, text, told)
        assert shown is not None
        assert [token.text for token in shown] == [b"Six", b"."]
    assert visible_tokens(raw, text, thought) is None
    assert visible_tokens(raw, text, []) is None


def test_text_that_was_put_in_counts_for_its_tokens_and_no_text_for_none() -> None:
    assert not_drawn("") == ()
    assert [token.text for token in not_drawn("Answer:")] == [b"Answer:"]
