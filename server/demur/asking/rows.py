"""Questions and answers in files: any file of records in, JSON Lines out, and where an interrupted run goes on."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from demur.records import Record, RecordsError, fields_of, read_records
from demur_client.request import Question

ASKED = ("question", "messages", "prompt", "problem", "input")
"""What the column of the questions may be called; the first that a row has is asked."""


class RowError(ValueError):
    """A file that cannot be used; the message names the file, the line and the remedy."""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question. `line` counts lines of a text file, else rows, from 1; `id` is the caller's own name for it."""

    line: int
    id: str | int | None
    question: Question

    def outcome(self, **result: Any) -> str:
        """One line of the answers: what was asked, and the `reply` or the `error`."""
        asked = {"line": self.line, "id": self.id, "question": self.question}
        return json.dumps(asked | result, ensure_ascii=False) + "\n"


def read_questions(path: Path) -> list[QuestionRow]:
    """Every question in a file of any format that `demur.records` reads. Raises RowError for a row that is none."""
    try:
        rows = [_row(record) for record in read_records(path)]
    except RecordsError as error:
        raise RowError(str(error)) from error
    if not rows:
        raise RowError(f"{path} holds no question")
    return rows


class Digest(NamedTuple):
    """What the summary needs of a reply."""

    decision: str
    reason: str | None
    confidence: float | None
    tokens: int


def digest(reply: Mapping[str, Any]) -> Digest:
    """The part of a reply, as the API gives it, that the summary counts."""
    tokens = (reply.get("usage") or {}).get("completion_tokens") or 0
    return Digest(reply["decision"], reply["reason"], reply["confidence"], tokens)


def keep_answered(path: Path, rows: Sequence[QuestionRow], wanted: Mapping[str, Any]) -> dict[int, Digest]:
    """Replies of an earlier run by line number. The file is rewritten without failures and half-written lines.

    It is replaced in one step, so a run killed here loses nothing. Raises RowError when the file answers other
    questions, or answers them under other settings than `wanted`.
    """
    if not path.exists():
        return {}
    asked = {row.line: row.question for row in rows}
    kept: dict[int, Digest] = {}
    draft = path.with_name(path.name + ".part")
    with path.open(encoding="utf-8") as old, draft.open("w", encoding="utf-8") as new:
        for line in old:
            found = _answered(line)
            if found is None or found["line"] in kept:
                continue
            if asked.get(found["line"]) != found["question"]:
                raise RowError(f"{path} holds answers to other questions; choose another --out or remove it")
            _check_settings(path, found["reply"], wanted)
            kept[found["line"]] = digest(found["reply"])
            new.write(line)
    os.replace(draft, path)
    return kept


def _row(record: Record) -> QuestionRow:
    fields: dict[str, Any] = {"question": record.value} if isinstance(record.value, str) else fields_of(record)
    question = next((fields[name] for name in ASKED if fields.get(name)), None)
    if isinstance(question, str) and question == fields.get("messages"):
        question = _messages(question)
    if not isinstance(question, str | list) or not question or not (isinstance(question, list) or question.strip()):
        there = ", ".join(f'"{name}"' for name in fields)
        raise RowError(
            f'{record.place}: "question" has to be a text, or "messages" a list; the row has {there or "nothing"}'
        )
    name = fields.get("id")
    if isinstance(name, float) and name.is_integer():  # a notebook's column of whole numbers with gaps
        name = int(name)
    return QuestionRow(record.number, name if isinstance(name, (str, int)) else None, question)


def _messages(text: str) -> Any:
    """A chat in a field of a table, which is written as JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _answered(line: str) -> dict[str, Any] | None:
    """The line's fields when it holds a reply: what was cut off or failed is asked again."""
    try:
        found = json.loads(line)
        digest(found["reply"])
        return found if found["line"] and found["question"] else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _check_settings(path: Path, reply: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    held = reply.get("guarantee") or {}
    rate, kept = wanted.get("max_error"), held.get("max_error")
    if (rate is None) != (kept is None) or (rate is not None and kept > rate):
        raise RowError(
            f"{path} was answered with max_error {kept or 'none'}, not {rate or 'none'}; choose another --out"
        )
    for name, value in wanted.items():
        if name != "max_error" and value is not None and reply.get(name) != value:
            raise RowError(f"{path} was answered with {name} {reply.get(name)}, not {value}; choose another --out")
