"""Where the answer stands in the output it was read from."""

import pytest

from demur.core.answer_span import OutputForm
from demur.core.contracts import CONTRACTS

RESPONSE = OutputForm(CONTRACTS["response"])
CLAIMS = OutputForm(CONTRACTS["claims"])
RISK = OutputForm(CONTRACTS["explicit_risk"])


def located(text, form=RESPONSE):
    """The output with its answer marked."""
    answer = form.read(text).answer
    assert answer is not None
    span = form.answer_span(text, answer)
    return None if span is None else f"{text[: span[0]]}>>{text[slice(*span)]}<<{text[span[1] :]}"


@pytest.mark.parametrize(
    "marked",
    [
        "Reason.\nAnswer: >>42<<\nConfidence: 0.9",
        "Answer: >>0.9<<\nConfidence: 0.9",
        "42 is what I get, surely 42.\nAnswer: >>42<<\nConfidence: 0.42",
        "Answer: 4\nNo, wait.\nAnswer: >>5<<\nConfidence: 0.7",
        "**Answer:** >>eight euros<<\n**Confidence:** 80%",
        "Answer: \\boxed{>>17<<}\nConfidence: 1",
        "Answer:\n>>Zürich – Ost<<\nConfidence: 0.5",
        "Answer: >>東京<<。\nConfidence: 0.6",
        "<think>Answer: 7 perhaps</think>\nAnswer: >>7<<\nConfidence: 0.3",
        "<answer>>>7<<</answer><confidence>0.3</confidence>",
        "So it must be \\boxed{>>12<<}.\nConfidence: 0.4",
        "Answer: >>8<<",
    ],
)
def test_it_is_found_where_it_was_read(marked) -> None:
    assert located(marked.replace(">>", "", 1).replace("<<", "", 1)) == marked


def test_under_the_other_contracts_too() -> None:
    step = '<Confidence value=0.9 text="why">3 + 4 = 7</Confidence>'
    assert located(f"Answer: 7?\nSolution:\n{step}\nAnswer:7", CLAIMS) == f"Answer: 7?\nSolution:\n{step}\nAnswer:>>7<<"
    assert located("I weigh it.\nAnswer: Oslo", RISK) == "I weigh it.\nAnswer: >>Oslo<<"


def test_a_part_of_a_longer_word_or_number_is_not_it() -> None:
    assert RESPONSE.answer_span("In 1942 they had 42 of them, and 420 later.", "42") == (17, 19)


def test_an_answer_that_stands_nowhere_is_not_located() -> None:
    assert RESPONSE.answer_span("Nothing here.\nConfidence: 0.5", "7") is None
    assert RESPONSE.answer_span("Confidence: 0.7", "0.7") is None
