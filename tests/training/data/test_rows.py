"""Rows come out alike whatever the file they are in, and a broken file is named."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demur.evaluation import datasets
from demur_training.data.rows import read_evaluation, read_file, read_rows
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
    for path in files:
        assert list(read_file(path)) == list(read_rows(str(path))) == ROWS, path.name


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "no such file: .*missing.jsonl"),
        ("rows.txt", "a", r"rows.txt: not one of .jsonl, .json, .csv, .parquet"),
        ("broken.jsonl", '{"question": "a?"}\n{oops\n', "broken.jsonl line 2: not JSON"),
        ("list.jsonl", '{"question": "a?"}\n\n["b?"]\n', "list.jsonl line 3: a row is a JSON object"),
        ("broken.json", "[{", "broken.json line 1: not JSON"),
        ("text.json", '"a"', "text.json line 1: a row is a JSON object"),
        ("mixed.json", '[\n{"question": "a?"},\n3]', "mixed.json row 1: a row is a JSON object"),
        ("broken.parquet", "PAR1question", "broken.parquet: damaged Parquet"),
    ],
)
def test_what_cannot_be_read_is_one_line(name: str, content: str | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message) as refused:
        list(read_file(tmp_path / name))
    assert "\n" not in str(refused.value)


def test_text_in_an_older_encoding_is_read(tmp_path: Path) -> None:
    rows = "".join(f'{{"question": "Où est le café numéro {i} ?", "answer": "à côté"}}\n' for i in range(20))
    (tmp_path / "x.jsonl").write_bytes(rows.encode("cp1252"))
    assert list(read_file(tmp_path / "x.jsonl"))[7]["question"] == "Où est le café numéro 7 ?"


def test_an_unknown_data_set_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DataError, match=r"no such data set: dapo; .*dapo-math-17k"):
        read_rows("dapo")


def test_evaluation_sets_are_those_that_are_reported_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the names of `demur evaluate`, and of a hub id the split that is evaluated, not the one that is trained on."""
    rows = tmp_path / "test.jsonl"
    rows.write_text(json.dumps({"problem": "a?", "question": "a?", "answer": "1"}))
    asked: list[datasets.Hub] = []
    monkeypatch.setattr(datasets, "fetch", lambda hub: asked.append(hub) or [rows])
    for name in ("math500", "gsm8k", "some/set"):
        assert [row["question"] for row in read_evaluation(name)] == ["a?"]
    assert [(hub.repo, hub.split) for hub in asked] == [
        ("HuggingFaceH4/MATH-500", "test"),
        ("openai/gsm8k", "test"),
        ("some/set", "test"),
    ]
    assert [row["problem"] for row in read_evaluation(str(rows))] == ["a?"]
    with pytest.raises(DataError, match=r"none of the datasets known by name .*math500"):
        read_evaluation("math501")
