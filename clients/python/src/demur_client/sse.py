"""Server-sent events: pieces of bytes in, events out. No I/O."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event as it was sent: `data` is text still."""

    event: str
    data: str


class Decoder:
    """Decodes server-sent events (the HTML standard's text/event-stream) from bytes as they arrive.

    An event is given out at the empty line that ends it, so half an event never is.
    Lines end with CR LF, LF or CR, also where a piece ends between CR and LF. Work is linear in what is fed.
    """

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._partial: list[str] = []  # pieces of the line that has not ended yet
        self._after_cr = False
        self._event = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> Iterator[ServerSentEvent]:
        """Take the next piece of a stream; the events that are complete with it."""
        for line in self._lines(self._text.decode(data)):
            event = self._line(line)
            if event is not None:
                yield event

    def _lines(self, text: str) -> Iterator[str]:
        if not text:
            return
        if self._after_cr and text.startswith("\n"):
            text = text[1:]
        self._after_cr = text.endswith("\r") if text else False
        *ended, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in ended:
            yield "".join([*self._partial, line])
            self._partial.clear()
        if rest:
            self._partial.append(rest)

    def _line(self, line: str) -> ServerSentEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        event = ServerSentEvent(self._event or "message", "\n".join(self._data)) if self._data else None
        self._event = ""
        self._data.clear()
        return event
