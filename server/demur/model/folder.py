"""`demur model prepare`: the embedded model's folder appears whole or not at all, and is repaired when damaged."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_cache_path

from demur.model import calibrated, smollm2
from demur.model.smollm2 import SOURCE_SHA256, Progress, locate

Kind = Literal["calibrated", "base"]
"""The embedded model as it is served, or as it was before training, which starts from there and is compared with it."""

SUMS = "prepared.json"
"""Written last: which conversion made the folder from which source, and the SHA-256 of every other file in it."""

_CONVERSION = 2
"""Counts changes of what is written; a folder that an older one made is made anew."""

_CONVERT = {"calibrated": calibrated.convert, "base": smollm2.convert}


class CannotPrepare(Exception):
    """The folder cannot be made where it was asked for; the message says why and what to do."""


def default_folder(kind: Kind = "calibrated") -> Path:
    """Where the embedded model is kept: in the user's cache directory, which XDG_CACHE_HOME moves."""
    name = smollm2.MANIFEST.name if kind == "base" else calibrated.ARTEFACT.name.replace("_", "-")
    return user_cache_path("demur") / "models" / name


def prepare(
    target: Path | None = None,
    progress: Progress = lambda doing, share: None,
    kind: Kind = "calibrated",
) -> Path:
    """The folder of the embedded model, made now unless it is there and whole (which takes a second or two).

    Needs no network. Safe to run several times at once, and to kill: the folder is made beside its place and
    moved there when finished. Raises SourceError when the package with the weights is missing or damaged, and
    CannotPrepare when the folder cannot be written or `target` holds something else.
    """
    folder = (target or default_folder(kind)).expanduser().absolute()
    progress("checking", 0.0)
    if not is_intact(folder, kind):
        if target is not None:
            _refuse_foreign(folder)
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _alone(folder):
                if not is_intact(folder, kind):
                    _make(folder, progress, kind)
        except OSError as error:
            raise CannotPrepare(f"cannot make {folder}: {error}") from error
    progress("ready", 1.0)
    return folder


def made_from(folder: Path) -> dict[str, Any]:
    """What the weights of an embedded model were made from: the conversion and the hashes of its sources."""
    made = json.loads((folder / SUMS).read_bytes())
    return {name: value for name, value in made.items() if name not in ("sha256", "artefact")}


def is_intact(folder: Path, kind: Kind = "calibrated") -> bool:
    """Whether `folder` holds every file of the embedded model as it was written by this version."""
    try:
        sums = json.loads((folder / SUMS).read_bytes())
        return sums == _describe(sums["sha256"], kind) and all(
            _sha256(folder / name) == expected for name, expected in sums["sha256"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _make(folder: Path, progress: Progress, kind: Kind) -> None:
    # Only one process is here at a time, so what an earlier one left under these names is dead.
    unfinished, replaced = (folder.with_name(f".{folder.name}.{state}") for state in ("unfinished", "replaced"))
    for leftover in (unfinished, replaced):
        shutil.rmtree(leftover, ignore_errors=True)
    unfinished.mkdir()
    try:
        _CONVERT[kind](locate(), unfinished, progress)
        progress("computing checksums", 0.95)
        _write_sums(unfinished, kind)
        if folder.exists():
            folder.rename(replaced)
        unfinished.rename(folder)
    finally:
        for leftover in (unfinished, replaced):
            shutil.rmtree(leftover, ignore_errors=True)


def _write_sums(folder: Path, kind: Kind) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = {path.relative_to(folder).as_posix(): _sha256(path) for path in files}
    (folder / SUMS).write_text(json.dumps(_describe(sums, kind), indent=2) + "\n", encoding="utf-8")


def _describe(sums: dict[str, str], kind: Kind) -> dict[str, Any]:
    source = {"source": SOURCE_SHA256}
    if kind == "calibrated":
        source |= {"adapter": calibrated.weights_identity(), "artefact": calibrated.identity()}
    return {"conversion": _CONVERSION, **source, "sha256": sums}


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
    if names and not {SUMS} <= names <= {SUMS, *(name.partition("/")[0] for name in calibrated.FILES)}:
        raise CannotPrepare(f"{folder} holds files that were not made here; name an empty or a new folder")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process makes `folder`. The system releases the lock when its holder dies."""
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
