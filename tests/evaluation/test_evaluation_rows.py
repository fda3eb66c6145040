"""Row files: what is kept, what is counted, what is refused and how."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demur.evaluation.columns import RowFormat, is_called
from demur.evaluation.errors import EvaluationError, RowsFileError
from demur.evaluation.row_files import OwnProblem, read_rows
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
    bad = ["high", "0.5 or 0.7", -0.1, True, float("inf"), [0.5], 10**400, "1,000"]
    path = written(tmp_path, *[{"problem": k, "confidence": value, "correct": True} for k, value in enumerate(bad)])
    rows = read_rows(path)
    assert rows.count("invalid") == len(bad)
    assert rows.unreadable == f"{path} line 1: 'high'"
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
        ({"problem": [], "confidence": 0.5, "correct": True}, 'line 1: "problem" must be'),
        ({"risk_threshold": 0.5, "correct": True}, 'line 1: "problem" must be there with a "risk_threshold"'),
        ({"problem": "a", "confidence": 0.5}, 'line 1: "correct" must be'),
        ({"problem": "a", "confidence": 0.5, "correct": "maybe"}, "line 1: \"correct\" must be .*; this is 'maybe'"),
        ({"problem": "a", "confidence": 0.5, "correct": 0.5}, 'line 1: "correct" must be'),
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


def table(tmp_path, text, name="rows.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("True", "False"), ("TRUE", "FALSE"), ("yes", "no"), ("Y", "N"), ("1", "0"), ("1.0", "0.0"),
        ("correct", "wrong"), ("Correct", "Incorrect"), ("right", "false"), ("pass", "fail"), ("WAHR", "FALSCH"),
    ],
)  # fmt: skip
def test_verdicts_are_read_in_words(tmp_path, words):
    rows = read_rows(table(tmp_path, f"confidence,correct\n0.9,{words[0]}\n0.1, {words[1]}\n0.5,\n0.5,n/a\n")).rows
    assert [row.correct for row in rows] == [True, False, None, None]


def test_rows_without_a_problem_are_problems_of_their_own(tmp_path):
    path = table(tmp_path, "confidence,correct\n0.9,1\n0.9,1\n")
    rows = read_rows(path)
    assert [row.problem for row in rows.rows] == [OwnProblem(str(path), 2), OwnProblem(str(path), 3)]
    assert rows.notes == ("No row names a problem: each is a problem of its own.",)
    some = read_rows(table(tmp_path, "problem,confidence,correct\n1.0,0.9,1\n,0.9,1\nnan,0.9,1\n"))
    assert some.rows[0].problem == 1
    assert some.notes == ("2 of 3 rows name no problem: each is a problem of its own.",)


def test_ids_are_the_same_in_every_format(tmp_path):
    ids = [1, 2.0, "q", "007", 2.5]
    records = [{"problem": name, "confidence": 0.5, "correct": True} for name in ids]
    lines = read_rows(written(tmp_path, *records)).rows
    text = "".join(f"{name},0.5,1\n" for name in ids)
    cells = read_rows(table(tmp_path, "problem,confidence,correct\n" + text)).rows
    assert [row.problem for row in lines] == [row.problem for row in cells] == [1, 2, "q", "007", "2.5"]


def test_columns_are_recognised_by_name_and_said(tmp_path):
    rows = read_rows(table(tmp_path, "Question ID,P(True),isCorrect,model\n7,0.25,yes,m\n"))
    assert rows.rows == (Row(7, 0, 0.25, True),)
    assert rows.notes == (
        'Read "P(True)" as confidence, "isCorrect" as correct, "Question ID" as problem;'
        " choose others with --confidence, --correct, --problem.",
    )


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("prob", "confidence"), ("p", "confidence"), ("score", "confidence"), ("stated_confidence", "confidence"),
        ("extracted_prob", "confidence"), ("y_prob", "confidence"), ("p_correct", "confidence"),
        ("label", "correct"), ("is_correct", "correct"), ("judged_correct", "correct"), ("Correctness", "correct"),
        ("id", "problem"), ("question_id", "problem"), ("questionId", "problem"), ("prompt", "problem"),
    ],
)  # fmt: skip
def test_common_names_are_known_for_one_field_alone(name, field):
    assert [known for known in ("confidence", "correct", "problem") if is_called(name, known)] == [field]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("prob,score,correct", '"prob" and "score" could each be the confidence; name one with --confidence COLUMN'),
        ("confidence,label,is_correct", '"label" and "is_correct" could each be the verdict .* with --correct COLUMN'),
        ("likelihood,correct", "no column is called like a confidence; name it with --confidence COLUMN"),
        ("confidence,seen", 'line 2: "correct" must be there.*; the row has "confidence", "seen": .*--correct COLUMN'),
    ],
)
def test_doubt_about_a_column_is_refused_with_the_option(tmp_path, header, message):
    cells = ",".join("1" for _ in header.split(","))
    with pytest.raises(RowsFileError, match=message):
        read_rows(table(tmp_path, f"{header}\n{cells}\n"))


def test_named_columns_settle_it(tmp_path):
    path = table(tmp_path, "prob,score,label,hit,id,q\n0.1,0.2,0,1,a,b\n")
    rows = read_rows(path, row_format=RowFormat(confidence="score", correct="hit", problem="q"))
    assert rows.rows == (Row("b", 0, 0.2, True),)
    assert rows.notes == ()
    with pytest.raises(RowsFileError, match=r'there is no column "guess" \(--confidence\); it has "prob", "score"'):
        read_rows(path, row_format=RowFormat(confidence="guess"))


def test_rows_that_name_a_field_differently_are_refused(tmp_path):
    records = {"confidence": 0.5, "correct": True}, {"prob": 0.5, "correct": True}
    with pytest.raises(RowsFileError, match='line 2: "confidence" and "prob" in different rows'):
        read_rows(written(tmp_path, *records))


@pytest.mark.parametrize("value", ["85", "85%", "1.5", "100", "85.5 %"])
def test_another_scale_is_refused_with_the_option(tmp_path, value):
    path = table(tmp_path, f"confidence,correct\n1,0\n{value},1\n")
    with pytest.raises(RowsFileError, match=r'line 3: "confidence" is .*--scale percent'):
        read_rows(path)


@pytest.mark.parametrize(
    ("scale", "values", "read"),
    [
        (None, ["0.25", "1", "0", ".5", "0,75", "1.0000000001"], [0.25, 1, 0, 0.5, 0.75, 1]),
        ("percent", ["25", "1", "100", "0", "12,5"], [0.25, 0.01, 1, 0, 0.125]),
        ("percent", ["25%", "1 %", "12,5%"], [0.25, 0.01, 0.125]),
        ("100", ["25", "1"], [0.25, 0.01]),
        ("10", ["9", "1", "2.5"], [0.9, 0.1, 0.25]),
        ("5", ["5", "1"], [1, 0.2]),
    ],
)
def test_confidences_on_a_scale(tmp_path, scale, values, read):
    text = "".join(f'"{value}";1\n' for value in values)
    rows = read_rows(table(tmp_path, "confidence;correct\n" + text), row_format=RowFormat(scale=scale)).rows
    assert [row.confidence for row in rows] == pytest.approx(read, abs=1e-12)


@pytest.mark.parametrize(
    ("scale", "values", "message"),
    [
        ("10", ["3", "85", "60"], "most confidences are above 10: is it the right --scale"),
        ("percent", ["85%", "0.85"], "write all with the percent sign, or none"),
        ("high", ["1"], "--scale high: write percent, or the top of the scale"),
        ("0.5", ["1"], "--scale 0.5: write percent"),
    ],
)
def test_a_scale_that_does_not_fit_is_refused(tmp_path, scale, values, message):
    text = "".join(f"{value},1\n" for value in values)
    with pytest.raises(EvaluationError, match=message):
        read_rows(table(tmp_path, "confidence,correct\n" + text), row_format=RowFormat(scale=scale))


def test_a_stated_scale_counts_what_is_above_it(tmp_path):
    path = table(tmp_path, "confidence,correct\n0.5,1\n0.25,1\n336,1\n2.0,0\n")
    with pytest.raises(RowsFileError, match=r"is '336', above 1: .*or --scale 1 to count such a one as unreadable"):
        read_rows(path)
    rows = read_rows(path, row_format=RowFormat(scale="1"))
    assert rows.count("invalid") == 2
    assert rows.unreadable == f"{path} line 4: '336'"


def test_parquet_rows_of_a_notebook(tmp_path):
    columns = {"id": [1.0, 2.0, None], "prob": [0.5, float("nan"), 0.25], "label": [True, False, None]}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    rows = read_rows(tmp_path / "rows.parquet").rows
    assert [row.problem for row in rows[:2]] == [1, 2]
    assert [(row.confidence, row.correct) for row in rows] == [(0.5, True), (None, False), (0.25, None)]


@pytest.mark.parametrize("text", ["", "\n\n", "confidence,correct\n", "[]"])
def test_a_file_without_rows_is_refused(tmp_path, text):
    path = table(tmp_path, text)
    with pytest.raises(RowsFileError, match="holds no rows"):
        read_rows(path)
    assert read_rows(path, may_be_empty=True).rows == ()


def test_a_file_beside_another_may_have_its_own_columns(tmp_path):
    path = table(tmp_path, "problem,correct\n1,1\n")
    asked = RowFormat(confidence="guess", correct="hit")
    assert read_rows(path, row_format=asked, beside=True).rows == (Row(1, 0, None, True, state="missing"),)
