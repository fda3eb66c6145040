"""Pairs of answers from tables, read without any algebra."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from demur.core.equivalence import answer_key, group_answers, is_correct, normalize, same_answer

DATA = Path(__file__).parents[1] / "data" / "equivalence"


def table(name: str) -> list[dict[str, str]]:
    with open(DATA / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


PAIRS = table("pairs.tsv")
TEXT_PAIRS = [(row["verdict"], row["a"], row["b"]) for row in PAIRS if row["needs"] == "text"]
DIFFERENT = [(row["a"], row["b"]) for row in PAIRS if row["needs"] != "text" and row["verdict"] == "different"]


@pytest.mark.parametrize(("verdict", "a", "b"), TEXT_PAIRS)
def test_two_answers_are_told_the_same_or_apart_by_reading_them(verdict: str, a: str, b: str) -> None:
    assert same_answer(a, b) is (verdict == "same")
    assert same_answer(b, a) is (verdict == "same")


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different_answers_are_different_without_the_grader_too(a: str, b: str) -> None:
    assert not same_answer(a, b)


@pytest.mark.parametrize("case", table("hendrycks_math.tsv"), ids=lambda case: case["a"])
def test_the_cases_of_hendrycks_math(case: dict[str, str]) -> None:
    assert same_answer(case["a"], case["b"]) is (case["ours"] == "same")
    assert (case["ours"] == case["theirs"]) is not bool(case["why"])


def test_verdicts_agree_with_those_recorded_for_800_predictions() -> None:
    disagreements: list[tuple[str, str]] = []
    lines = gzip.decompress((DATA / "samples_math.jsonl.gz").read_bytes()).decode().splitlines()
    assert len(lines) == 100
    for row in map(json.loads, lines):
        for prediction, correct in zip(row["predictions"], row["correct"], strict=True):
            if is_correct(prediction, row["gold"]) is not correct:
                disagreements.append((prediction, row["gold"]))
    assert disagreements == [("10000", "10{,}000")]  # which is the same number; the recorded verdict is wrong


@pytest.mark.parametrize("nothing", ["", " ", "\n\t", "$$", r"\boxed{}", r"\text{ }", "**", "."])
def test_no_answer_is_no_answer(nothing: str) -> None:
    assert normalize(nothing) in ("", "$$", "**", "$")  # a lone wrapper may stay
    assert not same_answer("", nothing)
    assert not same_answer(nothing, "")
    assert group_answers([None, "", "5"]) == [None, None, 0]


def test_a_decimal_point_tells_versions_apart() -> None:
    assert not is_correct("Windows 31", ["Windows 3.1"])


def test_groups_are_numbered_in_order_of_appearance() -> None:
    assert group_answers(["1/2", None, "3", "0.50", r"\frac{1}{2}", "3.0"]) == [0, None, 1, 0, 0, 1]


@pytest.mark.parametrize(
    ("a", "b"), [("3,14", "3.14"), ("5 km", "5 m"), ("3, 4", "(3, 4)")], ids=["comma", "units", "brackets"]
)
def test_what_a_pair_can_tell_and_a_vote_cannot(a: str, b: str) -> None:
    """The relation of a vote is transitive, so it takes one reading where a pair may take either."""
    assert same_answer(a, b) is not (answer_key(a) == answer_key(b))


def test_a_vote_drops_units_and_takes_a_percentage_as_the_fraction_it_is() -> None:
    assert set(group_answers(["5", "5 km", r"5\text{ km}", "5 kilometers"])) == {0}
    assert group_answers(["10%", r"10\%", "10 percent", "0.1", "10"]) == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("gold", ["25%", r"25\%", "25 percent"])
def test_a_ground_truth_in_percent_says_what_the_question_asks_for(gold: str) -> None:
    assert all(is_correct(answer, gold) for answer in ("25", "25%", "0.25", r"\frac{1}{4}"))
    assert not any(is_correct(answer, gold) for answer in ("2.5", "$25", "25 km", "26"))
    assert not is_correct("25%", "25")
