"""JSON Lines, which stream, and JSON documents, which are read whole."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, TextIO

from demur.records.base import Record, RecordsError

WRAPPERS = ("data", "rows", "records", "results", "examples", "instances")
"""Names under which exporters put the list of rows into an object."""

_SPACE = re.compile(r"\s*")


def json_records(text: TextIO, name: str, *, lines_expected: bool) -> Iterator[Record]:
    """The records of a text that holds JSON.

    One value a line, an array of rows, an object around an array, a table by columns (as pandas writes it), or objects
    over several lines. `lines_expected` says that a broken first line is the mistake to report. Raises RecordsError.
    """
    first = _first_line(text)
    text.seek(0)
    if _is_row(first):
        return _from_lines(text, name)
    try:
        values = list(_values(text.read()))
    except (ValueError, RecursionError) as error:
        if lines_expected or _is_json(first):
            text.seek(0)
            return _from_lines(text, name)
        raise RecordsError(f"{name}{_where(error)}: not JSON: {_why(error)}") from None
    if len(values) == 1:
        rows = rows_of(values[0])
        values = values if rows is None else rows
    if _is_json(first) and not all(isinstance(value, dict | str) for value in values):
        text.seek(0)
        return _from_lines(text, name)
    return (Record(number, f"{name} row {number}", value) for number, value in enumerate(values, start=1))


def rows_of(document: Any) -> list[Any] | None:
    """The rows of a whole JSON document; None where it is no table, but at most a single row."""
    if isinstance(document, list):
        return document if all(isinstance(row, dict | str) for row in document) else None
    if not isinstance(document, dict) or not document:
        return None
    if isinstance(document.get("columns"), list) and isinstance(document.get("data"), list):
        return [dict(zip(document["columns"], row, strict=False)) for row in document["data"]]
    for wrapper in WRAPPERS:
        rows = document.get(wrapper)
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            return rows
    return _from_columns(document)


def _from_columns(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    columns = list(document.values())
    if all(isinstance(column, list) for column in columns) and len({len(column) for column in columns}) == 1:
        return [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)]
    if all(isinstance(column, dict) for column in columns) and len({tuple(column) for column in columns}) == 1:
        return [{name: column[row] for name, column in document.items()} for row in columns[0]]
    return None


def _from_lines(text: TextIO, name: str) -> Iterator[Record]:
    """One value a line. A single object may be a table after all."""
    records = _each_line(text, name)
    first = next(records, None)
    if first is None:
        return
    second = next(records, None)
    rows = rows_of(first.value) if second is None else None
    if rows is not None:
        yield from (Record(number, f"{name} row {number}", row) for number, row in enumerate(rows, start=1))
        return
    yield from chain([first], [] if second is None else [second], records)


def _each_line(text: TextIO, name: str) -> Iterator[Record]:
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        place = f"{name} line {number}"
        try:
            yield Record(number, place, json.loads(line))
        except (ValueError, RecursionError) as error:
            raise RecordsError(f"{place}: not JSON: {_why(error)}") from None


def _values(text: str) -> Iterator[Any]:
    """Every JSON value of a text in which they follow one another."""
    decoder, at = json.JSONDecoder(), 0
    while True:
        at = _end_of_space(text, at)
        if at == len(text):
            return
        value, at = decoder.raw_decode(text, at)
        yield value


def _end_of_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _first_line(text: TextIO) -> str:
    return next((line for line in text if line.strip()), "")


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _is_row(line: str) -> bool:
    """Whether the line is a JSON value that is no array: the first of JSON Lines."""
    return not line.lstrip().startswith("[") and _is_json(line)


def _why(error: Exception) -> str:
    return f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)


def _where(error: Exception) -> str:
    return f" line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
