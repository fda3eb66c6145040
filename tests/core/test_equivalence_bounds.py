"""Answers written to stall whoever reads them, and ground truths as data sets write them."""

from typing import Any

import numpy as np
import pytest

from demur.core.equivalence import (
    answer_key,
    group_answers,
    is_correct,
    is_tame,
    normalize,
    reference_answers,
    same_answer,
)

TOWERS = ["9^{9^{9}}", "9^9^9^9", "10^{10^{10}}", "((9^9)^9)^9^9", "9999!", "((99!)!)!", "1e999999999", "2^{99999999}"]
LONG = [
    "{" * 50_000 + "}" * 50_000,
    "(" * 100_000,
    "9" * 1_000_000,
    "1," * 50_000 + "1",
    "$" * 100_000,
    "\\frac" * 20_000,
]
LONG += [
    "- " * 50_000,
    " ".join("0123456789" * 5_000),
    "\\boxed{" * 10_000,
    "a" * 100_000,
    "½" * 50_000,
    "+".join("1" * 9_999),
]
LONG += ["x=" * 50_000, "\\cup" * 25_000, "²" * 50_000, ".".join("1" * 50_000), "\\left" * 20_000, "~" * 100_000]
MEDIUM = [answer[:1_999] for answer in LONG]


@pytest.mark.parametrize("answer", [*TOWERS, *LONG, *MEDIUM], ids=lambda answer: answer[:12])
def test_a_hostile_answer_is_itself_and_nothing_else(answer: str) -> None:
    if normalize(answer):
        assert same_answer(answer, answer)
    assert not same_answer(answer, "7")
    assert not same_answer(answer, answer + " + 1")


def test_hostile_answers_poison_no_vote() -> None:
    honest = ["1/2", "0.5", "7", r"\frac{1}{2}", "7.0"]
    mixed = [honest[0], TOWERS[0], LONG[0], honest[1], *TOWERS[1:], honest[2], *LONG[1:], honest[3], honest[4]]
    groups = group_answers(mixed)
    assert groups[0] == groups[3] == groups[-2]
    assert groups[-1] == groups[4 + len(TOWERS) - 1]
    assert groups.count(groups[0]) == 3
    assert groups.count(groups[-1]) == 2


@pytest.mark.parametrize("formula", [*TOWERS, *LONG, *MEDIUM], ids=lambda answer: answer[:12])
def test_what_would_stall_algebra_is_not_shown_to_it(formula: str) -> None:
    assert not is_tame(normalize(formula)) or len(normalize(formula)) < 400


@pytest.mark.parametrize("tower", TOWERS)
def test_no_tower_is_tame(tower: str) -> None:
    assert not is_tame(normalize(tower))


@pytest.mark.parametrize(
    "words", ["listen", "silent", "no solution", r"\text{odd}", "x is odd", "12:30", "1604_8", "1e3"]
)
def test_words_times_and_bases_are_no_formulas(words: str) -> None:
    assert not is_tame(normalize(words))


@pytest.mark.parametrize(
    "formula", ["2k+1", r"\frac{x}{x-1}", "e^{x^2}", r"\sin 2x", "x > 3", r"\binom{n}{2}", "2^{10}x"]
)
def test_ordinary_formulas_are_tame(formula: str) -> None:
    assert is_tame(normalize(formula))


def test_numbers_too_large_to_hold_are_compared_as_they_are_written() -> None:
    digits = "7" * 5_000
    assert same_answer(digits, f" {digits}\n")
    assert not same_answer(digits, digits[:-1] + "8")
    assert answer_key("2^{2000}") == str(2**2000)
    assert answer_key("2^{40000}") == "2^{40000}"


GOLDS: list[tuple[Any, tuple[str, ...]]] = [
    ("34", ("34",)),
    (34, ("34",)),
    (0.5, ("0.5",)),
    (np.int64(34), ("34",)),
    (np.array(["34", "35"], dtype=object), ("34", "35")),
    ("", ()),
    ("  ", ()),
    (["Dave Lamb", "Dave lamb", "Dave Lamb"], ("Dave Lamb", "Dave lamb")),
    ({"question": "1+1=?", "solution": "It is 2.", "target": "2"}, ("2",)),
    ({"target": ["2", "two"]}, ("2", "two")),
    (r"\frac{2015 \cdot 2013}{4} \text{ OR } \frac{4056195}{4}", (r"\frac{2015 \cdot 2013}{4}", r"\frac{4056195}{4}")),
    (r"-12 \text{ or } -30", (r"-12 \text{ or } -30",)),
    ("Oregon", ("Oregon",)),
]


@pytest.mark.parametrize(("truth", "accepted"), GOLDS, ids=lambda value: repr(value)[:30])
def test_accepted_answers_of_a_ground_truth(truth: Any, accepted: tuple[str, ...]) -> None:
    assert reference_answers(truth) == accepted
    assert all(is_correct(answer, truth) for answer in accepted)
    assert not is_correct(None, truth)
    assert not is_correct("", truth)
    assert not is_correct("something else", truth)


@pytest.mark.parametrize(
    "truth", [None, True, {"question": "1+1=?"}, object(), [[[[["5"]]]]]], ids=lambda truth: type(truth).__name__
)
def test_a_ground_truth_that_says_nothing_is_an_error(truth: Any) -> None:
    with pytest.raises(TypeError, match="ground truth"):
        reference_answers(truth)
