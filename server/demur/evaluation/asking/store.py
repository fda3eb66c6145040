"""Responses on disk: one gzip member a line, appended whole, so that a kill costs at most the line being written."""

import fcntl
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from demur.evaluation.errors import StoreError

CHUNK = 1 << 20


class Store:
    """An append-only file of JSON records, `*.jsonl.gz`, that any gzip tool reads.

    Opening it drops a half-written last record (`dropped` says so) and locks the file against a second writer. A
    record is handed to the operating system before `append` returns: killing the process loses nothing that was
    appended.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.dropped = False

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise StoreError(f"{self.path}: another process is writing it") from None
        whole = _end_of_last_record(self.path)
        self.dropped = whole < self.path.stat().st_size
        os.ftruncate(self._file, whole)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.fsync(self._file)
        os.close(self._file)

    def append(self, record: dict[str, Any]) -> None:
        """Add one record at the end."""
        compressor = zlib.compressobj(6, zlib.DEFLATED, 31)
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
        member = compressor.compress(line.encode(errors="surrogatepass")) + compressor.flush()
        written = os.write(self._file, member)
        if written < len(member):
            raise StoreError(f"{self.path}: the disk is full")

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record so far, in the order in which they were appended."""
        return read_records(self.path)


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a store that nobody writes to now; a half-written last one is passed over.

    Raises StoreError where the file is damaged before its end.
    """
    for member, _ in _members(path):
        yield json.loads(member.decode(errors="surrogatepass"))


def _end_of_last_record(path: Path) -> int:
    end = 0
    for _, end in _members(path):  # noqa: B007
        pass
    return end


def _members(path: Path) -> Iterator[tuple[bytes, int]]:
    """Each whole gzip member, decompressed, and where it ends in the file."""
    with path.open("rb") as file:
        end, pending = 0, b""
        while pending or (pending := file.read(CHUNK)):
            decompressor, parts, size = zlib.decompressobj(31), [], 0
            while not decompressor.eof:
                try:
                    parts.append(decompressor.decompress(pending))
                except zlib.error as error:
                    raise StoreError(f"{path}: damaged at byte {end}: {error}; restore it or start anew") from None
                size += len(pending)
                pending = b"" if decompressor.eof else file.read(CHUNK)
                if not pending and not decompressor.eof:
                    return
            pending = decompressor.unused_data
            end += size - len(pending)
            if not pending:
                pending = file.read(CHUNK)
            yield b"".join(parts), end
