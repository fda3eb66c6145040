"""What holds for every HTTP reply of a host that nobody vouches for: no compression, bounded bodies, words made fit to
be shown. The clients themselves, which follow no redirect and keep no cookie, are made where they are used."""

import math
from collections.abc import AsyncIterable, Mapping

SHOWN = 200
"""Characters of a host's words that are quoted."""


class UntrustedReply(Exception):
    """A reply that is compressed, or longer than it may be."""


def refuse_encoded(headers: Mapping[str, str]) -> None:
    """Raises UntrustedReply for a body that has to be decompressed, which was not asked for and may be a bomb."""
    encoding = headers.get("content-encoding", "identity")
    if encoding.strip().lower() not in ("", "identity"):
        raise UntrustedReply(f"the reply is encoded: {one_line(encoding, 40)}")


async def read_body(pieces: AsyncIterable[bytes], headers: Mapping[str, str], most: int) -> bytes:
    """All of a streamed reply. Raises UntrustedReply at the first piece that goes beyond `most` bytes."""
    refuse_encoded(headers)
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > most:
            raise UntrustedReply(f"the reply is longer than {most} bytes")
    return bytes(body)


def retry_after_seconds(value: str) -> float | None:
    """Seconds of a Retry-After header; None unless it holds a finite number from 0. Dates are left to the caller."""
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def one_line(words: object, most: int = SHOWN) -> str:
    """Somebody else's words for a log or a terminal: cut, on one line, nothing in them that is not printed."""
    shown = str(words)[: 4 * most]
    return " ".join("".join(c if c.isprintable() else " " for c in shown).split())[:most]
