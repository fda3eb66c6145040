"""Reads a document in the forced form while it is written: the caller's plain JSON, value by value.

A pair is complete with its closing bracket, and so is the value in it. What stands before a value (brackets, names,
commas) is its `lead`.
"""

import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from demur.core.answers import FieldValue
from demur.core.fields.document import Json, Path, of_pair, written
from demur.core.fields.scanner import JsonToken, Scanner, Unreadable

MOST_NESTED = 256
"""Levels of lists and objects in one document."""


@dataclass(slots=True)
class _Level:
    """A list or an object that is open. `wants` says what may come next."""

    closing: str
    wants: str
    names: set[str] = field(default_factory=set[str])
    name: str = ""
    count: int = 0

    @property
    def here(self) -> str | int:
        """Where the next value stands, as a part of a path."""
        return self.name if self.closing == "}" else self.count


class DocumentReader:
    """Reads a JSON document in the forced form as it arrives: `feed` pieces, then `close`.

    Both raise Unreadable once the text cannot be such a document any more, or is nested deeper than MOST_NESTED levels.

    The leads and values told, with `close` at their end, are the document on one line, for every split into pieces.
    """

    def __init__(self) -> None:
        self._scanner = Scanner()
        self._levels: list[_Level] = []
        self._pair: list[Any] | None = None
        self._span = (0, 0)
        self._opened = False  # a list of which it is not known yet whether it is a pair
        self._after_comma = True
        self._lead: list[str] = []
        self._done = False

    def feed(self, text: str) -> Iterator[FieldValue]:
        for token in self._scanner.feed(text):
            yield from self._take(token)

    def close(self) -> str:
        """The plain JSON behind the last value. Raises Unreadable for a document that has not come to its end."""
        for token in self._scanner.close():
            for _ in self._take(token):
                raise Unreadable("a value without a percentage")
        if not self._done:
            raise Unreadable("the document has no end")
        return "".join(self._lead)

    def _take(self, token: JsonToken) -> Iterator[FieldValue]:
        if self._done:
            raise Unreadable("something stands behind the document")
        if self._pair is not None:
            yield from self._in_pair(self._pair, token)
        elif self._opened:
            self._opened = False
            if token.mark:
                self._open_level("[", "]")
                self._structure(token)
            else:
                self._pair, self._span, self._after_comma = [token.value], _inside(token), False
        else:
            self._structure(token)

    def _in_pair(self, pair: list[Any], token: JsonToken) -> Iterator[FieldValue]:
        if token.mark == "]" and not self._after_comma:
            told = of_pair(pair, self._path(), self._span)
            self._pair = None
            yield replace(told, lead="".join(self._lead))
            self._lead.clear()
            self._ended()
        elif token.mark == "," and not self._after_comma:
            self._after_comma = True
        elif not token.mark and self._after_comma:
            pair.append(token.value)
            self._after_comma = False
        else:
            raise Unreadable("a pair holds plain values")

    def _structure(self, token: JsonToken) -> None:
        level = self._levels[-1] if self._levels else None
        wants = level.wants if level else "value"
        if level is not None and token.mark == level.closing and wants in ("first", "comma"):
            self._lead.append(level.closing)
            self._levels.pop()
            self._ended()
        elif level is not None and token.mark == "," and wants == "comma":
            self._lead.append(", ")
            level.wants = "name" if level.closing == "}" else "value"
        elif level is not None and level.closing == "}" and wants != "value":
            self._name(level, token)
        elif token.mark == "{" and wants in ("first", "value"):
            self._open_level("{", "}")
        elif token.mark == "[" and wants in ("first", "value"):
            self._opened = True
        else:
            raise Unreadable(f"{token.mark or 'a value without a percentage'} cannot stand there")

    def _name(self, level: _Level, token: JsonToken) -> None:
        if token.mark == ":" and level.wants == "colon":
            self._lead.append(": ")
            level.wants = "value"
        elif isinstance(token.value, str) and level.wants in ("first", "name") and token.value not in level.names:
            level.names.add(token.value)
            level.name, level.wants = token.value, "colon"
            self._lead.append(written(token.value))
        else:
            raise Unreadable("an object has names, each once")

    def _open_level(self, opening: str, closing: str) -> None:
        if len(self._levels) >= MOST_NESTED:
            raise Unreadable(f"nested deeper than {MOST_NESTED} levels")
        self._lead.append(opening)
        self._levels.append(_Level(closing, "first"))

    def _ended(self) -> None:
        """A value has ended: what stands around it goes on."""
        if self._levels:
            level = self._levels[-1]
            level.count, level.wants = level.count + 1, "comma"
        else:
            self._done = True

    def _path(self) -> Path:
        return tuple(level.here for level in self._levels)


def _inside(token: JsonToken) -> tuple[int, int]:
    """Where a value stands, without the quotation marks around a text that has something in it."""
    marked = isinstance(token.value, str) and token.end - token.start > 2
    return (token.start + 1, token.end - 1) if marked else (token.start, token.end)


def read_document(text: str) -> tuple[Json, tuple[FieldValue, ...]]:
    """The caller's JSON, and its plain values in the order of the text. Raises Unreadable as `DocumentReader` does."""
    reader = DocumentReader()
    fields = tuple(reader.feed(text))
    return json.loads(plain(fields) + reader.close()), fields


def plain(fields: Iterable[FieldValue], empty: Container[str] = ()) -> str:
    """The caller's JSON up to the last of the fields, with null at the paths in `empty`."""
    return "".join(each.lead + ("null" if each.path in empty else written(each.value)) for each in fields)
