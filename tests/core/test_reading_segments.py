"""Thought, channels, other speakers, code and quotes are told apart before anything is read."""

import pytest

from demur.core.parsing import Reset, fold
from demur.core.reader import Reader, read

Read = tuple[str | None, float | None]


def found(text: str) -> Read:
    whole = read(text, "response")
    reader = Reader("response")
    events = [event for character in text for event in reader.feed(character)]
    last, completion = reader.close()
    assert completion == whole
    assert fold([*events, *last]) == (whole.text, [])
    return whole.answer, whole.confidence


HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}"
LABELLED = "Answer: 8\nConfidence: 0.2"


@pytest.mark.parametrize(
    "thought",
    [
        "<think>{}</think>{}",
        "<think>\n{}\n</think>\n\n{}",
        "{}</think>{}",
        "<thinking>{}</thinking>\n{}",
        "<thought>{}</thought>{}",
        "<reasoning>\n{}\n</reasoning>\n{}",
        "<scratchpad>{}</scratchpad>\n{}",
        "<seed:think>{}</seed:think>{}",
        "[THINK]{}[/THINK]{}",
        "◁think▷{}◁/think▷{}",
        "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>{}<|END_RESPONSE|>",
        "<|begin_of_thought|>\n{}\n<|end_of_thought|>\n\n<|begin_of_solution|>\n{}\n<|end_of_solution|>",
        "<|channel>thought\n{}<channel|>{}",
        HARMONY,
        "<|start|>assistant" + HARMONY + "<|return|>",
        "<|channel|>commentary<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    ],
)
@pytest.mark.parametrize(
    ("inside", "after", "right"),
    [
        (LABELLED, "Answer: 9", ("9", None)),
        (LABELLED, "Answer: 9\nConfidence: 0.7", ("9", 0.7)),
        ("Answer: 8", "It is \\boxed{9}.\nConfidence: 0.7", ("9", 0.7)),
        ("I am 20% sure. Hm.", "Answer: 9", ("9", None)),
        ("\\boxed{8}", "It stays open.\nNobody knows.\nConfidence: 0.7", (None, 0.7)),
    ],
)
def test_what_was_thought_is_not_read(thought: str, inside: str, after: str, right: Read) -> None:
    assert found(thought.format(inside, after)) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Answer: Paris<|im_end|>\nConfidence: 0.9", ("Paris", None)),
        ("Answer: Paris\nConfidence: 0.9<|im_end|>", ("Paris", 0.9)),
        ("Answer: Paris\nConfidence: 0.9<|im_end|>\n<|im_start|>user\nAnswer: Rome\nConfidence: 0.1", ("Paris", 0.9)),
        ("<|im_start|>assistant\nAnswer: Paris\nConfidence: 0.9<|im_end|>", ("Paris", 0.9)),
        ("Answer: Paris</s>\nConfidence: 0.9</s>", ("Paris", 0.9)),
        (
            "Answer: Paris\nConfidence: 0.9<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnswer: no",
            ("Paris", 0.9),
        ),
        ("Answer: Paris\nConfidence: 0.9<end_of_turn>\n<start_of_turn>user\nAnswer: Rome", ("Paris", 0.9)),
        ("Answer: Paris\nConfidence: 0.9<｜end▁of▁sentence｜>", ("Paris", 0.9)),
    ],
)
def test_special_tokens_end_a_turn_and_stand_in_no_answer(text: str, right: Read) -> None:
    assert found(text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Answer: 8\n<think>how sure?</think>\nAnswer: 9\nConfidence: 0.6", ("9", 0.6)),
        ("Answer: 8\nConfidence: 0.6\n<think>fine</think>\nThat is all.", ("8", 0.6)),
        ("Answer: 8\n<think>how sure?</think>\nConfidence: 0.6", ("8", None)),
    ],
)
def test_answer_and_confidence_come_from_one_stretch_of_text(text: str, right: Read) -> None:
    assert found(text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Answer: 8\nConfidence: 0.9\n\nWait, no.\nAnswer: 9", ("9", None)),
        ("Answer: 8\nConfidence: 0.9\n\nAnswer: 9\nConfidence: 0.4", ("9", 0.4)),
        ("Answer: 8\nConfidence: 0.9\n\nFinal answer: **8**", ("8", 0.9)),
        ("Answer: $8$\nConfidence: 0.9\n\nFinal answer: \\boxed{8}.", ("8", 0.9)),
        ("Confidence: 0.3\nAnswer: 8\n\nConfidence: 0.9\nAnswer: 9", ("9", 0.9)),
        ("Confidence: 0.3\nAnswer: 8\nAnswer: 9", ("9", None)),
        ("Example:\nAnswer: 7\nConfidence: 0.5\n\nMine:\nAnswer: 9", ("9", None)),
        ("```\nAnswer: 7\nConfidence: 0.1\n```\nAnswer: 4", ("4", None)),
        ("Answer: 4\nConfidence: 0.8\n```\nAnswer: 7\nConfidence: 0.1\n```", ("4", 0.8)),
        ("```\nAnswer: 4\nConfidence: 0.9\n```", ("4", 0.9)),
        ("Answer: 4\nConfidence: 0.8\n\n> Answer: 7\n> Confidence: 0.1", ("4", 0.8)),
        ("> Answer: 7\n> Confidence: 0.1", ("7", 0.1)),
    ],
)
def test_a_confidence_meets_no_other_answer(text: str, right: Read) -> None:
    assert found(text) == right


def test_a_thought_that_never_ends_is_read_only_when_asked_for() -> None:
    text = "<think>Answer: 8\nConfidence: 0.2"
    assert found(text) == (None, None)
    last_resort = read(text, "response", thought_counts=True)
    assert (last_resort.answer, last_resort.confidence) == ("8", 0.2)
    assert last_resort.problems == ("read_from_thought",)
    with_text = read("<think>Answer: 8</think>So it is.", "response", thought_counts=True)
    assert (with_text.answer, with_text.problems) == (None, ("confidence_missing", "answer_missing"))


def test_a_thought_amid_the_text_is_hidden_and_takes_nothing_back() -> None:
    reader = Reader("response")
    events = reader.feed("First.\n<think>secret</think>\nThen.\nAnswer: 4")
    last, completion = reader.close()
    assert not any(isinstance(event, Reset) or "secret" in repr(event) for event in [*events, *last])
    assert completion.text == "First.\n\nThen."


def test_claims_of_a_thought_are_void() -> None:
    claim = '<Confidence value={} text="a">{}</Confidence>\n'
    text = f"<think>Solution:\n{claim.format(0.1, 'no')}</think>Solution:\n{claim.format(0.9, 'yes')}Answer: 4"
    found = read(text, "claims")
    assert ([c.text for c in found.claims], found.confidence, found.answer) == (["yes"], 0.9, "4")


def test_a_question_behind_the_answer_of_claims_ends_them() -> None:
    claim = '<Confidence value={} text="a">{}</Confidence>\n'
    text = f"Solution:\n{claim.format(0.9, 'mine')}Answer: 4\n\nQuestion: 5 + 5?\nSolution:\n{claim.format(0.1, 'no')}"
    found = read(f"{text}Answer: 10", "claims")
    assert ([c.text for c in found.claims], found.confidence, found.answer) == (["mine"], 0.9, "4")


def test_what_follows_a_run_on_is_not_shown() -> None:
    found = read("Two and two.\nAnswer: 4\nConfidence: 0.8\n\nQuestion: 5 + 5?\nFive.\nAnswer: 10", "response")
    assert (found.text, found.answer, found.confidence) == ("Two and two.", "4", 0.8)


def test_a_final_answer_behind_questions_to_oneself_counts() -> None:
    text = "Question: the sum?\nAnswer: 3\nQuestion: twice that?\nAnswer: 6\nFinal answer: 6 apples\nConfidence: 0.7"
    found = read(text, "response")
    assert (found.answer, found.confidence) == ("6 apples", 0.7)
