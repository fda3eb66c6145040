"""`demur model prepare`: the embedded model's folder appears whole or not at all, and is repaired when damaged."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from demur.model.smollm2 import FILES, MANIFEST, SOURCE_SHA256, Progress, convert, locate

SUMS = "prepared.json"
"""Written last: which conversion made the folder from which source, and the SHA-256 of every other file in it."""

_CONVERSION = 1
"""Counts changes of what is written; a folder that an older one made is made anew."""


class CannotPrepare(Exception):
    """The folder cannot be made where it was asked for; the message says why and what to do."""


def default_folder() -> Path:
    """Where the embedded model is kept: in the user's cache directory, which XDG_CACHE_HOME moves."""
    return user_cache_path("demur") / "models" / MANIFEST.name


def prepare(target: Path | None = None, progress: Progress = lambda doing, share: None) -> Path:
    """The folder of the embedded model, made now unless it is there and whole (which takes under a second).

    Needs no network. Safe to run several times at once, and to kill: the folder is made beside its place and
    moved there when finished. Raises SourceError when the package with the weights is missing or damaged, and
    CannotPrepare when the folder cannot be written or `target` holds something else.
    """
    folder = (target or default_folder()).expanduser().absolute()
    progress("checking", 0.0)
    if not is_intact(folder):
        if target is not None:
            _refuse_foreign(folder)
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _alone(folder):
                if not is_intact(folder):
                    _make(folder, progress)
        except OSError as error:
            raise CannotPrepare(f"cannot make {folder}: {error}") from error
    progress("ready", 1.0)
    return folder


def is_intact(folder: Path) -> bool:
    """Whether `folder` holds every file of the embedded model as it was written by this version."""
    try:
        sums = json.loads((folder / SUMS).read_bytes())
        return sums == _describe(sums["sha256"]) and all(
            _sha256(folder / name) == expected for name, expected in sums["sha256"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _make(folder: Path, progress: Progress) -> None:
    # Only one process is here at a time, so what an earlier one left under these names is dead.
    unfinished, replaced = (folder.with_name(f".{folder.name}.{state}") for state in ("unfinished", "replaced"))
    for leftover in (unfinished, replaced):
        shutil.rmtree(leftover, ignore_errors=True)
    unfinished.mkdir()
    try:
        convert(locate(), unfinished, progress)
        progress("computing checksums", 0.95)
        _write_sums(unfinished)
        if folder.exists():
            folder.rename(replaced)
        unfinished.rename(folder)
    finally:
        for leftover in (unfinished, replaced):
            shutil.rmtree(leftover, ignore_errors=True)


def _write_sums(folder: Path) -> None:
    sums = {path.name: _sha256(path) for path in sorted(folder.iterdir())}
    (folder / SUMS).write_text(json.dumps(_describe(sums), indent=2) + "\n", encoding="utf-8")


def _describe(sums: dict[str, str]) -> dict[str, Any]:
    return {"conversion": _CONVERSION, "source": SOURCE_SHA256, "sha256": sums}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_foreign(folder: Path) -> None:
    """Repairing replaces the whole folder, so it must be one that was made here, and nothing more."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir() or folder.is_symlink():
        raise CannotPrepare(f"{folder} is not a folder; name another one")
    names = {path.name for path in folder.iterdir()}
    if names and not {SUMS} <= names <= {SUMS, *FILES}:
        raise CannotPrepare(f"{folder} holds files that were not made here; name an empty or a new folder")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process makes `folder`. The system releases the lock when its holder dies."""
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
