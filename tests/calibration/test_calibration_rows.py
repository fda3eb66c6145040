"""Rows for a calibrator are the same in every format, and a bad cell is named with its place."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demur.calibration.errors import CalibrationError
from demur.calibration.rows import read_signal_rows

ROWS = [
    {"problem": "a", "correct": True, "sample": 0, "signals": {"verbalized": 0.9, "agreement": None}},
    {"problem": "a", "correct": None, "sample": 1, "signals": {"verbalized": 0.5, "agreement": 1.0}},
    {"problem": "b", "correct": False, "sample": 0, "signals": {"verbalized": None, "agreement": 0.25}},
]
COLUMNS = ["problem", "correct", "sample", "verbalized", "agreement"]


def table(path: Path, rows: list[list[str]], columns: list[str] = COLUMNS, delimiter: str = ",") -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([columns, *rows])
    return path


def test_every_format_gives_the_same_rows(tmp_path: Path) -> None:
    cells = [["a", "yes", "0", "0.9", ""], ["a", "", "1", "0.5", "1"], ["b", "wrong", "0", "NA", "0,25"]]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "x.parquet")
    expected = read_signal_rows(tmp_path / "x.jsonl")
    assert expected.signals == ("verbalized", "agreement")
    for path in (
        tmp_path / "x.parquet",
        table(tmp_path / "x.csv", cells),
        table(tmp_path / "x.tsv", cells, delimiter="\t"),
    ):
        found = read_signal_rows(path)
        assert found.signals == expected.signals
        for row, known in zip(found.rows, expected.rows, strict=True):
            assert (row.problem, row.sample, row.correct) == (known.problem, known.sample, known.correct)
            assert dict(row.signals) == dict(known.signals)


def test_a_table_may_have_a_confidence_alone(tmp_path: Path) -> None:
    rows = read_signal_rows(table(tmp_path / "x.csv", [["7", "1", "0.8"]], ["problem", "correct", "confidence"])).rows
    assert (rows[0].problem, rows[0].correct, dict(rows[0].signals)) == (7, True, {"verbalized": 0.8})


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["", "1", "0", "0.8", ""], 'line 2: "problem" must be the id'),
        (["a", "perhaps", "0", "0.8", ""], "line 2: a value must be true or false"),
        (["a", "1", "-1", "0.8", ""], "line 2: a value must be a whole number"),
        (["a", "1", "0", "80", ""], r'line 2: "signals" verbalized is 80; it must be in \[0, 1\]; divide percentages'),
        (["a", "1", "0", "80%", ""], r'line 2: "signals" verbalized is .80%.; it must be a number'),
    ],
)
def test_a_bad_cell_is_named(tmp_path: Path, cells: list[str], message: str) -> None:
    with pytest.raises(CalibrationError, match=message):
        read_signal_rows(table(tmp_path / "x.csv", [cells]))
