"""Answers and confidences without a label of their own: JSON, a table, `#### 42`, "the answer is B"."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from demur.core.reading.labels import LABELS, Labels

_MOST_OBJECTS, _LONGEST_LITERAL = 16, 10_000
_MOST_ROWS = 200
_HASHES = re.compile(r"^####[ \t]{1,8}([-+$\\(\d][^\n]{0,200})$", re.MULTILINE)
_SAID = re.compile(
    r"\b(?:the|my|our) (?:final |correct |best |right )?(?:answer|choice|option)(?: to (?:this|the) [\w ]{1,30})?"
    r"(?: is|:)(?: therefore| thus| simply| probably| most likely)?:? {0,2}+"
    r"(?!not\b|un|that\b|to be\b|in (?:the|this|my)\b|based\b|the same\b|correct\b|right\b|wrong\b|as follows)"
    r"([^\n]{1,200})",
    re.IGNORECASE,
)
_SENTENCE_ENDS = re.compile(r"[.!](?=\s|[\"”']?$)|,? (?:because|since|as|so|and I|but)\b|[;,] (?:I|with|which)\b")
_TABLE_RULE = re.compile(r"[\s|:-]+")
_LAST_PART = re.compile(
    r"(.+?)\s{0,4}(?:[,;|/]|\s[-–—]\s)\s{0,4}([^,;|/]{1,40})|(.+?)\s{0,4}\(([^()]{1,40})\)", re.DOTALL
)
_ANSWER_BEHIND = re.compile(r"\s{0,4}[|,;]\s{0,4}(?:my |the )?(?:final )?answer\s{0,2}[:=]\s{0,4}(.+)", re.IGNORECASE)


class Pair(NamedTuple):
    answer: str | None = None
    stated: str | None = None


def in_json(text: str, labels: Labels = LABELS) -> Pair | None:
    """The last object, in JSON or as Python writes one, that has an answer or a confidence."""
    for found in _objects(text):
        by_name = {_name(key): value for key, value in found.items() if isinstance(key, str)}
        answer = [value for key, value in by_name.items() if key in labels.answer]
        stated = [value for key, value in by_name.items() if key in labels.confidence]
        if answer:
            return Pair(_written(answer[-1]), _written(stated[-1]) if stated else None)
    return None


def in_table(text: str, labels: Labels = LABELS) -> Pair | None:
    """The last row of a Markdown table with such a heading, or a table whose rows are such pairs."""
    lines = [line.strip() for line in text.splitlines()[-_MOST_ROWS:]]
    rows = [[_bare(cell) for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    rows = [row for row in rows if not _TABLE_RULE.fullmatch("|".join(row) or "|")]
    if len(rows) < 2:
        return None
    columns = {kind: i for i, cell in enumerate(rows[0]) if (kind := _kind(cell, labels))}
    if len(rows[0]) == 2 and len(columns) < 2:
        pairs = {kind: row[1] for row in rows if len(row) == 2 and (kind := _kind(row[0], labels))}
    else:
        pairs = {kind: rows[-1][i] for kind, i in columns.items() if i < len(rows[-1])}
    return Pair(pairs.get("answer"), pairs.get("confidence")) if pairs.get("answer") else None


def after_hashes(text: str) -> str | None:
    """What stands behind the last `####`, as in GSM8K's solutions; a heading does not begin with a number."""
    found = _HASHES.findall(text)
    return found[-1].strip() if found else None


def said_to_be(text: str) -> str | None:
    """What the last sentence of the kind "the answer is B" names."""
    found = list(_SAID.finditer(text))
    if not found:
        return None
    said = found[-1][1].strip()
    end = _SENTENCE_ENDS.search(said)
    return (said[: end.start()] if end else said).strip(" :") or None


def last_part(value: str) -> Pair:
    """`B, 85%` behind a label that announces both."""
    match = _LAST_PART.fullmatch(value.strip())
    if match is None:
        return Pair(value, None)
    return Pair(match[1] or match[3], match[2] or match[4])


def answer_behind(stated: str) -> Pair | None:
    """`0.9 | Answer: B` behind a label for the confidence."""
    match = _ANSWER_BEHIND.search(stated)
    return None if match is None else Pair(match[1], stated[: match.start()])


def _objects(text: str) -> Iterator[Mapping[Any, Any]]:
    """Objects from the last to the first, the inner before the outer."""
    decoder, start = json.JSONDecoder(), len(text)
    end = text.rfind("}") + 1
    for _ in range(_MOST_OBJECTS):
        start = text.rfind("{", 0, start)
        if start < 0:
            return
        try:
            found = decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            found = _literal(text[start:end]) if 0 < end - start <= _LONGEST_LITERAL else None
        if isinstance(found, dict):
            yield found


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | int | float | list | dict) else None


def _name(key: str) -> str:
    return key.replace("_", " ").replace("-", " ").strip().lower()


def _bare(cell: str) -> str:
    return cell.strip().strip("*_`").strip()


def _kind(cell: str, labels: Labels) -> str | None:
    name = re.sub(r"\s*[(\[][^()\[\]]*[)\]]$", "", cell).strip(" :").lower()
    return "answer" if name in labels.answer else "confidence" if name in labels.confidence else None
