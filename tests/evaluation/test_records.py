"""The one reader of row files: every format, encoding and compression, and every way of being broken."""

import bz2
import gzip
import json
import lzma
import os
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.records import RecordsError, read_records

ROWS = [{"name": "é", "text": 'two, or "three"\nlines'}, {"name": "“b”", "text": "; |\t"}]


def values(path):
    return [record.value for record in read_records(path)]


def stored(tmp_path, content, name="rows"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def quoted(delimiter):
    cells = [list(ROWS[0])] + [list(row.values()) for row in ROWS]
    return "\r\n".join(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in line) for line in cells)


TEXTS = {
    "lines": "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS),
    "blank lines": "\n\n".join(json.dumps(row) for row in ROWS) + "\n\n",
    "array": json.dumps(ROWS, ensure_ascii=False),
    "pretty array": json.dumps(ROWS, indent=2, ensure_ascii=False),
    "pretty objects": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "wrapped": json.dumps({"version": 1, "data": ROWS}),
    "columns": json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}),
    "columns by index": json.dumps({name: {str(k): row[name] for k, row in enumerate(ROWS)} for name in ROWS[0]}),
    "split": json.dumps({"columns": list(ROWS[0]), "index": [0, 1], "data": [list(row.values()) for row in ROWS]}),
    "csv": quoted(","),
    "semicolons": quoted(";"),
    "tsv": quoted("\t"),
    "pipes": quoted("|"),
    "declared": "sep=;\n" + quoted(";"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_formats_and_encodings_are_told_from_the_content(tmp_path, text, encoding):
    path = stored(tmp_path, text.encode(encoding))
    assert [{name: cell.replace("\r\n", "\n") for name, cell in row.items()} for row in values(path)] == ROWS


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["rows", "rows.jsonl.gz", "rows.csv"])
def test_compression_is_told_from_the_content(tmp_path, pack, name):
    assert values(stored(tmp_path, pack(TEXTS["lines"].encode()), name)) == ROWS


def test_what_a_browser_unpacked_may_keep_its_suffix(tmp_path):
    assert values(stored(tmp_path, TEXTS["csv"], "rows.csv.gz"))[1] == ROWS[1]


@pytest.mark.parametrize("name", ["rows", "rows.parquet"])
def test_parquet_keeps_its_types(tmp_path, name):
    rows = [{"id": 1, "p": 0.5, "ok": True, "chat": [{"role": "user"}]}, {"id": 2, "p": None, "ok": False, "chat": []}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / name)
    records = list(read_records(tmp_path / name))
    assert [record.value for record in records] == rows
    assert [record.place for record in records] == [f"{tmp_path / name} row {k}" for k in (1, 2)]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("id,prob\nété,0.9\ncafé,0.1\n", "latin-1"),
        ("id,prob\n“it’s” – €5,0.9\n", "cp1252"),
        ("id,prob\nOù est le café ?,0.9\nà côté,0.1\n", "cp1252"),
        ("id,prob\nNão é possível,0.9\ncoração,0.1\n", "cp1252"),
        ("id,prob\nVad är huvudstaden på ön?,0.9\nÅbo,0.1\n", "cp1252"),
        ("id,prob\nKterá řeka je nejdelší?,0.9\nPříliš žluťoučký kůň,0.1\n", "cp1250"),
        ("id,prob\nСколько будет два плюс два?,0.3\nвопрос,0.1\n", "cp1251"),
        ("id,prob\n法国的首都是哪里？请用一个词回答。,0.3\n这个问题的答案是什么,0.1\n", "gb18030"),
        ("id,prob\nフランスの首都はどこですか,0.1\n", "shift_jis"),
    ],
)
def test_encodings_before_unicode_are_recognised(tmp_path, text, encoding):
    assert values(stored(tmp_path, text.encode(encoding)))[0]["id"] == text.splitlines()[1].rpartition(",")[0]


def test_places_are_lines_of_the_file(tmp_path):
    path = stored(tmp_path, '\n\na,b\n1,2\n,\n"x\ny",3\n4,5\n', "rows.csv")
    assert [(record.number, record.value["b"]) for record in read_records(path)] == [(4, "2"), (6, "3"), (8, "5")]
    lines = stored(tmp_path, '\n{"a": 1}\n\n"text"\n', "rows.jsonl")
    assert [(record.number, record.value) for record in read_records(lines)] == [(2, {"a": 1}), (4, "text")]


def test_long_fields_and_trailing_delimiters_are_taken(tmp_path):
    path = stored(tmp_path, "a,b,\n" + "x" * 200_000 + ",1,,\n", "rows.csv")
    assert values(path) == [{"a": "x" * 200_000, "b": "1"}]


def test_a_single_row_is_no_table(tmp_path):
    row = {"question": "q", "messages": [{"role": "user"}]}
    assert values(stored(tmp_path, json.dumps(row))) == [row]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ('{"a": 1}\n{"a":\n', "rows", "rows line 2: not JSON: Expecting value"),
        ('{"a": 1\n', "rows.jsonl", r"rows\.jsonl line 1: not JSON"),
        ('[{"a": 1},\n{"a" 2}]', "rows.json", r"rows\.json line 2: not JSON"),
        ("a,b\n1,2\n1\n", "rows", "line 3: 1 fields where the first line names 2 columns; quote fields"),
        ("a,b\n1,2,3\n", "rows", "line 2: 3 fields where the first line names 2 columns"),
        ("a,b,a\n1,2,3\n", "rows", 'line 1: two columns are called "a"; rename one'),
        ("0.9,1\n0.2,0\n", "rows", "line 1: there are no column names; begin with a line such as confidence,correct"),
        ("just words", "rows.txt", r"rows\.txt: not one of \.jsonl"),
        (b"PK\x03\x04rest", "rows.xlsx", "a zip archive or a spreadsheet: .*save the sheet as CSV"),
        (b"\x28\xb5\x2f\xfd....", "rows.zst", "compressed with zstd: unpack it first"),
        (b"a\0b", "rows", "this is no text"),
        (b"PAR1 but not really", "rows.parquet", "damaged Parquet"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "rows.gz", "ended before the end-of-stream"),
        (gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:20] + b"x" * 50, "rows.gz", r"rows\.gz: "),
        ('a,b\n1,2\n3,"4\n5,6\n', "rows", "line 3: not a table: .*quotes inside a field are written twice"),
        ('a\tb\n"so" he said\t2\n', "rows", "line 2: not a table: .*quotes inside a field are written twice"),
        (
            ("ü" * 9 + ",b\n1,2\n").encode() + b"3,\xff\n",
            "rows",
            "line 3: the text is UTF-8, but byte 0xff here is not",
        ),
        ("[" * 100_000, "rows", "not JSON"),
        ('{"a": ' + "9" * 5000 + "}", "rows", "not JSON"),
    ],
)
def test_what_is_broken_is_said_with_its_place_and_the_fix(tmp_path, content, name, message):
    path = stored(tmp_path, content, name)
    with pytest.raises(RecordsError, match=message):
        values(path)


def test_a_pipe_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(gzip.compress(TEXTS["csv"].encode("utf-16"))))
    writer.start()
    try:
        assert len(values(path)) == 2
    finally:
        writer.join()


def test_a_large_file_streams(tmp_path):
    path = stored(tmp_path, '{"a": 1}\n' * 50_000 + "{\n", "rows.jsonl")
    records = read_records(path)
    assert next(records).value == {"a": 1}
    records.close()


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any-bytes"
    path.write_bytes(data)
    message = ""
    try:
        values(path)
    except RecordsError as error:
        message = str(error)
    assert message.isprintable()


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(min_size=1), st.text() | st.integers() | st.none(), min_size=1), min_size=1))
def test_json_lines_come_back_as_they_were(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "any-rows"
    path.write_text("".join(json.dumps(row) + "\n" for row in [{"first": 1}, *rows]), encoding="utf-8")
    assert values(path) == [{"first": 1}, *rows]
