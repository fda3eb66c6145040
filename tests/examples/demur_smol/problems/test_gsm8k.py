"""GSM8K's file: which rows become graded problems."""

import json

import pytest

from demur_smol_lab.problems.gsm8k import read_gsm8k
from demur_smol_lab.problems.problem import Step
from demur_training.errors import DataError


def row(question: str, answer: str) -> str:
    return json.dumps({"question": question, "answer": answer})


def test_rows_whose_working_is_whole_numbers_are_kept(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "\n".join(
            [
                row("Six bags of 4, and 3 more?", "6*4 = <<6*4=24>>24\n24+3 = <<24+3=27>>27\n#### 27"),
                row("Half of five?", "5/2 = <<5/2=2.5>>2.5\n#### 2.5"),
                row("Half of five, rounded?", "5/2 = <<5/2=2>>2\n#### 2"),
                row("Sum of three?", "<<1+2+3=6>>6\n#### 6"),
                row("No working?", "#### 4"),
                row("long " * 80, "<<1+2=3>>3\n#### 3"),
            ]
        )
    )
    (problem,) = read_gsm8k(path)
    assert problem.steps == (Step(6, "*", 4), Step(24, "+", 3))
    assert problem.answer == "27"
    assert problem.cell == "gsm8k/2"


def test_a_broken_row_is_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"question": "x"}\n')
    with pytest.raises(DataError, match=r"rows.jsonl, row 1, is no GSM8K row: it has no answer"):
        list(read_gsm8k(path))
