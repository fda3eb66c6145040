"""The file of keys: `{"keys": [...]}`, changed by one program at a time and never seen half-written."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError, field_validator

from demur.api_keys import replacing
from demur.api_keys.key import Key
from demur.named_file import FileError, MissingFileError, printable, read_file, shown

MOST_KEYS = 10_000
MOST_BYTES = 4 << 20
"""Keys and bytes of one file: reading the most of them takes some 50 ms."""

Keys = tuple[Key, ...]


class KeysError(ValueError):
    """Keys that cannot be read or written; the message says which and why."""


class _Content(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: Annotated[Keys, Field(max_length=MOST_KEYS), FailFast()]

    @field_validator("keys")
    @classmethod
    def _told_apart(cls, keys: Keys) -> Keys:
        if len({key.id for key in keys}) != len(keys):
            raise ValueError("two keys have the same id")
        return keys


def read_keys(text: str | bytes, source: str) -> Keys:
    """Keys out of JSON; `source` is for the message. Raises KeysError."""
    if len(text) > MOST_BYTES:
        raise KeysError(f"{source}: larger than the {MOST_BYTES:,} bytes that keys may take")
    try:
        return _Content.model_validate_json(text).keys
    except ValidationError as error:
        raise KeysError(f"{source}: {_problem(error)}") from None


class KeyFile:
    """A file of API keys. Methods raise KeysError for a file that cannot be read, written or is no file of keys."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Keys:
        return self.look()[0]

    def look(self) -> tuple[Keys, os.stat_result]:
        """The keys, and what the system said about the file before they were read."""
        try:
            data, found = read_file(self.path, MOST_BYTES)
        except FileError as error:
            raise KeysError(str(error)) from None
        return read_keys(data, shown(self.path)), found

    def change(self, change: Callable[[Keys], Keys]) -> None:
        """Replace the keys by `change(keys)`, and see that they are there; a file that is not there yet has none."""
        try:
            self._now(self.path)  # nothing is made beside what is no file of keys
            with replacing.locked(self.path) as real:
                keys, old = self._now(real)
                changed = change(keys)
                replacing.replace(real, _encoded(changed, shown(self.path)), old)
                self._check(real, changed)
        except FileError as error:
            raise KeysError(str(error)) from None

    def _now(self, path: Path) -> tuple[Keys, os.stat_result | None]:
        try:
            data, found = read_file(path, MOST_BYTES)
        except MissingFileError:
            return (), None
        return read_keys(data, shown(self.path)), found

    def _check(self, real: Path, changed: Keys) -> None:
        """What is read by the name that the operator gave has to be what was written."""
        keys, found = self.look()
        if keys != changed or not os.path.samestat(found, os.stat(real)):
            raise KeysError(f"{shown(self.path)} was written, but something else is read from it; look at it by hand")


def _encoded(keys: Keys, source: str) -> bytes:
    try:
        text = _Content(keys=keys).model_dump_json(indent=2, exclude_defaults=True) + "\n"
    except ValidationError as error:
        raise KeysError(f"{source}: {_problem(error)}") from None
    if len(data := text.encode()) > MOST_BYTES:
        raise KeysError(f"{source}: the keys would take more than {MOST_BYTES:,} bytes")
    return data


def _problem(error: ValidationError) -> str:
    """The first one, by the name of its field. Field names come out of the file, so they may hold anything."""
    detail = error.errors(include_input=False)[0]
    where = ".".join(map(str, detail["loc"]))
    return printable(f"{where}{': ' if where else ''}{detail['msg']}")
