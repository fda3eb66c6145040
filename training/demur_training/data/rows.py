"""Rows of question files: the one reader of JSON lines, JSON, Parquet and CSV, and of data sets on the hub."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from demur_training.errors import DataError

Row = dict[str, Any]

HUB: Mapping[str, tuple[str, str | None]] = {
    "dapo-math-17k": ("BytedTsinghua-SIA/DAPO-Math-17k", None),
    "deepscaler": ("agentica-org/DeepScaleR-Preview-Dataset", None),
    "math": ("DigitalLearningGmbH/MATH-lighteval", None),
    "gsm8k": ("openai/gsm8k", "main"),
}
"""Names that stand for a data set on the hub: its id and configuration."""


def read_rows(name: str) -> Iterator[Row]:
    """Rows of a local file, of a name in HUB, or of any data set id on the hub.

    Raises DataError when there is nothing to read.
    """
    if Path(name).suffix in READERS:
        return read_file(Path(name))
    if name not in HUB and "/" not in name:
        raise DataError(f"no such data set: {name}; give a file ({', '.join(READERS)}), a hub id, or {', '.join(HUB)}")
    return _from_hub(*HUB.get(name, (name, None)))


def read_file(path: Path) -> Iterator[Row]:
    """Rows of a local file, in order; its ending (`.jsonl`, `.json`, `.parquet`, `.csv`) says how it is read.

    Raises DataError at once when there is no such file or no reader for it, and at the first row that is none.
    """
    reader = READERS.get(path.suffix)
    if reader is None:
        raise DataError(f"cannot read {path}: its name has to end in {', '.join(READERS)}")
    if not path.is_file():
        raise DataError(f"no such file: {path}")
    return _utf8(reader(path), path)


def _utf8(rows: Iterator[Row], path: Path) -> Iterator[Row]:
    try:
        yield from rows
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: save it as such ({error.reason} at byte {error.start})") from error


def _jsonl(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _object(_parsed(line, f"{path}:{number}"), f"{path}:{number}")


def _json(path: Path) -> Iterator[Row]:
    content = _parsed(path.read_text(encoding="utf-8-sig"), str(path))
    rows = content.get("data") if isinstance(content, dict) else content
    if not isinstance(rows, list):
        raise DataError(f"{path} holds no rows: write a list of objects, or an object with such a list as `data`")
    for number, row in enumerate(rows, 1):
        yield _object(row, f"{path}, row {number},")


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        for batch in pq.ParquetFile(path).iter_batches():
            yield from batch.to_pylist()
    except pa.ArrowInvalid as error:
        raise DataError(f"{path} is no Parquet file: {str(error).splitlines()[0]}") from error


def _csv(path: Path) -> Iterator[Row]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        yield from csv.DictReader(file)


def _from_hub(name: str, configuration: str | None) -> Iterator[Row]:
    from datasets import load_dataset
    from datasets.exceptions import DatasetNotFoundError

    try:
        for row in load_dataset(name, configuration, split="train"):
            yield dict(row)
    except (DatasetNotFoundError, ConnectionError, OSError) as error:
        raise DataError(f"cannot read {name} from the hub ({error}); give a local file instead") from error


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{place} is no JSON: {error.msg}") from error


def _object(value: Any, place: str) -> Row:
    if not isinstance(value, dict):
        raise DataError(f"{place} is no row: it has to be an object with named fields")
    return value


READERS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    ".jsonl": _jsonl,
    ".json": _json,
    ".parquet": _parquet,
    ".csv": _csv,
}
