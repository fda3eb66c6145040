"""What a dataset is: where its rows come from and how one row becomes a question."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from demur.evaluation.errors import DatasetError
from demur.prompts import Domain

Record = Mapping[str, Any]
GraderName = Literal["maths", "aliases", "simpleqa"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `gold` holds every answer that counts as right, the main one first."""

    id: str
    text: str
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hub:
    """Where the rows lie on the Hugging Face hub. `config` is part of a file's path, where a set has several."""

    repo: str
    split: str = "test"
    config: str | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset by name. `read` turns the row with this number, from 0, into a question."""

    name: str
    domain: Domain
    grader: GraderName
    read: Callable[[Record, int], Question]
    hub: Hub | None = None


def questions(dataset: Dataset, records: Iterable[Record]) -> tuple[list[Question], int]:
    """Read every row: the questions, and how many rows repeated one and were merged into it.

    Raises DatasetError for a row without a question or a gold answer, and for one id with two different questions.
    """
    out: dict[str, Question] = {}
    rows = 0
    for number, record in enumerate(records):
        question = _checked(dataset, dataset.read(record, number), number)
        known = out.setdefault(question.id, question)
        if known.text != question.text:
            raise DatasetError(f"{dataset.name} row {number}: id {question.id!r} is another question in an earlier row")
        gold = tuple(dict.fromkeys((*known.gold, *question.gold)))
        out[question.id] = replace(known, gold=gold)
        rows += 1
    if not out:
        raise DatasetError(f"{dataset.name} has no rows")
    return list(out.values()), rows - len(out)


def _checked(dataset: Dataset, question: Question, number: int) -> Question:
    if not question.text.strip():
        raise DatasetError(f"{dataset.name} row {number} has no question")
    if not any(answer.strip() for answer in question.gold):
        raise DatasetError(f"{dataset.name} row {number} (id {question.id!r}) has no gold answer")
    return question


def field(record: Record, number: int, *names: str) -> Any:
    """The first of these fields that the row has. Raises DatasetError naming them and what there is instead."""
    for name in names:
        if has(record, name):
            return record[name]
    wanted = " or ".join(f'"{name}"' for name in names)
    there = ", ".join(f'"{name}"' for name in record)
    raise DatasetError(f"row {number} has no {wanted}; it has {there or 'nothing'}")


def has(record: Record, name: str) -> bool:
    """Whether the row has a value there; NaN is how notebooks write that there is none."""
    value = record.get(name)
    return value is not None and not (isinstance(value, float) and value != value)


def text_of(answer: Any) -> str:
    """A gold answer as text: 204 and 204.0 are both "204"."""
    if isinstance(answer, float) and answer.is_integer():
        return str(int(answer))
    return str(answer)
