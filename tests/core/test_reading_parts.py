r"""Answers of several parts in boxes, words that were struck out, task lists, labels in brackets, pictures around answers."""

import pytest

from demur.core.reader import read


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
