"""JSON in pieces -> its tokens: brackets, commas, colons, and plain values, each once it is complete."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_MARKS = frozenset("[]{},:")
_BLANK = frozenset(" \t\n\r")


class Unreadable(ValueError):
    """An output that is no whole document in the forced form."""


@dataclass(frozen=True, slots=True)
class JsonToken:
    """A `mark`, one of []{},: or else a plain `value`; [start, end) in code points of what was fed so far."""

    mark: str
    value: Any
    start: int
    end: int


class Scanner:
    """Cuts JSON that arrives in pieces into tokens. Linear in time and memory, however the text is split."""

    def __init__(self) -> None:
        self._at = 0
        self._open: list[str] = []
        self._in_text = self._escaped = False

    def feed(self, text: str) -> Iterator[JsonToken]:
        """The tokens that are complete. Raises Unreadable where the text cannot be JSON any more."""
        for character in text:
            if self._in_text:
                yield from self._text_goes_on(character)
            elif character in _MARKS:
                yield from self._plain()
                yield JsonToken(character, None, self._at, self._at + 1)
            elif character in _BLANK:
                yield from self._plain()
            else:
                self._begins_or_goes_on(character)
            self._at += 1

    def close(self) -> Iterator[JsonToken]:
        """The token that the end of the input completes, if any. Raises Unreadable where a quoted text is still open,
        or what is left is no JSON."""
        if self._in_text:
            raise Unreadable("a text has no end")
        yield from self._plain()

    def _begins_or_goes_on(self, character: str) -> None:
        if character == '"':
            if self._open:
                raise Unreadable("a quotation mark inside a plain value")
            self._in_text = True
        self._open.append(character)

    def _text_goes_on(self, character: str) -> Iterator[JsonToken]:
        self._open.append(character)
        if self._escaped:
            self._escaped = False
        elif character == "\\":
            self._escaped = True
        elif character == '"':
            self._in_text = False
            yield self._complete(self._at + 1)

    def _plain(self) -> Iterator[JsonToken]:
        if self._open:
            yield self._complete(self._at)

    def _complete(self, end: int) -> JsonToken:
        text, self._open = "".join(self._open), []
        try:
            return JsonToken("", json.loads(text, parse_constant=_no_number), end - len(text), end)
        except ValueError as error:
            raise Unreadable(str(error)[:200]) from None


def _no_number(name: str) -> Any:
    raise Unreadable(f"{name} is no JSON")
