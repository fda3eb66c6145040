"""Rows of question files and of data sets on the hub. Files are read by `demur.records`, as everywhere in demur."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from demur.evaluation.datasets import load
from demur.evaluation.errors import DatasetError
from demur.records import SUFFIXES, RecordsError, fields_of, has_known_suffix, read_records
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
    if has_known_suffix(name):
        return read_file(Path(name))
    if name not in HUB and "/" not in name:
        raise DataError(f"no such data set: {name}; give a file ({', '.join(SUFFIXES)}), a hub id, or {', '.join(HUB)}")
    return _from_hub(*HUB.get(name, (name, None)))


def read_evaluation(name: str) -> Iterator[Row]:
    """Rows of a set that a model will be reported on: a local file, a name that `demur evaluate` knows (math500,
    aime2024, ...) or any hub id, of which the test split is taken.

    Raises DataError when there is nothing to read.
    """
    if has_known_suffix(name):
        return read_file(Path(name))
    try:
        found = load(name)
    except DatasetError as error:
        raise DataError(str(error)) from error
    return ({"question": question.text, "answer": list(question.gold)} for question in found.questions)


def read_file(path: Path) -> Iterator[Row]:
    """Rows of a local file, in order: JSON Lines, JSON, Parquet, CSV or TSV, told from its content.

    Raises DataError at once when there is no such file, and at the first row that is none.
    """
    if not path.is_file():
        raise DataError(f"no such file: {path}")
    return _rows(path)


def _rows(path: Path) -> Iterator[Row]:
    try:
        for record in read_records(path):
            yield fields_of(record)
    except RecordsError as error:
        raise DataError(str(error)) from error


def _from_hub(name: str, configuration: str | None) -> Iterator[Row]:
    from datasets import load_dataset
    from datasets.exceptions import DatasetNotFoundError

    try:
        for row in load_dataset(name, configuration, split="train"):
            yield dict(row)
    except (DatasetNotFoundError, ConnectionError, OSError) as error:
        raise DataError(f"cannot read {name} from the hub ({error}); give a local file instead") from error
