"""Real and hand-written outputs, each with what has to be read from it."""

import json
from pathlib import Path

import pytest

from demur.core.reader import read

TABLE = Path(__file__).parents[1] / "data" / "reading" / "table.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['source']} {row['text'][-24:]!r}")
def test_reads(row: dict):
    got = read(row["text"], row["contract"], row["mode"])
    assert got.state == row["state"]
    assert got.confidence == pytest.approx(row["confidence"])
    assert got.idk == row.get("idk", False)
    assert got.violation == row.get("violation", False)
    if "answer" in row:
        assert got.answer == row["answer"]
    if "problems" in row:
        assert list(got.problems) == row["problems"]


def test_the_table_is_long_and_real_enough():
    assert len(ROWS) >= 200
    assert sum(row["source"] != "hand-written" for row in ROWS) >= 100
