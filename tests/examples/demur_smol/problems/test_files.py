"""Graded problems as files and as a histogram."""

import json

import pytest

from demur_smol_lab.problems.cli import write_problems
from demur_smol_lab.problems.files import NO_ANSWER, SIZES, row, write
from demur_smol_lab.problems.histogram import chance_by, difficulty, table
from demur_smol_lab.problems.mix import distinct
from demur_training.data.questions import Question, extract


def test_rows_carry_question_answer_cell_and_steps(tmp_path):
    chosen = distinct("train", 20, 0, {"sum_times/1": 1, "unknowable/1": 1})
    assert write(chosen, tmp_path / "a.jsonl", "train") == 20
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [r["question"] for r in rows] == [p.question for p in chosen]
    assert [r["id"] for r in rows] == [f"train-{i}" for i in range(20)]
    assert {r["answer"] == NO_ANSWER for r in rows if r["cell"] == "unknowable/1"} == {True}
    assert all(len(r["steps"]) == 2 for r in rows if r["cell"] == "sum_times/1")


def test_every_row_is_a_question_that_training_takes():
    for i, problem in enumerate(distinct("train", 100, 0)):
        taken = extract(row(problem, f"train-{i}"))
        assert isinstance(taken, Question), problem
        assert taken.text == problem.question
        assert taken.answers == (problem.answer or NO_ANSWER,)


def test_the_command_writes_every_split_and_repeats_itself(tmp_path):
    write_problems(tmp_path / "a")
    write_problems(tmp_path / "b")
    facts = {}
    for split, size in SIZES.items():
        text = (tmp_path / "a" / f"{split}.jsonl").read_text()
        assert text == (tmp_path / "b" / f"{split}.jsonl").read_text()
        rows = [json.loads(line) for line in text.splitlines()]
        assert len(rows) == len({r["question"] for r in rows}) == size
        facts[split] = {(*r["facts"], *r["steps"]) for r in rows}
    assert not facts["train"] & facts["test"]
    assert not facts["train"] & facts["validation"]


def test_difficulty_counts_tenths_and_shares():
    found = difficulty([0.0, 0.05, 0.1, 0.5, 0.79, 0.8, 1.0, 1.0, 0.3, 0.95])
    assert found.counts == (2, 1, 0, 1, 0, 1, 0, 1, 1, 3)
    assert (found.near_certain, found.near_impossible) == (0.4, 0.2)
    assert found.between == pytest.approx(0.4)
    assert "near-certain 40%, between 40%, near-impossible 20%" in table(found)


def test_difficulty_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="no problem"):
        difficulty([])


def test_chance_by_key():
    assert chance_by([("b", True), ("a", False), ("b", False), ("a", False)]) == {"a": 0.0, "b": 0.5}
