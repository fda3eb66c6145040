"""The file of keys: `{"keys": [...]}`, changed by one program at a time and never seen half-written."""

import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from demur.keys.key import Key

Keys = tuple[Key, ...]


class KeysError(ValueError):
    """Keys that cannot be read or written; the message says which and why."""


class _Content(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: Keys

    @field_validator("keys")
    @classmethod
    def _told_apart(cls, keys: Keys) -> Keys:
        if len({key.id for key in keys}) != len(keys):
            raise ValueError("two keys have the same id")
        return keys


def read_keys(text: str | bytes, source: str) -> Keys:
    """Keys out of JSON; `source` is for the message. Raises KeysError."""
    try:
        return _Content.model_validate_json(text).keys
    except ValidationError as error:
        detail = error.errors(include_input=False)[0]
        where = ".".join(map(str, detail["loc"]))
        raise KeysError(f"{source}: {where}{': ' if where else ''}{detail['msg']}") from None


class KeyFile:
    """Raises KeysError for whatever does not work."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Keys:
        try:
            return read_keys(self.path.read_bytes(), str(self.path))
        except OSError as error:
            raise KeysError(f"cannot read {self.path}: {error.strerror}") from None

    def change(self, change: Callable[[Keys], Keys]) -> None:
        """Replace the keys by `change(keys)`; a file that is not there yet has none."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path.with_name(self.path.name + ".lock"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._write(change(self.read() if self.path.exists() else ()))
        except OSError as error:
            raise KeysError(f"cannot write {self.path}: {error.strerror}") from None

    def _write(self, keys: Keys) -> None:
        """Its owner alone may read it, and a server that reads meanwhile sees the old one or the new one."""
        with tempfile.NamedTemporaryFile("w", dir=self.path.parent, prefix=f".{self.path.name}.", delete=False) as new:
            try:
                new.write(_Content(keys=keys).model_dump_json(indent=2, exclude_defaults=True) + "\n")
                new.flush()
                os.fsync(new.fileno())
                os.replace(new.name, self.path)
            except BaseException:
                os.unlink(new.name)
                raise
