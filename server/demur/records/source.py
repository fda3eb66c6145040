"""Opening a file of records: standard input, pipes and compressed files become one seekable stream of bytes."""

import bz2
import gzip
import lzma
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from demur.records.base import RecordsError

IN_MEMORY = 64 << 20
"""Bytes of standard input or of a pipe that are kept in memory; more go to a temporary file."""

MAGIC = 8
"""So many first bytes tell what a file is."""

UNPACKERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file, mode="rb"),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}

REFUSED = {
    b"PK\x03\x04": "a zip archive or a spreadsheet: unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "a spreadsheet: save the sheet as CSV",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: unpack it first",
    b"ARROW1": "an Arrow file: write it as Parquet",
    b"SQLite f": "a database: export the table as CSV",
    b"\x80\x04\x95": "a Python pickle, which is not opened for safety: write it as CSV or Parquet",
    b"\x80\x05\x95": "a Python pickle, which is not opened for safety: write it as CSV or Parquet",
}


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """The unpacked bytes of a file, from their beginning; "-" is standard input.

    Raises RecordsError for a kind of file that is known and not read, and OSError, EOFError or an error of the
    compression where it cannot be opened or is damaged.
    """
    with ExitStack() as stack:
        stream = stack.enter_context(_seekable(path))
        magic = first_bytes(stream)
        for start, unpacker in UNPACKERS.items():
            if magic.startswith(start):
                stream = stack.enter_context(unpacker(stream))
                magic = first_bytes(stream)
                break
        for start, what in REFUSED.items():
            if magic.startswith(start):
                raise RecordsError(f"{path}: this is {what}")
        yield stream


def is_packed(stream: BinaryIO) -> bool:
    """Whether the stream of `opened` unpacks a compressed file."""
    return isinstance(stream, gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile)


def first_bytes(stream: BinaryIO) -> bytes:
    """The bytes that tell the kind; the stream is at its beginning afterwards."""
    found = stream.read(MAGIC)
    stream.seek(0)
    return found


@contextmanager
def _seekable(path: str | Path) -> Iterator[BinaryIO]:
    if str(path) == "-":
        with _copied(sys.stdin.buffer) as copy:
            yield copy
        return
    with Path(path).open("rb") as file:
        if file.seekable():
            yield file
        else:
            with _copied(file) as copy:
                yield copy


@contextmanager
def _copied(stream: IO[bytes]) -> Iterator[BinaryIO]:
    """What comes through a pipe can be read once; telling the encoding needs a second time."""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as copy:
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield copy  # pyright: ignore[reportReturnType]  a binary file in all but its declared type
