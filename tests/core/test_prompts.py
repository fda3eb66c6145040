"""The prompts of the three contracts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.core.contracts import CONTRACTS
from demur.engine.base import Message
from demur.engine.demo import Unwrapped, unwrap
from demur.prompts import messages, prompt_hash, template_of, wrap


@given(st.text(min_size=1, max_size=60), st.sampled_from(tuple(CONTRACTS)), st.sampled_from(["maths", "general"]))
def test_the_question_stands_in_the_prompt_as_it_is(question, contract, domain):
    assert question in wrap(question, contract, domain=domain, risk_threshold=0.5)


def test_only_the_last_user_message_is_wrapped():
    turns = [
        Message(role="user", content="2+2?"),
        Message(role="assistant", content="4"),
        Message(role="user", content="3+3?"),
    ]
    asked = messages(turns, "response")
    assert asked[:2] == turns[:2]
    assert "3+3?" in asked[2]["content"]
    assert "Confidence:" in asked[2]["content"]


@pytest.mark.parametrize("turns", [[], [Message(role="assistant", content="hi")]])
def test_a_conversation_has_to_end_with_the_user(turns):
    with pytest.raises(ValueError, match="last message"):
        messages(turns, "response")


@pytest.mark.parametrize(
    ("t", "percent", "penalty"),
    [(0.75, "75 percent", "3.00 points"), (0.0, "0 percent", "0.00 points"), (1.0, "100 percent", "everything")],
)
def test_explicit_risk_states_threshold_and_penalty(t, percent, penalty):
    prompt = wrap("2+2?", "explicit_risk", risk_threshold=t)
    assert percent in prompt
    assert penalty in prompt


def test_explicit_risk_needs_a_threshold():
    with pytest.raises(ValueError, match="risk threshold"):
        wrap("2+2?", "explicit_risk")


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_model_that_was_not_trained_gets_a_wording_of_its_own(contract):
    asked = wrap("2+2?", contract, risk_threshold=0.75, trained=False)
    assert asked.endswith("\n\n2+2?")
    assert "step by step" in asked
    assert "language of the question" in asked
    assert prompt_hash(contract, trained=False) != prompt_hash(contract)
    assert unwrap(asked) == Unwrapped("2+2?", CONTRACTS[contract], 0.75 if contract == "explicit_risk" else 0.0)


def test_a_contract_without_such_a_wording_has_one_for_all():
    assert template_of("response") == CONTRACTS["response"].template
    assert template_of("response", trained=False) == CONTRACTS["response"].untrained_template


def test_the_hash_tells_prompts_apart():
    assert len({prompt_hash(contract, domain) for contract in CONTRACTS for domain in ("maths", "general")}) == 6
