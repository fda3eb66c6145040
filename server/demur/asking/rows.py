"""Questions and answers in files: JSON Lines in, JSON Lines out, and where an interrupted run goes on."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from demur_client.request import Question


class RowError(ValueError):
    """A file that cannot be used; the message names the file, the line and the remedy."""


@dataclass(frozen=True, slots=True)
class Row:
    """One question. `line` counts from 1; `id` is the caller's own name for it."""

    line: int
    id: str | int | None
    question: Question

    def outcome(self, **result: Any) -> str:
        """One line of the answers: what was asked, and the `reply` or the `error`."""
        asked = {"line": self.line, "id": self.id, "question": self.question}
        return json.dumps(asked | result, ensure_ascii=False) + "\n"


def read_questions(path: Path) -> list[Row]:
    """Every question in the file; empty lines are skipped. Raises RowError for the first line that is none."""
    with path.open(encoding="utf-8") as lines:
        rows = [_row(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
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
    tokens = (reply.get("usage") or {}).get("completion_tokens") or 0
    return Digest(reply["decision"], reply["reason"], reply["confidence"], tokens)


def keep_answered(path: Path, rows: Sequence[Row], wanted: Mapping[str, Any]) -> dict[int, Digest]:
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


def _row(path: Path, number: int, line: str) -> Row:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise RowError(f"{path}, line {number}: no JSON") from error
    fields: dict[str, Any] = {"question": value} if isinstance(value, str) else value if isinstance(value, dict) else {}
    question = fields.get("question", fields.get("messages"))
    if not question or not isinstance(question, (str, list)):
        raise RowError(f'{path}, line {number}: "question" has to be a text, or "messages" a list')
    name = fields.get("id")
    return Row(number, name if isinstance(name, (str, int)) else None, question)


def _answered(line: str) -> dict[str, Any] | None:
    """The line's fields when it holds a reply: what was cut off or failed is asked again."""
    try:
        found = json.loads(line)
        digest(found["reply"])
        return found if found["line"] and found["question"] else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _check_settings(path: Path, reply: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name, value in wanted.items():
        if value is not None and reply.get(name) != value:
            raise RowError(f"{path} was answered with {name} {reply.get(name)}, not {value}; choose another --out")
