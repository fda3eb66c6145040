"""Files that an operator names: regular, of bounded size, and an error that says which file and why."""

import errno
import os
import stat
from pathlib import Path


class FileError(ValueError):
    """A file that cannot be read or replaced; the message names it, and says why and what to do."""


class MissingFileError(FileError):
    """There is no such file."""


def read_file(path: Path, most_bytes: int) -> tuple[bytes, os.stat_result]:
    """The whole file and what the system says about it. Raises FileError.

    A pipe or a device would keep its reader waiting, or never end: only regular files are opened.
    """
    try:
        _check_regular(path, os.stat(path))
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(opened, "rb") as file:
            found = os.fstat(file.fileno())
            _check_regular(path, found)
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise reason(error, "read", path) from None
    if len(data) > most_bytes:
        raise FileError(f"{shown(path)} is larger than the {most_bytes:,} bytes that are read of such a file")
    return data, found


def shown(path: Path | str) -> str:
    """A path as a terminal or a log may show it."""
    return printable(str(path))


def printable(text: str, most: int = 500) -> str:
    """At most so many characters, those that could drive a terminal or break a line written as escapes."""
    cut = text if len(text) <= most else text[:most] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def reason(error: OSError, what: str, path: Path) -> FileError:
    """What the system said, in words that help."""
    kind = MissingFileError if error.errno == errno.ENOENT else FileError
    return kind(f"cannot {what} {shown(path)}: {_HINTS.get(error.errno or 0, error.strerror)}")


def _check_regular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise FileError(f"{shown(path)} is {_KINDS.get(stat.S_IFMT(found.st_mode), 'something else')}, no regular file")


_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_HINTS = {
    errno.EBUSY: "it is mounted by itself and cannot be replaced; mount its folder, or change it where it comes from",
    errno.EROFS: "it is mounted read-only; change it where it comes from",
    errno.ELOOP: "its symbolic links lead in a circle",
}
