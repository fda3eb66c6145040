r"""Answers of several parts in boxes, words that were struck out, task lists, labels in brackets, pictures around answers."""

import pytest

from demur.core.reader import Reader, read


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        (r"Solving both, u = \boxed{7}, v = \boxed{-1}", "u = 7, v = -1"),
        (r"$u = \boxed{7}$ and $v = \boxed{-1}$.", "u = 7, v = -1"),
        ("a=\\boxed{4}\nb=\\boxed{9}", "a = 4, b = 9"),
        (r"\alpha = \boxed{30}, \beta = \boxed{60}", r"\alpha = 30, \beta = 60"),
        (r"x &= \boxed{1} \\ y &= \boxed{8}", "x = 1, y = 8"),
        (r"\boxed{7}\boxed{-1}", "7, -1"),
        (r"\boxed{7} \boxed{-1}", "7, -1"),
        (r"$\boxed{7}$ $\boxed{-1}$", "7, -1"),
        (r"(a) \boxed{7} (b) \boxed{-1}", "7, -1"),
        ("\\boxed{u=7}\n\n\\boxed{v=-1}", "u=7, v=-1"),
        (r"They are \boxed{1}, \boxed{2}, \boxed{3}, and \boxed{4}.", "1, 2, 3, 4"),
        # What is no list of parts keeps its last box.
        (r"u = \boxed{7}, u = \boxed{8}", "8"),
        (r"The half is \boxed{7}. Twice that is \boxed{14}.", "14"),
        (r"u + 1 = \boxed{8}, so u = \boxed{7}", "7"),
        ("\\boxed{7}\n\n\\boxed{7}", "7"),
        ("\\boxed{7}\n\nAfter a check:\n\n\\boxed{8}", "8"),
        ("\\boxed{7}\n\n\\boxed{8}", "8"),
        ("total = \\boxed{10}\nmean = \\boxed{5}", "5"),
        (r"\boxed{\boxed{7}}", "7"),
        (r"so u = \boxed{7}", "7"),
    ],
)
def test_boxes_that_list_parts_are_read_together(written: str, answer: str) -> None:
    assert read(written, "response").answer == answer


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        (r"u = \boxed{7}, v = \boxed{-1}", "u = 7, v = -1"),
        (r"u = \boxed{7}", "u = 7"),
        (r"\boxed{7}\boxed{-1}", "7, -1"),
        (r"$\boxed{7} \boxed{-1}$", "7, -1"),
        (r"\boxed{7} or \boxed{-1}", "7 or -1"),
        (r"\boxed{7} metres", "7"),
        (r"twice \boxed{7}", r"twice \boxed{7}"),
    ],
)
def test_boxes_behind_a_label(written: str, answer: str) -> None:
    found = read(f"Answer: {written}\nConfidence: 0.6", "response")
    assert (found.answer, found.confidence) == (answer, 0.6)


@pytest.mark.parametrize(
    ("written", "answer", "confidence"),
    [
        ("Answer: <s>Lyon</s> Nice\nConfidence: 0.7", "Nice", 0.7),
        ("Answer: Nice <s>or Lyon</s>\nConfidence: 0.7", "Nice", 0.7),
        ("Answer: Nice\nConfidence: <s>0.2</s> 0.7", "Nice", 0.7),
        # Tokens that open and close a sequence are no part of the text.
        ("<s>Answer: Nice</s>", "Nice", None),
        ("<s> Answer: Nice\nConfidence: 0.7</s>", "Nice", 0.7),
        ("Answer: <s>Nice</s>\nConfidence: 0.7", "Nice", 0.7),
        ("Answer: Nice</s><s>[INST] And in Spain? [/INST] Vigo</s>", "Nice", None),
    ],
)
def test_struck_words_are_told_from_the_tokens_of_a_sequence(written, answer, confidence) -> None:
    found = read(written, "response")
    assert (found.answer, found.confidence) == (answer, confidence)


@pytest.mark.parametrize(
    ("written", "answer", "confidence"),
    [
        ("- [x] Answer: 12\n- [x] Confidence: 0.7", "12", 0.7),
        ("* [X] **Answer:** 12\n* [X] **Confidence:** 0.7", "12", 0.7),
        ("- [ ] Answer: 11\n- [x] Answer: 12\n- [ ] Answer: 13\n- [x] Confidence: 0.7", "12", 0.7),
        ("- [ ] Answer: 11", None, None),
        ("[Answer]: 12\n[Confidence]: 0.7", "12", 0.7),
        ("**[Answer]:** 12\n**[Confidence]:** 0.7", "12", 0.7),
        ("[Answer]: 12\n[Confidence]: 0.7\n\n[User]: And 6 + 8?\n[Assistant]: 14\n[Answer]: 14", "12", 0.7),
        ("Answer: 12\nConfidence: 0.7\n[Question 2]: 6 + 8\nAnswer: 14\nConfidence: 0.9", "12", 0.7),
        ("[Answer 1] is close.\nAnswer: 12", "12", None),
    ],
)
def test_labels_in_brackets_and_in_task_lists(written, answer, confidence) -> None:
    found = read(written, "response")
    assert (found.answer, found.confidence) == (answer, confidence)


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("Answer: 12 \U0001f389", "12"),
        ("Answer: 12\u2705", "12"),
        ("Answer: \u2705 12", "12"),
        ("Answer: \u27a1\ufe0f 12", "12"),
        ("Answer \U0001f449: 12", "12"),
        ("Answer\u2705: **12** \U0001f44d\U0001f3fd", "12"),
        # The answer itself.
        ("Answer: \U0001f600", "\U0001f600"),
        ("Answer: \u2705", "\u2705"),
        ("Answer: Q\u2660", "Q\u2660"),
        ("Answer: H\u2082 \u2192 2H", "H\u2082 \u2192 2H"),
        ("Answer: 4 \u2b50", "4 \u2b50"),
        ("Answer: \U0001f34e + \U0001f34e = 2", "\U0001f34e + \U0001f34e = 2"),
    ],
)
def test_pictures_around_an_answer_are_dress(written: str, answer: str) -> None:
    found = read(f"{written}\nConfidence \U0001f4ca: 0.7 \u2728", "response")
    assert (found.answer, found.confidence) == (answer, 0.7)


IN_PIECES = [
    "Answer: <s>Lyon</s> Nice\nConfidence: <s>0.2</s> 0.7",
    "so <s>[INST] x [/INST]\nAnswer: 4</s",
    "- [ ] Answer: 11\n- [x] Answer: 12\n- [x] Confidence: 0.7",
    "[Answer]: 12\n[Confidence]: 0.7\n[User]: And?\n[Answer]: 14",
    "[\n[x\n[x]\n[ans\nAnswer \U0001f449: 12 \U0001f389",
]


@pytest.mark.parametrize("text", IN_PIECES)
@pytest.mark.parametrize("contract", ["response", "claims"])
def test_every_split_reads_the_same(text: str, contract) -> None:
    whole = read(text, contract)
    for size in (1, 2, 3, 5, 8):
        reader = Reader(contract)
        for start in range(0, len(text), size):
            reader.feed(text[start : start + size])
        assert reader.close()[1] == whole
