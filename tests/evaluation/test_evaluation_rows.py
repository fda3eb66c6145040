"""Row files: what is kept, what is counted, what is refused and how."""

import gzip
import json

import pytest

from demur.evaluation.errors import RowsFileError
from demur.evaluation.row_files import read_rows
from demur.evaluation.rows import Row, write_rows


def written(tmp_path, *records, name="rows.jsonl"):
    path = tmp_path / name
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_wire_form_is_read_and_written(tmp_path):
    rows = (
        Row("q1", 0, 0.7, True),
        Row("q1", 1, None, False, state="missing"),
        Row("q2", 0, None, None, state="invalid"),
        Row(3, 0, None, False, state="missing", risk_threshold=0.25, abstained=True),
    )
    path = tmp_path / "rows.jsonl"
    write_rows(path, rows)
    assert read_rows(path).rows == rows
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert first == {"problem": "q1", "sample": 0, "confidence": 0.7, "correct": True, "claim": None, "state": "value"}


def test_gzip_is_read(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write('{"problem": "a", "confidence": 0.5, "correct": 1}\n')
    assert read_rows(path).rows == (Row("a", 0, 0.5, True),)


def test_other_systems_may_leave_out_the_sample_and_add_fields(tmp_path):
    path = written(tmp_path, *[{"problem": "a", "confidence": 1, "correct": True, "model": "x"}] * 3, "")
    assert [row.sample for row in read_rows(path).rows] == [0, 1, 2]


def test_unreadable_confidences_are_counted_and_the_first_is_named(tmp_path):
    bad = [95, "0.7", -0.1, True, float("inf")]
    path = written(tmp_path, *[{"problem": k, "confidence": value, "correct": True} for k, value in enumerate(bad)])
    rows = read_rows(path)
    assert rows.count("invalid") == 5
    assert rows.unreadable == f"{path} line 1: 95"
    path = written(
        tmp_path,
        {"problem": 1, "confidence": None, "correct": True},
        '{"problem": 2, "confidence": NaN, "correct": true}',
    )
    assert read_rows(path).count("missing") == 2


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "line 1: not JSON"),
        ("[1]", "line 1: a row is a JSON object, this is a list"),
        ({"confidence": 0.5, "correct": True}, 'line 1: "problem" must be'),
        ({"problem": "a", "confidence": 0.5}, 'line 1: "correct" must be'),
        ({"problem": "a", "confidence": 0.5, "correct": "yes"}, 'line 1: "correct" must be'),
        ({"problem": "a", "confidence": 0.5, "correct": 1, "sample": -1}, 'line 1: "sample" must be'),
        ({"problem": "a", "confidence": 0.5, "correct": 1, "claim": 1.5}, 'line 1: "claim" must be'),
        ({"problem": "a", "confidence": 0.5, "correct": 1, "risk_threshold": 2}, 'line 1: "risk_threshold" must be'),
    ],
)
def test_lines_that_are_no_rows_are_refused_by_place_and_field(tmp_path, record, message):
    with pytest.raises(RowsFileError, match=message):
        read_rows(written(tmp_path, record))


def test_the_same_row_twice_is_refused(tmp_path):
    record = {"problem": "a", "sample": 2, "confidence": 0.5, "correct": True}
    with pytest.raises(RowsFileError, match="line 2: problem 'a', sample 2 is there twice"):
        read_rows(written(tmp_path, record, record))


def test_both_levels_in_one_file_need_a_choice(tmp_path):
    answer = {"problem": "a", "confidence": 0.5, "correct": True}
    path = written(tmp_path, answer, {**answer, "claim": 0}, {**answer, "claim": 1})
    with pytest.raises(RowsFileError, match="1 rows are about answers and 2 about claims"):
        read_rows(path)
    assert len(read_rows(path, "claims").rows) == 2
    assert len(read_rows(path, "response").rows) == 1


def test_files_that_cannot_be_read_are_one_line(tmp_path):
    with pytest.raises(RowsFileError, match=r"nowhere\.jsonl: No such file"):
        read_rows(tmp_path / "nowhere.jsonl")
    damaged = tmp_path / "rows.jsonl.gz"
    damaged.write_bytes(b"not gzip")
    with pytest.raises(RowsFileError, match=r"rows\.jsonl\.gz: "):
        read_rows(damaged)
