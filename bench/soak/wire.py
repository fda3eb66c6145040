"""A small HTTP client for thousands of connections at once: one request a connection, everything under a deadline."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

HOST = "127.0.0.1"


class Broken(Exception):
    """The connection ended, or what came over it was no HTTP, before the reply was whole."""


@dataclass(slots=True)
class Reply:
    """`events` are (name, data) of a stream, `body` is the reply of anything else. Times are in seconds."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    events: list[tuple[str, Any]] = field(default_factory=list)
    first_byte: float = 0.0
    seconds: float = 0.0

    @property
    def answer(self) -> str | None:
        """What was answered; None for an abstention, an error or a stream that broke off."""
        if self.events:
            name, data = self.events[-1]
            return data["answer"] if name == "answer" else None
        return json.loads(self.body)["answer"] if self.status == 200 else None

    @property
    def error(self) -> str | None:
        """The type of the error, in the one shape that errors have."""
        if self.events:
            name, data = self.events[-1]
            return data["type"] if name == "error" else None
        with suppress(ValueError, KeyError, TypeError):
            return json.loads(self.body)["error"]["type"]
        return None

    @property
    def is_typed(self) -> bool:
        """Whether the caller knows what happened."""
        return self._ended("answer") or self.error is not None

    def _ended(self, name: str) -> bool:
        """A decision came, whichever it was."""
        return self.events[-1][0] == name if self.events else self.status == 200


def question(nonce: str, *, words: int, delay: float, width: int = 2) -> str:
    """Asks the soak's engine for so many words of `width` characters, one every `delay` seconds, then the nonce."""
    return f"nonce={nonce} words={words} delay={delay} width={width}"


def post(body: dict[str, Any], key: str | None = None, path: str = "/v1/answers") -> bytes:
    """A whole request."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: {HOST}\r\ncontent-type: application/json\r\nconnection: close\r\n"
    head += "" if key is None else f"authorization: Bearer {key}\r\n"
    return f"{head}content-length: {len(content)}\r\n\r\n".encode() + content


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: {HOST}\r\nconnection: close\r\n\r\n".encode()


async def exchange(port: int, request: bytes, deadline: float) -> Reply:
    """One request and its whole reply. Raises Broken, OSError when nobody listens, TimeoutError at the deadline."""
    async with asyncio.timeout(deadline):
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection(HOST, port, limit=1 << 20)
        try:
            writer.write(request)
            return await _read(reader, began)
        except (ConnectionError, asyncio.IncompleteReadError, ValueError, IndexError) as error:
            raise Broken(type(error).__name__) from error
        finally:
            writer.close()


async def attempt(port: int, request: bytes, deadline: float) -> Reply:
    """The same for loads that go on whatever happens: a reply that never came has status 0."""
    try:
        return await exchange(port, request, deadline)
    except (Broken, OSError, TimeoutError):
        return Reply(seconds=deadline)


async def _read(reader: asyncio.StreamReader, began: float) -> Reply:
    reply = Reply(status=int((await reader.readline()).split()[1]))
    while line := (await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        reply.headers[name.lower()] = value.strip()
    if reply.headers.get("content-type", "").startswith("text/event-stream"):
        rest = b""
        async for piece in _chunks(reader):
            reply.first_byte = reply.first_byte or time.perf_counter() - began
            *blocks, rest = (rest + piece).split(b"\n\n")
            reply.events += [event for block in blocks if (event := _event(block)) is not None]
    elif reply.headers.get("transfer-encoding") == "chunked":
        reply.body = b"".join([piece async for piece in _chunks(reader)])
    else:
        reply.body = await reader.readexactly(int(reply.headers.get("content-length", 0)))
    reply.seconds = time.perf_counter() - began
    reply.first_byte = reply.first_byte or reply.seconds
    return reply


async def _chunks(reader: asyncio.StreamReader) -> AsyncGenerator[bytes, None]:
    while size := int(await reader.readline(), 16):
        yield await reader.readexactly(size)
        await reader.readline()


def _event(block: bytes) -> tuple[str, Any] | None:
    """One event; None for a comment. Only the last event of a stream matters here, so others keep no data."""
    if block.startswith(b":"):
        return None
    name, _, data = block.decode().removeprefix("event: ").partition("\ndata: ")
    return name, json.loads(data) if name in ("answer", "error") else None
