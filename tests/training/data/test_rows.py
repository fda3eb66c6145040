"""Rows come out alike whatever the file they are in, and a broken file is named."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demur_training.data.rows import READERS, read_file, read_rows
from demur_training.errors import DataError

ROWS = [{"question": "a?", "answer": "1"}, {"question": "b, c?", "answer": "é"}]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """The same rows in every format, two of them as editors on Windows write them."""
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "x.parquet")
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, ROWS)) + "\n\n")
    (tmp_path / "bom.jsonl").write_text("\ufeff" + "\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    (tmp_path / "x.json").write_text(json.dumps(ROWS))
    (tmp_path / "nested.json").write_text(json.dumps({"version": 1, "data": ROWS}))
    (tmp_path / "x.csv").write_text('question,answer\na?,1\n"b, c?",é\n', encoding="utf-8")
    (tmp_path / "bom.csv").write_text('\ufeffquestion,answer\na?,1\n"b, c?",é\n', encoding="utf-8")
    return sorted(tmp_path.iterdir())


def test_every_file_format_gives_the_same_rows(files: list[Path]) -> None:
    assert {path.suffix for path in files} == set(READERS)
    for path in files:
        assert list(read_file(path)) == list(read_rows(str(path))) == ROWS, path.name


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "no such file: .*missing.jsonl"),
        ("rows.txt", "a", r"its name has to end in .jsonl, .json, .parquet, .csv"),
        ("broken.jsonl", '{"question": "a?"}\n{oops\n', "broken.jsonl:2 is no JSON"),
        ("list.jsonl", '{"question": "a?"}\n\n["b?"]\n', "list.jsonl:3 is no row"),
        ("broken.json", "[{", "broken.json is no JSON"),
        ("text.json", '"a"', "text.json holds no rows"),
        ("object.json", '{"rows": []}', "object.json holds no rows"),
        ("mixed.json", '[{"question": "a?"}, 3]', "mixed.json, row 2, is no row"),
        ("broken.parquet", "question", "broken.parquet is no Parquet file"),
    ],
)
def test_what_cannot_be_read_is_one_line(name: str, content: str | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message) as refused:
        list(read_file(tmp_path / name))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.csv"])
def test_text_in_another_encoding_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b'["caf\xe9"]\n')
    with pytest.raises(DataError, match=f"{name} is not UTF-8 text"):
        list(read_file(tmp_path / name))


def test_an_unknown_data_set_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DataError, match=r"no such data set: dapo; .*dapo-math-17k"):
        read_rows("dapo")
