"""Replacing a small file in one step: whoever reads it, as whatever user and by whatever name, reads the new one."""

import errno
import fcntl
import os
import pwd
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from demur.named_file import FileError, reason, shown

ACCESS = ("system.posix_acl_access", "system.nfs4_acl", "security.selinux")
"""Attributes that decide, beside the mode, who may read a file."""
PATIENCE = 10.0
"""Seconds to wait for another program that is changing the same file."""


@contextmanager
def locked(path: Path) -> Generator[Path]:
    """Change the file that `path` leads to while nobody else does; gives that file, which may not be there yet.

    Raises FileError.
    """
    real = Path(os.path.realpath(path))
    if real.parent.name.startswith("..") and real.parent.parent.joinpath("..data").is_symlink():
        raise FileError(
            f"{shown(path)} comes out of a Kubernetes secret or config map; change that: here it would be written over"
        )
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        lock = _open_lock(real.with_name(real.name + ".lock"))
    except OSError as error:
        raise reason(error, "write", path) from None
    try:
        _wait_for(lock, path)
        yield real
    finally:
        os.close(lock)


def replace(real: Path, data: bytes, old: os.stat_result | None) -> None:
    """Put `data` in the place of a file that nobody else changes now; `old` is what the system says of that file.

    Owner, group, mode and access lists stay. A new file is its owner's alone. Raises FileError, and then nothing has
    changed.
    """
    if old is not None and old.st_nlink > 1:
        raise FileError(
            f"{shown(real)} has other names (hard links), which would keep what is in it now; remove them first"
        )
    try:
        with tempfile.NamedTemporaryFile("wb", dir=real.parent, prefix=f".{real.name}.", delete=False) as new:
            try:
                if old is not None:
                    _make_alike(new.fileno(), real, old)
                new.write(data)
                new.flush()
                os.fsync(new.fileno())
                os.replace(new.name, real)
            except BaseException:
                os.unlink(new.name)
                raise
        _sync_folder(real.parent)
    except OSError as error:
        raise reason(error, "write", real) from None


def _make_alike(new: int, real: Path, old: os.stat_result) -> None:
    """Give a file the owner, the mode and the access lists of the one it replaces."""
    made = os.fstat(new)
    if (made.st_uid, made.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(new, old.st_uid, old.st_gid)
        except OSError as error:
            raise _not_its_owner(real, old) from error
    os.fchmod(new, old.st_mode & 0o7777)
    for name in ACCESS:
        value = _attribute(real, name)
        if value == _attribute(new, name):
            continue
        try:
            os.removexattr(new, name) if value is None else os.setxattr(new, name, value)
        except OSError as error:
            raise FileError(f"nothing was changed: cannot keep {name} of {shown(real)}: {error.strerror}") from None


def _not_its_owner(real: Path, old: os.stat_result) -> FileError:
    name = str(old.st_uid)
    with suppress(KeyError):
        name = pwd.getpwuid(old.st_uid).pw_name
    return FileError(
        f"nothing was changed: {shown(real)} belongs to user {name}, group {old.st_gid}, and written by you it would "
        f"not; a server that runs as that user could not read it any more. Run this as {name} or root"
    )


def _attribute(file: Path | int, name: str) -> bytes | None:
    try:
        return os.getxattr(file, name)
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.ENOTSUP, errno.ENOSYS):
            return None
        raise


def _open_lock(path: Path) -> int:
    """Also one that another user made: reading is enough to lock it."""
    flags = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, flags | os.O_RDWR, 0o644)
    except PermissionError:
        return os.open(path, (flags & ~os.O_CREAT) | os.O_RDONLY)


def _wait_for(lock: int, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
    end = clock() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if clock() >= end:
                raise FileError(
                    f"nothing was changed: another program has been changing {shown(path)} for {PATIENCE:g} s"
                ) from None
            time.sleep(0.02)
        except OSError as error:
            raise reason(error, "lock", path) from None


def _sync_folder(folder: Path) -> None:
    """Make the new name last. Some file systems cannot, and say so by EINVAL."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(opened)
