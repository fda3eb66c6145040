"""An HTTP client for hosts that nobody vouches for: no redirects, no cookies, no compression, bounded bodies."""

import math
import ssl
from collections.abc import Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

SHOWN = 200
"""Characters of a host's words that are quoted."""


class UntrustedReply(Exception):
    """A reply that is compressed, or longer than it may be."""


def careful_client(
    base_url: str,
    *,
    headers: Mapping[str, str],
    timeout: httpx.Timeout,
    limits: httpx.Limits,
    verify: ssl.SSLContext | bool = True,
) -> httpx.AsyncClient:
    """An HTTP client with a connection pool, without redirects, cookies and compression; the caller closes it.

    Heads of replies end at httpcore's limit of 100 KiB.
    """
    return httpx.AsyncClient(
        base_url=base_url,
        headers={"accept-encoding": "identity", **headers},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        follow_redirects=False,
        timeout=timeout,
        limits=limits,
        verify=verify,
    )


def refuse_encoded(response: httpx.Response) -> None:
    """Raises UntrustedReply for a body that has to be decompressed, which was not asked for and may be a bomb."""
    encoding = response.headers.get("content-encoding", "identity")
    if encoding.strip().lower() not in ("", "identity"):
        raise UntrustedReply(f"the reply is encoded: {one_line(encoding, 40)}")


async def read_body(response: httpx.Response, most: int) -> bytes:
    """All of a streamed reply. Raises UntrustedReply past `most` bytes, of which no more than 64 KiB are read."""
    refuse_encoded(response)
    body = bytearray()
    async for piece in response.aiter_bytes():
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
