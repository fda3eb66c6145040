from typing import Any

import pytest

from demur.core.equivalence import after_hashes
from demur_training.data.questions import (
    Question,
    clean_answer,
    extract,
    last_boxed,
    strip_instructions,
)

PROBLEM = "Let $x$ be real.\n\nFind the least value of $x^2 + 2x + 3$."


@pytest.mark.parametrize(
    "wrapped",
    [
        f"Solve this problem step by step. The last line of your response must be the answer.\n\n{PROBLEM}",
        f"{PROBLEM}\n\nRemember to put your answer after the colon.",
        f"Work step-by-step.\n\n{PROBLEM}\n\nPut your final answer within \\boxed{{}}.",
        f"{PROBLEM} Let's think step by step and write the result within \\boxed{{}}.",
        f"{PROBLEM} Please reason step by step. Put your answer at the end.",
        f"{PROBLEM}\n\nPlease reason step by step.\n\nThe last line of your answer holds the number.",
        f"\n {PROBLEM}\n",
    ],
)
def test_instructions_at_either_end_go_and_the_problem_stays(wrapped: str) -> None:
    assert strip_instructions(wrapped) == PROBLEM


DAPO = (
    "Solve the following math problem step by step. The last line of your response should be of the form Answer: "
    "$Answer (without quotes) where $Answer is the answer to the problem.\n\n{}\n\nRemember to put your answer on its "
    'own line after "Answer:".'
)


@pytest.mark.parametrize(
    "problem",
    [
        "A staircase is climbed step by step. In how many ways can one reach step 10?",
        "Ann walks to school step by step.\n\nEach step is 50 cm. How far are 300 steps?",
        "In how many ways can one go up 8 stairs step by step?",
        "Solve step by step: $2x + 3 = 7$.",
        "Solve 3x + 2 = 8 step by step.",
        "A robot works step-by-step, 3 units a time. Where is it after 4 steps?",
        "A machine prints step by step",
    ],
)
@pytest.mark.parametrize("wrapper", ["{}", DAPO, "{} Please reason step by step.", "{}\n\nLet's think step by step."])
def test_a_problem_that_speaks_of_steps_itself_is_kept(wrapper: str, problem: str) -> None:
    assert strip_instructions(wrapper.format(problem)) == problem


def test_a_problem_that_ends_without_a_full_stop_is_kept() -> None:
    assert strip_instructions("$\\frac{16+8}{4-2}=$ Let's think step by step in \\boxed{}.") == "$\\frac{16+8}{4-2}=$"


def test_a_problem_about_steps_is_left_alone() -> None:
    problem = "A robot takes steps of length 1. Each step it turns left. Express the answer in simplest form."
    assert strip_instructions(problem) == problem


@pytest.mark.parametrize(
    ("row", "answers"),
    [
        ({"question": "q?", "answer": "two sums\n2+2=4\n#### 1,204"}, ("1204",)),
        ({"problem": "q?", "solution": "so \\boxed{\\frac{1}{2}} and \\boxed{\\frac{3}{4}}."}, ("\\frac{3}{4}",)),
        ({"problem": "q?", "answer": 204}, ("204",)),
        ({"question": "q?", "answer": ["Dave Lamb", "Dave lamb", "Dave Lamb"]}, ("Dave Lamb", "Dave lamb")),
        ({"prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "q?"}], "label": "7"}, ("7",)),
        ({"prompt": [{"role": "user", "content": "q?"}], "reward_model": {"ground_truth": "34"}}, ("34",)),
        (
            {"prompt": [{"role": "user", "content": "q?"}], "reward_model": {"ground_truth": {"target": "0"}}},
            ("0",),
        ),
    ],
)
def test_answers_are_found_in_every_shape(row: dict[str, Any], answers: tuple[str, ...]) -> None:
    assert extract(row) == Question("q?", answers)


def test_the_bare_problem_is_preferred_where_the_row_has_it() -> None:
    row = {"prompt": [{"role": "user", "content": "wrapped"}], "extra_info": {"raw_problem": "q?"}, "answer": "1"}
    assert extract(row) == Question("q?", ("1",))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"answer": "4"}, "no question"),
        ({"question": "  ", "answer": "4"}, "no question"),
        ({"question": "q?"}, "no answer"),
        ({"question": "q?", "answer": ""}, "no answer"),
        ({"question": "q?", "answer": "line one\nline two"}, "unverifiable answer"),
        ({"question": "q?", "answer": "because " * 40}, "unverifiable answer"),
        ({"question": "q?", "answer": "..."}, "unverifiable answer"),
    ],
)
def test_rows_that_cannot_be_used_say_why(row: dict[str, Any], reason: str) -> None:
    assert extract(row) == reason


def test_boxed_answers_are_read_with_their_braces_balanced() -> None:
    assert last_boxed("\\boxed{1} then \\boxed{\\sqrt{2}}") == "\\sqrt{2}"
    assert last_boxed("\\boxed{1") is None
    assert last_boxed("no box") is None
    assert clean_answer("#### 7") == "7"


@pytest.mark.parametrize(
    ("solution", "answer"),
    [("2+2 = <<2+2=4>>4\n#### 4", "4"), ("#### 1,204 ", "1204"), ("#### 3\n#### 5", "5"), ("4", None), ("####", "")],
)
def test_the_answer_of_a_gsm8k_solution_stands_after_its_last_hashes(solution: str, answer: str | None) -> None:
    assert after_hashes(solution) == answer
