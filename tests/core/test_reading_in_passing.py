"""A confidence that is said in a sentence counts only if it is about the answer."""

import pytest

from demur.core.reader import read

SAID = [
    ("I am 90% sure.", 0.9),
    ("I'm about 85% confident in this.", 0.85),
    ("I\u2019m roughly 70 percent certain that it is Rome.", 0.7),
    ("My confidence in this answer is 0.8.", 0.8),
    ("My overall confidence: 80%", 0.8),
    ("I would say I am 60% sure.", 0.6),
    ("I'd say there's a 90% chance that this answer is correct.", 0.9),
    ("The probability that my answer is right is 0.65.", 0.65),
    ("I have 75% confidence in it.", 0.75),
    ("With 90% confidence, the answer is Rome.", 0.9),
    ("That is my guess (95% confident).", 0.95),
    ("I am ninety percent sure.", 0.9),
    ("At first I was 20% sure. Now I am 90% sure.", 0.9),
]
NOT_SAID = [
    "A 95% confidence interval is [1, 2].",
    "I am 95% confident that the interval holds the mean.",
    "With 95% confidence, the mean lies in (1, 2).",
    "At the 0.95 confidence level we reject the hypothesis.",
    "Hence the probability is 0.125.",
    "The probability of rain is 30%.",
    "There is a 90% chance that it rains.",
    "I am not 100% sure.",
    "I'm never 100% certain.",
    "I can't say that I am 90% confident.",
    "If I were 90% sure, I would say so.",
    "I am less than 50% sure.",
    "I am 80 to 90% sure.",
    "I am at least 90% sure.",
    "Nobody is 100% certain of that.",
    "Voters were 60% confident in the party.",
    "Her confidence is 0.9 at best.",
    "A confidence of 0.9 is what the task asks for.",
    "The sample has a confidence level of 0.99.",
]


@pytest.mark.parametrize(("sentence", "value"), SAID)
def test_what_is_said_of_the_answer(sentence: str, value: float) -> None:
    for text in (f"{sentence}\nAnswer: Rome", f"Answer: Rome\n{sentence}", f"So {{it is \\boxed{{Rome}}.\n{sentence}"):
        found = read(text, "response")
        assert (found.answer, found.confidence) == ("Rome", pytest.approx(value)), text


@pytest.mark.parametrize("sentence", NOT_SAID)
def test_what_is_said_of_something_else(sentence: str) -> None:
    for text in (f"{sentence}\nAnswer: Rome", f"Answer: Rome\n{sentence}"):
        found = read(text, "response")
        assert (found.answer, found.state) == ("Rome", "missing"), text


def test_a_label_counts_more_than_a_sentence() -> None:
    assert read("I am 20% sure.\nAnswer: Rome\nConfidence: 0.9\nI am 30% sure.", "response").confidence == 0.9


@pytest.mark.parametrize("text", ["Rome (90% sure)", "Rome (confidence: 0.9)", "Rome. I'm 90% sure.", "Rome\n0.9"])
def test_a_short_answer_and_how_sure(text: str) -> None:
    found = read(text, "response")
    assert (found.answer, found.confidence) == ("Rome", 0.9)
