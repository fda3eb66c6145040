"""CSV and TSV, streamed: a first line with column names, then the rows."""

import csv
import re
from collections.abc import Iterator
from itertools import chain
from typing import TextIO

from demur.records.base import Record, RecordsError

DELIMITERS = ",\t;|"
LONGEST_FIELD = 2**31 - 1
"""Characters of one field: model outputs pass the library's own limit of 131,072."""

_NUMBER = re.compile(r"\s*[-+]?[\d.,]+(?:e[-+]?\d+)?\s*%?\s*", re.IGNORECASE)
_DECLARED = re.compile(r"sep=(.)\s*", re.IGNORECASE)
"""The first line with which Excel declares the delimiter."""


def delimiter_of(line: str) -> str | None:
    """The delimiter that gives the line the most fields; None where none gives more than one."""
    counts = {delimiter: len(next(csv.reader([line], delimiter=delimiter), [])) for delimiter in DELIMITERS}
    best = max(counts, key=lambda delimiter: counts[delimiter])
    return best if counts[best] > 1 else None


def delimited_records(text: TextIO, name: str) -> Iterator[Record]:
    """The rows of a table with column names, as dicts of strings; rows without any content are passed over.

    Raises RecordsError for a table without column names, two columns of one name, or a row of another length.
    """
    names: list[str] | None = None
    for number, cells in _cells(text, name):
        place = f"{name} line {number}"
        if names is None:
            names = _names(cells, place)
            continue
        while len(cells) > len(names) and not cells[-1]:
            cells.pop()
        if len(cells) != len(names):
            raise RecordsError(
                f"{place}: {len(cells)} fields where the first line names {len(names)} columns;"
                " quote fields that hold the delimiter"
            )
        yield Record(number, place, dict(zip(names, cells, strict=True)), is_typed=False)


def _cells(text: TextIO, name: str) -> Iterator[tuple[int, list[str]]]:
    """The lines with any content, split, and the number of the first line of each.

    Quotes are read strictly: one that is never closed would swallow the rows behind it.
    """
    csv.field_size_limit(LONGEST_FIELD)
    skipped, first = _first_line(text)
    declared = _DECLARED.fullmatch(first)
    delimiter = declared[1] if declared else delimiter_of(first) or ","
    skipped += 1 if declared else 0
    table = csv.reader(
        text if declared else chain([first], text), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    number = skipped + 1
    try:
        for cells in table:
            if any(cell.strip() for cell in cells):
                yield number, cells
            number = skipped + table.line_num + 1
    except csv.Error as error:
        raise RecordsError(
            f"{name} line {number}: not a table: {error}; quotes inside a field are written twice"
        ) from None


def _first_line(text: TextIO) -> tuple[int, str]:
    """The first line with content, and how many stand above it."""
    return next(((skipped, line) for skipped, line in enumerate(text) if line.strip()), (0, ""))


def _names(cells: list[str], place: str) -> list[str]:
    names = [cell.strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    if names and all(_NUMBER.fullmatch(cell) for cell in names):
        raise RecordsError(f"{place}: there are no column names; begin with a line such as confidence,correct")
    twice = next((cell for cell in names if cell and names.count(cell) > 1), None)
    if twice is not None:
        raise RecordsError(f'{place}: two columns are called "{twice}"; rename one of them')
    return names
