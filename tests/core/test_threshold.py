"""Answer or abstain, assert or highlight."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.core.answers import Decision, ParsedConfidence
from demur.core.reader import read
from demur.core.threshold import decide, decide_claim, highlighted

RESPONSE = "Answer: 4\nConfidence: {}"
CLAIMS = (
    'Solution:\n<Confidence value={} text="a">x</Confidence>\n<Confidence value=0.9 text="b">y</Confidence>\nAnswer:4'
)
probabilities = st.floats(0, 1)


@given(probabilities, probabilities)
def test_abstains_exactly_below_the_threshold(p, t):
    decision = decide(read(RESPONSE.format(f"{p:.17f}"), "response", "strict"), t)
    stated = float(f"{p:.17f}")
    assert decision == (Decision("abstain", "below_threshold") if stated < t else Decision("answer"))


def test_a_tie_answers():
    assert decide(read(RESPONSE.format("0.8"), "response"), 0.8) == Decision("answer")


@pytest.mark.parametrize(
    ("text", "t", "reason"),
    [
        ("Answer: 4", 0.1, "confidence_missing"),
        ("Answer: 4", 0.0, None),
        ("Answer: 4\nConfidence: high", 0.1, "confidence_invalid"),
        ("Answer: 4\nConfidence: high", 0.0, None),
        ("Confidence: 0.9", 0.0, "answer_missing"),
        ("Answer: 4\nConfidence: 0", 0.0, None),
    ],
)
def test_what_cannot_be_read(text, t, reason):
    assert decide(read(text, "response"), t).reason == reason


def test_an_output_cut_short_says_so():
    assert decide(read("thinking", "response"), 0.5, truncated=True).reason == "truncated"
    assert decide(read("Answer: 4", "response"), 0.5, truncated=True).reason == "truncated"
    assert decide(read("Answer: 4\nConfidence: 0.9", "response"), 0.5, truncated=True) == Decision("answer")


def test_explicit_risk_answers_or_declines_by_itself():
    assert decide(read("Answer: 4", "explicit_risk"), 1.0) == Decision("answer")
    assert decide(read("Answer: <IDK>", "explicit_risk"), 0.0) == Decision("abstain", "idk")


def test_claims_decide_on_the_aggregate_or_one_by_one():
    doubtful = read(CLAIMS.format(0.3), "claims")
    assert decide(doubtful, 0.8).reason == "below_threshold"
    assert decide(doubtful, 0.8, granularity="claims") == Decision("answer")
    assert highlighted(doubtful.claims, 0.8) == [0]
    assert highlighted(doubtful.claims, 0.95) == [0, 1]


def test_claims_without_claims_or_answer_abstain():
    assert decide(read("Answer: 4", "claims"), 0.5, granularity="claims").reason == "confidence_missing"
    no_answer = CLAIMS.format(0.9).replace("Answer:4", "")
    assert decide(read(no_answer, "claims"), 0.5, granularity="claims").reason == "answer_missing"


def test_an_unreadable_claim_is_highlighted_even_at_zero():
    assert decide_claim(None, 0.0) == "highlight"
    unreadable = read(CLAIMS.format("high"), "claims")
    assert decide(unreadable, 0.5).reason == "confidence_invalid"
    assert decide(unreadable, 0.5, granularity="claims") == Decision("answer")


def test_a_confidence_from_elsewhere_replaces_the_stated_one():
    stated = read(RESPONSE.format("0.1"), "response")
    assert decide(stated, 0.5, confidence=ParsedConfidence("value", 0.9)) == Decision("answer")
