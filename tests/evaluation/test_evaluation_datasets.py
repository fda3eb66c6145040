"""Every dataset in the shape it is distributed in, and what a bad one is told."""

import gzip
import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from demur.evaluation.datasets import DATASETS, Hub, load
from demur.evaluation.datasets.files import chosen, fetch
from demur.evaluation.errors import DatasetError
from live import serving

DATA = Path(__file__).parent.parent / "data" / "datasets"


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_gsm8k():
    loaded = load("gsm8k", data=str(DATA / "gsm8k.jsonl"))
    assert [question.gold for question in loaded.questions] == [
        ("18",), ("3",), ("70000",), ("540",), ("20",), ("2125",),
    ]  # fmt: skip
    assert loaded.questions[1].id == "gsm8k-1"
    assert loaded.questions[1].text.startswith("A robe takes 2 bolts")
    assert (loaded.dataset.domain, loaded.dataset.grader, loaded.source) == ("maths", "maths", "gsm8k.jsonl")


def test_math500():
    loaded = load("math500", data=str(DATA / "math500.jsonl"))
    assert loaded.questions[0].id == "test/precalculus/807.json"
    assert loaded.questions[1].gold == ("\\frac{14}{3}",)


def test_triviaqa_merges_repeats():
    loaded = load("triviaqa", data=str(DATA / "triviaqa.jsonl"))
    assert [question.id for question in loaded.questions] == ["qb_1285", "wh_1264", "bb_7518", "qz_4576"]
    assert loaded.merged == 2
    assert loaded.questions[0].gold == ("Dave Lamb", "Dave lamb")
    assert loaded.dataset.grader == "aliases"


def test_triviaqa_of_the_hub(tmp_path):
    answer = {"value": "Sumo wrestler", "aliases": ["Rikishi", "Sumo wrestler"], "normalized_value": "sumo wrestler"}
    rows = [{"question": "What type of sportsman is a Rikishi?", "question_id": "wh_1264", "answer": answer}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    loaded = load("triviaqa", data=str(tmp_path / "rows.parquet"))
    assert loaded.questions[0].gold == ("Sumo wrestler", "Rikishi")


def test_simpleqa():
    loaded = load("simpleqa", data=str(DATA / "simpleqa.csv"), limit=2)
    assert [question.gold for question in loaded.questions] == [("Michio Sugeno",), ("Annick Bricaud",)]
    assert (loaded.dataset.domain, loaded.dataset.grader) == ("general", "simpleqa")


@pytest.mark.parametrize("name", ["aime2024", "aime2025", "beyondaime"])
def test_aime(tmp_path, name):
    rows = [{"id": 60, "problem": "What is $200+4$?", "answer": 204}, {"problem": "What is $9$?", "answer": "9"}]
    loaded = load(name, data=str(lines(tmp_path / "rows.jsonl", rows)))
    assert [(question.id, question.gold) for question in loaded.questions] == [("60", ("204",)), ("1", ("9",))]


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".json", ".csv", ".tsv", ".parquet", ""])
def test_any_file_of_questions_and_answers(tmp_path, suffix):
    rows = [{"question": "one?", "answer": "1"}, {"question": "two, or “three”?", "answer": "2"}]
    path = tmp_path / f"mine{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif suffix == ".csv":
        path.write_text('question,answer\none?,1\n"two, or “three”?",2\n', encoding="utf-8")
    elif suffix == ".tsv":
        path.write_text("question\tanswer\none?\t1\ntwo, or “three”?\t2\n", encoding="utf-16")
    elif suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    else:
        lines(path, rows)
        if suffix.endswith(".gz"):
            path.write_bytes(gzip.compress(path.read_bytes()))
    loaded = load(str(path), grader="aliases")
    assert [(question.text, question.gold) for question in loaded.questions] == [
        ("one?", ("1",)),
        ("two, or “three”?", ("2",)),
    ]
    assert loaded.dataset.grader == "aliases"
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()[:12]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "has no rows"),
        ([{"question": "q?", "answer": ""}], "row 0 .* has no gold answer"),
        ([{"question": "q?", "answer": "1"}, {"question": "p?"}], 'row 1 has no "answer"'),
        ([{"question": " ", "answer": "1"}], "row 0 has no question"),
        ([{"text": "q?", "answer": "1"}], 'row 0 has no "question" or .*; it has "text", "answer"'),
        (
            [{"id": 1, "question": "q?", "answer": "1"}, {"id": 1, "question": "p?", "answer": "1"}],
            "row 1: id '1' is another question in an earlier row",
        ),
    ],
)
def test_rows_that_cannot_be_graded_are_refused_by_number(tmp_path, rows, message):
    with pytest.raises(DatasetError, match=message):
        load(str(lines(tmp_path / "mine.jsonl", rows)))


def test_files_that_cannot_be_read_are_one_line(tmp_path):
    with pytest.raises(DatasetError, match="no such file, and none of the datasets known by name"):
        load("gsm9k")
    with pytest.raises(DatasetError, match="no such file"):
        load(str(tmp_path / "absent.jsonl"))
    (tmp_path / "bad.jsonl").write_text('{"question": 1\n', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"bad\.jsonl line 1: not JSON"):
        load(str(tmp_path / "bad.jsonl"))
    (tmp_path / "rows.txt").write_text("x", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"rows\.txt: not one of \.jsonl"):
        load(str(tmp_path / "rows.txt"))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(DatasetError, match=r"bad\.parquet"):
        load(str(tmp_path / "bad.parquet"))


def test_the_files_of_a_split_are_chosen():
    names = ["README.md", "main/train-0.parquet", "main/test-0.parquet", "socratic/test-0.parquet"]
    assert chosen(Hub("openai/gsm8k", "test", "main"), names) == ["main/test-0.parquet"]
    assert chosen(Hub("a/b", "train"), names) == ["main/train-0.parquet"]
    with pytest.raises(DatasetError, match=r"no file of split 'validation'; it holds main/test-0\.parquet"):
        chosen(Hub("a/b", "validation"), names)


def test_every_named_dataset_says_where_it_lies():
    assert all(dataset.hub is not None for dataset in DATASETS.values())


def test_a_hub_is_downloaded_from(tmp_path):
    content = (DATA / "gsm8k.jsonl").read_bytes()
    headers = {"etag": '"abc"', "x-repo-commit": "1" * 40, "accept-ranges": "bytes"}

    async def files(request):
        return JSONResponse([{"type": "file", "path": "data/test.jsonl", "size": len(content), "oid": "abc"}])

    async def resolve(request):
        return Response(content, headers=headers, media_type="application/octet-stream")

    routes = [
        Route("/api/datasets/me/sums/tree/main", files),
        Route("/datasets/me/sums/resolve/{revision}/data/test.jsonl", resolve, methods=["GET", "HEAD"]),
    ]
    with serving(Starlette(routes=routes)) as url:
        paths = fetch(Hub("me/sums"), endpoint=url, cache=tmp_path / "cache")
        with pytest.raises(DatasetError, match="me/absent: not to be had from the hub"):
            fetch(Hub("me/absent"), endpoint=url, cache=tmp_path / "cache")
    assert [path.read_bytes() for path in paths] == [content]
