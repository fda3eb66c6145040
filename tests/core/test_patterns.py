"""Whatever matches a contract's regular expression is in the form that training rewards, and ends."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.core.contracts import CONTRACTS, Draft
from demur.core.reader import read

# hypothesis lists the characters of a range one by one, so the widest range is cut short.
FORCED = {
    contract: st.from_regex(re.compile(CONTRACTS[contract].pattern.replace(r"\U0010ffff", r"\u30ff")), fullmatch=True)
    for contract in CONTRACTS
}


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(tuple(CONTRACTS)))
def test_every_match_keeps_the_contract(data, contract):
    text = data.draw(FORCED[contract])
    completion = read(text, contract, "strict")
    assert not completion.violation, (text, completion)
    assert completion.idk or completion.answer
    assert not (completion.idk and contract != "explicit_risk")


@settings(max_examples=100, deadline=None)
@given(FORCED["response"])
def test_a_forced_response_states_the_probability_that_is_read(text):
    stated = text.rsplit("Confidence: ", 1)[1]
    assert read(text, "response", "strict").confidence == float(stated)


@settings(max_examples=100, deadline=None)
@given(FORCED["claims"])
def test_forced_claims_are_read_one_by_one_with_step_reason_and_probability(text):
    claims = read(text, "claims", "strict").claims
    written = re.findall(r'<Confidence value=([\d.]+) text="(.*?)">(.*?)</Confidence>', text.split("Solution:\n")[-1])
    assert [(claim.confidence, claim.explanation, claim.text) for claim in claims] == [
        (float(p), why.strip(), step.strip()) for p, why, step in written
    ]
    assert 1 <= len(claims) <= 6


WANTED = {
    "response": ["Answer: 4\nConfidence: 0.9", "2 + 2 = 4\nso it is\nAnswer: 4\nConfidence: 1.0"],
    "claims": [
        'Solution:\n<Confidence value=0.97 text="small sum">3 + 4 = 7</Confidence>\nAnswer: 7',
        'Let me see.\nSolution:\n<Confidence value=0.5 text="is \\(x^2\\) right?">\\(x^2 > 0\\)</Confidence>\nAnswer: \\frac{1}{2}',
    ],
    "explicit_risk": ["Answer: <IDK>", "Rome is not in France.\nAnswer: Paris"],
}
UNWANTED = {
    "response": [
        "Answer: 4",
        "Answer: \nConfidence: 0.9",
        "Answer: 4\nConfidence: 95%",
        "Answer: 4\nConfidence: 1.5",
        "Answer: 4\nConfidence: 0.9\nand more",
        "a\n" * 5 + "Answer: 4\nConfidence: 0.9",
        "a" * 121 + "\nAnswer: 4\nConfidence: 0.9",
        "a\rb\nAnswer: 4\nConfidence: 0.9",
        "Answer: \xa0\nConfidence: 0.9",
        "Answer: \u2028\nConfidence: 0.9",
    ],
    "claims": [
        "Solution:\nAnswer: 7",
        'Solution:\n<Confidence value=0.97 text="">3 + 4 = 7</Confidence>\nAnswer: 7',
        'Solution:\n<Confidence value=0.97 text="a "quote"">3 + 4 = 7</Confidence>\nAnswer: 7',
        'Solution:\n<Confidence value=0.97 text="why">3 <Confidence</Confidence>\nAnswer: 7',
        'Solution:\n<Confidence value=0.97 text="why">3</Confidence>\n',
        "Solution:\n" + '<Confidence value=0.97 text="why">3</Confidence>\n' * 7 + "Answer: 7",
    ],
    "explicit_risk": ["Answer: <IDK> or Paris", "Answer: <answer>", "<IDK>"],
}


@pytest.mark.parametrize(("contract", "text"), [(c, text) for c, texts in WANTED.items() for text in texts])
def test_a_good_output_is_allowed(contract, text):
    assert re.fullmatch(CONTRACTS[contract].pattern, text)


@pytest.mark.parametrize(("contract", "text"), [(c, text) for c, texts in UNWANTED.items() for text in texts])
def test_a_bad_output_is_not(contract, text):
    assert not re.fullmatch(CONTRACTS[contract].pattern, text)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_expression_needs_nothing_that_a_backend_lacks(contract):
    """Only literals, classes, plain groups, alternatives and counted repetition."""
    bare = re.sub(r"\[\^?(?:\\.|[^\]\\])+\]", "C", CONTRACTS[contract].pattern)
    assert not re.search(r"\(\?|[*+^$]|\\[^.n]|(?<!\\)\.", bare)


DRAFTS = {
    "response": ["", "x\nAnswer:", "x\nAnswer: 4", "x\nConfidence: 0."],
    "claims": [
        "",
        'Solution:\n<Confidence value=0.5 text="a">b',
        'Solution:\n<Confidence value=0.5 text="a',
        'Solution:\n<Confidence value=0.5 text="a">b</Confidence>\n<Confidence value=0.',
        'Solution:\n<Confidence value=0.5 text="a">b</Confidence>\nAns',
    ],
    "explicit_risk": ["", "Answer:"],
}


@pytest.mark.parametrize(("contract", "text"), [(c, text) for c, texts in DRAFTS.items() for text in texts])
def test_the_expressions_of_tails_need_nothing_that_a_backend_lacks(contract, text):
    """As above, and repetition without an end; and no choice inside another choice, which makes xgrammar slow."""
    draft, last = Draft(text, read(text, contract), cut=True), CONTRACTS[contract].last_tails
    for tail in [*CONTRACTS[contract].tails(draft), *(last(draft) if last else [])]:
        assert re.fullmatch(tail.pattern, tail.example)
        assert tail.asked_example is None or re.fullmatch(tail.request_pattern, tail.asked_example)
        for pattern in (tail.pattern, tail.request_pattern):
            bare = re.sub(r"\\\\.|\[\^?(?:\\.|[^\]\\])+\]", "C", pattern)
            assert not re.search(r"\(\?|[^$]\^|\$|\\[^.n]|(?<!\\)\.", bare), bare
            assert not re.search(r"\([^()]*\|[^()]*\([^()]*\|", bare), bare


STEPS = [
    "3 < 4",
    "x < y, so",
    "a<b + 1",
    "\\(p <= 1\\) holds",
    "no sign",
    "5 <\\frac{1}{2}",
    "x <{y}",
    "i<[1]",
    "β<α",
    "1 <√2",
]
NO_STEPS = ["<think>", "a <b>c</b>", "</Confidence>", "<Confidence value=1>", "<|im_end|>", " ", ""]


@pytest.mark.parametrize("step", [*STEPS, *NO_STEPS])
def test_a_step_of_a_tail_may_hold_a_sign_but_no_tag(step):
    (tail,) = CONTRACTS["claims"].tails(Draft("", read("", "claims"), cut=False))
    text = f'0.5 text="why">{step}</Confidence>\nAnswer: 4'
    assert bool(re.fullmatch(tail.pattern, text)) is (step in STEPS)
    if step in STEPS:
        (claim,) = read(tail.opening + text, "claims", "strict").claims
        assert (claim.text, claim.problems) == (step, ())
