"""Outputs and pairs of answers after public reports, each with what a careful person reads or says of them.

A case marked `open` is not read right yet: it has to fail, so that the mark goes when it is.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demur.core.equivalence import same_answer
from demur.core.reader import read
from demur.grading import Grader

DATA = Path(__file__).parents[1] / "data"
CASES = [json.loads(line) for line in (DATA / "public_cases.jsonl").read_text(encoding="utf-8").splitlines()]
PAIRS = [json.loads(line) for line in (DATA / "public_pairs.jsonl").read_text(encoding="utf-8").splitlines()]


def marked(case: dict[str, Any]) -> Any:
    reason = pytest.mark.xfail(strict=True, reason=case["why"])
    name = repr(case["text"][-32:]) if "text" in case else f"{case['a']} | {case['b']}"
    return pytest.param(case, id=f"{case['kind']} {name}", marks=[reason] if case.get("open") else [])


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_is_read_as_by_a_careful_person(case: dict[str, Any]) -> None:
    found = read(case["text"], "response", scale=case["scale"])
    assert found.confidence == (None if case["confidence"] is None else pytest.approx(case["confidence"], abs=1e-6))
    if case["answer"] is None or found.answer is None:
        assert found.answer == case["answer"]
    else:
        assert found.answer == case["answer"] or same_answer(found.answer, case["answer"])


@pytest.mark.parametrize("pair", [marked(pair) for pair in PAIRS if pair["needs"] == "text" or not pair["same"]])
def test_are_told_the_same_or_apart_by_reading_alone(pair: dict[str, Any]) -> None:
    """Without the grading process too, nothing passes as equal that is not."""
    assert same_answer(pair["a"], pair["b"]) is pair["same"]
    assert same_answer(pair["b"], pair["a"]) is pair["same"]


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as grader:
        yield grader


@pytest.mark.parametrize("pair", [marked(pair) for pair in PAIRS])
def test_are_told_the_same_or_apart_by_the_grader(grader: Grader, pair: dict[str, Any]) -> None:
    assert grader.same(pair["a"], pair["b"]) is pair["same"]
    assert grader.same(pair["b"], pair["a"]) is pair["same"]


def test_every_case_names_its_source() -> None:
    assert len(CASES) >= 400
    assert all("/" in case["source"] or case["source"] == "own, no report" for case in [*CASES, *PAIRS])
