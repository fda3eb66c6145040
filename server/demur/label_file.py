"""A file with an operator's own words for labels: lists of phrases for answer, confidence, solution; TOML or JSON."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from demur.core.parsing.labels import LABELS, WORDS, Labels, extended
from demur.named_file import FileError, printable, read_file, shown

MOST_BYTES = 1 << 16
MOST_PHRASES = 200
LONGEST_PHRASE = 40
"""Characters; the reader holds text back until it knows whether a label of this length begins."""


def read_labels(path: Path) -> Labels:
    """The built-in table and the phrases of the file. Raises FileError, naming file, field and what is wrong."""
    data, _ = read_file(path, MOST_BYTES)
    try:
        given = _parsed(path, data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise FileError(f"{shown(path)} is no {_form(path)}: {printable(str(error), 200)}") from None
    return extended(LABELS, {name: _phrases(path, name, value) for name, value in given.items()})


def _parsed(path: Path, text: str) -> Mapping[str, Any]:
    given = tomllib.loads(text) if _form(path) == "TOML" else json.loads(text)
    if not isinstance(given, dict):
        raise ValueError('it has to be an object such as {"answer": ["svar"]}')
    return cast(Mapping[str, Any], given)


def _form(path: Path) -> str:
    return "JSON" if path.suffix.lower() == ".json" else "TOML"


def _phrases(path: Path, name: str, value: Any) -> list[str]:
    where = f"{shown(path)}: {printable(name, 60)}"
    if name not in WORDS:
        raise FileError(f"{where} is no field of such a file; the fields are {', '.join(WORDS)}")
    listed = cast(list[Any], value) if isinstance(value, list) else None
    if not listed or len(listed) > MOST_PHRASES:
        raise FileError(f"{where} has to be a list of 1 to {MOST_PHRASES} phrases")
    return [_phrase(where, name, phrase) for phrase in listed]


def _phrase(where: str, name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise FileError(f"{where} has to hold phrases in quotes, not {printable(json.dumps(given, default=str), 60)}")
    phrase = " ".join(given.split()).lower()
    quoted = f'"{printable(given, 60)}"'
    if not 1 <= len(phrase) <= LONGEST_PHRASE or not phrase.isprintable():
        raise FileError(f"{where}: {quoted} has to be 1 to {LONGEST_PHRASE} printable characters")
    if not phrase[0].isalpha() or set(":：=") & set(phrase):
        raise FileError(f"{where}: {quoted} has to begin with a letter and to leave the colon out")
    others = {other: getattr(LABELS, other) for other in WORDS if other != name}
    for other, known in others.items():
        if phrase in known and phrase not in getattr(LABELS, name):
            raise FileError(f"{where}: {quoted} already announces the {other}")
    return phrase
