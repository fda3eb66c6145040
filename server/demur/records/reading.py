"""Which format a file is in, told from its content, and its records."""

import io
import json
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from demur.records.base import COMPRESSED, SUFFIXES, Record, RecordsError, suffix_of
from demur.records.delimited import delimited_records, delimiter_of
from demur.records.encodings import encoding_of
from demur.records.json_text import json_records
from demur.records.parquet import parquet_records
from demur.records.source import first_bytes, is_packed, opened

LINES = (".jsonl", ".ndjson")
JSON = (*LINES, ".json")
TABLES = (".csv", ".tsv")


def read_records(path: str | Path) -> Iterator[Record]:
    """The records of a file one after the other; "-" is standard input.

    JSON Lines, CSV, TSV and Parquet stream; any other JSON is read whole. A file without records gives none. Raises
    RecordsError naming the file, the place, and the fix.
    """
    name = str(path)
    try:
        with opened(path) as stream:
            yield from _records(stream, name)
    except UnicodeError as error:
        raise RecordsError(f"{name}: the text cannot be decoded ({error}); save it as UTF-8") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise RecordsError(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def _records(stream: BinaryIO, name: str) -> Iterator[Record]:
    if first_bytes(stream).startswith(b"PAR1"):
        yield from parquet_records(stream, name)
        return
    encoding = encoding_of(stream, name)
    stream.seek(0)
    unpacked_already = name.lower().endswith(COMPRESSED) and not is_packed(stream)
    suffix = "" if unpacked_already else suffix_of(name)  # the name has been wrong once
    with io.TextIOWrapper(stream, encoding=encoding, newline="") as text:
        yield from _text_records(text, name, suffix)


def _text_records(text: TextIO, name: str, suffix: str) -> Iterator[Record]:
    start = next((line.strip() for line in text if line.strip()), "")
    text.seek(0)
    if not start:
        return iter(())
    if start[0] in "{[":
        return json_records(text, name, lines_expected=suffix in LINES)
    if suffix in TABLES:
        return delimited_records(text, name)
    if suffix in JSON or _is_string(start):
        return json_records(text, name, lines_expected=True)
    if delimiter_of(start) is not None:
        return delimited_records(text, name)
    raise RecordsError(
        f"{name}: not one of {', '.join(SUFFIXES)} (or those with .gz), and its content looks like none of them;"
        " rows are JSON objects, or a table whose first line names the columns"
    )


def _is_string(line: str) -> bool:
    """Whether the line is a JSON string, which the quoted name of a single column is not told from."""
    try:
        return isinstance(json.loads(line), str)
    except ValueError:
        return False
