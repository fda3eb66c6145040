"""An HTTP client for one model host that nobody vouches for: no redirects, no cookies, no compression, short heads.

aiohttp, because streams are read piece by piece: its parser is compiled, and pieces that came together are one read.
"""

import os
import socket
import ssl
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from demur.engine.base import EngineError
from demur.http_client import UntrustedReply, one_line

KEEP_ALIVE = 3.0
"""Seconds an idle connection is kept: less than the 5 after which uvicorn, and so vLLM, ends it from its side."""
MOST_HEADER = 1 << 14
"""Bytes of one header, and of the status line, of which a reply may have MOST_HEADERS."""
MOST_HEADERS = 128
RECEIVED = 1 << 15
"""Bytes that the kernel keeps of one reply (it doubles that), and so about what is parsed before others get their turn:
a host may send thousands of its smallest messages in that."""


class HostClient:
    """A pool of connections to one address, opened in the event loop that first uses it.

    It trusts the certificates that the system trusts, and goes through the proxy that the environment names. `connect`
    is how many seconds a connection may take, `read` how long a host may send nothing at all. Raises ValueError for
    what is no address.
    """

    def __init__(self, base_url: str, api_key: str | None, *, connect: float, read: float) -> None:
        self._base = URL(base_url.rstrip("/") + "/")
        self._headers = {"accept-encoding": "identity"}
        if api_key is not None and self._base.user is None:  # aiohttp sends what the address itself says
            self._headers["authorization"] = f"Bearer {api_key}"
        self._proxy = _proxy_for(self._base)
        self._verified = ssl.create_default_context() if self._base.scheme == "https" else True
        self._timeout = aiohttp.ClientTimeout(total=None, connect=connect, sock_read=read)
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def reply(
        self, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[aiohttp.ClientResponse, None]:
        """The reply to one request, once its head is there; its body is read inside of `translated`.

        Leaving the block before all of it is read closes the connection, which stops the work at the other end. Raises
        EngineError where no reply comes.
        """
        with translated():
            response = await self._opened().request(
                method, self._base.joinpath(path), data=body, headers=headers, allow_redirects=False
            )
        try:
            yield response
        finally:
            response.close()

    async def aclose(self) -> None:
        """Close the connections that are left."""
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=KEEP_ALIVE, ssl=self._verified, socket_factory=_socket
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                timeout=self._timeout,
                auto_decompress=False,
                proxy=self._proxy,
                max_line_size=MOST_HEADER,
                max_field_size=MOST_HEADER,
                max_headers=MOST_HEADERS,
            )
        return self._session


def _socket(where: tuple[Any, ...]) -> socket.socket:
    made = socket.socket(*where[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED)
    return made


def _proxy_for(url: URL) -> str | None:
    """What the environment names (HTTPS_PROXY, ALL_PROXY and so on), unless NO_PROXY holds for this host."""
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    if not named or proxy_bypass(url.host or ""):
        return None
    return named if "://" in named else f"http://{named}"


@contextmanager
def translated() -> Generator[None]:
    """Whatever a host does wrong while its reply is read, as EngineError."""
    try:
        yield
    except (aiohttp.ClientError, HttpProcessingError, UntrustedReply, OSError, ValueError) as error:
        raise EngineError(f"no answer from the upstream: {_why(error)}") from error


def _why(error: Exception) -> str:
    """aiohttp's own words may quote an address, with what is secret in it."""
    match error:
        case aiohttp.ServerTimeoutError():
            return "nothing came in time"
        case aiohttp.ClientConnectorError():
            number = error.os_error.errno or 0
            return f"cannot connect: {os.strerror(number) if number > 0 else one_line(error.os_error.strerror)}"
        case aiohttp.ServerDisconnectedError():
            return "it closed the connection"
        case aiohttp.ClientError() | HttpProcessingError():
            return f"what it sends is no whole reply ({type(error).__name__})"
        case _:
            return one_line(error) or type(error).__name__
