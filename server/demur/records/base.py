"""A record of a file, where it stands, and the error for a file that cannot be read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUFFIXES = (".jsonl", ".json", ".csv", ".parquet", ".tsv", ".ndjson")
"""The formats by the suffixes that files of them usually have; any of them may be compressed (.gz, .bz2, .xz)."""

COMPRESSED = (".gz", ".bz2", ".xz")


class RecordsError(ValueError):
    """A file that holds no readable records; the message names the file, the place in it, and the fix in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def printable(text: str) -> str:
    """One line that a terminal shows as it is, of text that may come from anybody's file."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split()))


@dataclass(frozen=True, slots=True)
class Record:
    """One record. `number` counts from 1: lines of a text file, records of a JSON document or a Parquet file.

    `place` names file and number for messages. `value` is any JSON value; `is_typed` is False where it is a dict of
    strings whatever they mean, from CSV and TSV.
    """

    number: int
    place: str
    value: Any
    is_typed: bool = True


def fields_of(record: Record) -> dict[str, Any]:
    """The fields of a record by name. Raises RecordsError for a record that is no JSON object."""
    if not isinstance(record.value, dict):
        raise RecordsError(f"{record.place}: a row is a JSON object, this is a {type(record.value).__name__}")
    return record.value


def suffix_of(name: str) -> str:
    """The suffix that tells the format, in lower case: ".csv" for rows.CSV.gz."""
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


def has_known_suffix(name: str) -> bool:
    """Whether the name looks like one of a file of records."""
    return suffix_of(name) in SUFFIXES
