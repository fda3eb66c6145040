"""The server-sent events of a host's reply: told apart in what was read, and how soon to read again."""

import asyncio

import aiohttp

from demur.engine.chat_event import Ask
from demur.http_client import UntrustedReply

DONE = b"[DONE]"
"""The data of the event that ends a reply."""
LEAST_CHARGED = 64
"""Bytes that a line of a reply counts for at least: each costs time, however short it is."""
PACE, FAST = 0.01, 2
"""Seconds to wait for more where so many pieces come in that time: a stream of 200 tokens a second is shown token by
token, and a faster one costs no more than 100 pieces a second. Its beginning and its end are seen at once."""


class Events:
    """Splits a reply into the data of its server-sent events, each of which is one line in this protocol."""

    def __init__(self, ask: Ask) -> None:
        self._left, self._most_line = ask.most_bytes, ask.most_line
        self.rest = bytearray()
        """What came of a line that has not ended yet."""

    def feed(self, piece: bytes) -> list[bytes]:
        """What the next bytes complete, up to the end of the reply. Raises UntrustedReply past a limit."""
        lines = piece.count(b"\n")
        self._left -= max(len(piece), LEAST_CHARGED * lines)
        self.rest += piece
        if self._left < 0 or len(self.rest) > self._most_line + len(piece):
            raise UntrustedReply("the upstream sends more than this sample can need")
        if not lines:
            return []
        *ended, self.rest = self.rest.split(b"\n")
        found = [bytes(line[5:]).strip() for line in ended if line.startswith(b"data:")]
        return found[: found.index(DONE) + 1] if DONE in found else found


class Pace:
    """Lets some of a fast reply come together before it is read."""

    def __init__(self, content: aiohttp.StreamReader) -> None:
        self._content = content
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._waiting: asyncio.Future[None] | None = None
        content.on_eof(self._end)

    async def keep(self, pieces: int, *, more: bool) -> None:
        """Wait where so many have come since the last time. Where there is `more` already, others have their turn."""
        before, self._last = self._last, self._loop.time()
        if more:
            await asyncio.sleep(0)
            return
        if pieces * PACE < FAST * (self._last - before) or self._content.is_eof():
            return
        self._waiting = self._loop.create_future()
        timer = self._loop.call_later(PACE, self._end)
        try:
            await self._waiting
        finally:
            timer.cancel()

    def _end(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
