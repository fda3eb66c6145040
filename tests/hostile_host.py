"""Upstreams that do what no upstream should, over raw sockets: each kind is the first part of the path."""

import asyncio
import gzip
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote

ENDLESS = 64 << 20
"""Bytes after which an endless reply stops, so that a client without limits fails its test and not the machine."""
OPEN = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
CARDS = b'{"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 4096}]}'
DONE = b"data: [DONE]\n\n"


def data(event: object) -> bytes:
    return b"data: " + (event if isinstance(event, bytes) else json.dumps(event).encode()) + b"\n\n"


def choice(text: object = "", finish: object = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


def status(code: int, body: bytes = b'{"error": {"message": "no"}}', head: str = "") -> bytes:
    return (
        f"HTTP/1.1 {code} x\r\ncontent-type: application/json\r\n{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
        + body
    )


def usage(counted: bytes) -> bytes:
    return data(b'{"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": ' + counted + b"}}")


Reply = bytes | Callable[[], AsyncIterator[bytes]]
"""All at once, or piece by piece."""


def endless(head: bytes, piece: bytes) -> Callable[[], AsyncIterator[bytes]]:
    async def reply() -> AsyncIterator[bytes]:
        yield head
        block = piece * max(1, 65536 // len(piece))
        for _ in range(ENDLESS // len(block)):
            yield block

    return reply


def silent(head: bytes, piece: bytes = b"", pause: float = 30.0) -> Callable[[], AsyncIterator[bytes]]:
    async def reply() -> AsyncIterator[bytes]:
        yield head
        while True:
            await asyncio.sleep(pause)
            yield piece

    return reply


GOOD_EVENTS = data(choice("Answer: 4\nConfidence: 0.9")) + data(choice("", "stop")) + usage(b"7") + DONE

STATUSES: dict[str, Reply] = {
    **{str(code): status(code) for code in (201, 204, 304, 401, 402, 403, 404, 405, 410, 418, 451, 500, 501, 503, 599)},
    "429": status(429, head="retry-after: 7\r\n"),
    "400 without words": status(400, b""),
    "400 of a proxy": status(400, b"<html>bad request</html>"),
    "422 nested": status(422, b'{"error":' * 5000),
    "400 in nonsense": status(400, b"\xff\xfe"),
    "500 without end": endless(b"HTTP/1.1 500 x\r\nconnection: close\r\n\r\n", b"x"),
    "400 without end": endless(b"HTTP/1.1 400 x\r\nconnection: close\r\n\r\n", b'{"error": "'),
    **{
        f"redirect {code}": status(code, b"", "location: /trap/v1/chat/completions\r\n")
        for code in (301, 302, 307, 308)
    },
    "redirect elsewhere": status(307, b"", "location: http://127.0.0.1:9/v1/chat/completions\r\n"),
}
"""What comes instead of a stream."""

WIRE: dict[str, Reply] = {
    "nothing": b"",
    "no http": b"\x00\x01\x02\x03\r\n\r\n",
    "half a head": b"HTTP/1.1 200 OK\r\ncontent-ty",
    "lengths that differ": b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n",
    "a negative length": b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
    "chunks that are none": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
    "a head without end": endless(b"HTTP/1.1 200 OK\r\n", b"x-more: 1\r\n"),
    "a header without end": endless(b"HTTP/1.1 200 OK\r\nx: ", b"y"),
    "switched protocols": b"HTTP/1.1 101 x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    "a bomb": OPEN[:-2] + b"content-encoding: gzip\r\n\r\n" + gzip.compress(data(choice("x" * (8 << 20)))),
    "an unknown encoding": OPEN[:-2] + b"content-encoding: br\r\n\r\nxxxx",
}

EVENTS: dict[str, Reply] = {
    "no events": b"",
    "a page": b"<html>\n<body>\n",
    "done at once": DONE,
    "no json": data(b"{not json"),
    "a list": data([]),
    "a number": data(5),
    "null": data(None),
    "choices 5": data({"choices": 5}),
    "choices of 5": data({"choices": [5]}),
    "choices of lists": data({"choices": [[]]}),
    "an object of choices": data({"choices": {}}),
    "many choices": data({"choices": [{}] * 5000}),
    "wrong choices": data({"choices": [5] * 100_000}),
    "delta a list": data({"choices": [{"delta": []}]}),
    "delta a text": data({"choices": [{"delta": "4"}]}),
    "text 5": data(choice(5)),
    "text true": data(choice(True)),
    "text a list": data(choice(["4"])),
    "finish 5": data(choice("", 5)),
    "finish an object": data(choice("", {})),
    "nested lists": data(b"[" * 100_000),
    "nested objects": data(b'{"choices":' * 100_000),
    "nested beside": data(b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "a long number": data(b'{"usage": {"prompt_tokens": ' + b"9" * 500_000 + b"}}"),
    "no utf-8": data(b'{"choices": [{"delta": {"content": "\xff\xfe"}}]}'),
    "half a character": data(b'{"choices": [{"delta": {"content": "\\ud83d"}}]}'),
    "half a character in bytes": data(b'{"choices": [{"delta": {"content": "\xed\xa0\xbd"}}]}'),
    "an error event": data({"error": {"message": "\x1b[2J out of memory", "code": 500}}),
    **{
        f"usage {counted.decode()[:12]}": usage(counted)
        for counted in (b"NaN", b"Infinity", b"1e308", b"-1", b'"7"', b"true", b"[]", b"7.5", b"9" * 30, b"1000000")
    },
    "usage 5": data({"choices": [], "usage": 5}),
    "a prompt that long": data({"choices": [], "usage": {"prompt_tokens": 10**8}}),
    "a line without end": endless(b"data: ", b"x"),
    "a text line without end": endless(b'data: {"choices": [{"delta": {"content": "', b"x"),
    "comments without end": endless(b"", b": still here\n\n"),
    "blank lines without end": endless(b"", b"\n"),
    "roles without end": endless(b"", data({"choices": [{"delta": {"role": "assistant", "content": ""}}]})),
    "empty events without end": endless(b"", data({"choices": []})),
    "names without end": endless(b"", b"event: x\n"),
}
"""What comes within a stream instead of an event, or before events that are as they should be."""


def replies() -> dict[str, Reply]:
    """Every kind of reply to a question. `later` is after the first piece of text."""
    found = dict(STATUSES | WIRE)
    for name, events in EVENTS.items():
        found[name] = _after(OPEN, events)
        found[f"{name}, later"] = _after(OPEN + data(choice("4")), events)
    found["good"] = OPEN + GOOD_EVENTS
    found["refuses"] = status(400)
    found["text without end"] = endless(OPEN, data(choice("word ")))
    found["one text without end"] = OPEN + data(choice("x" * 500_000)) + data(choice("", "stop")) + DONE
    found["tiny chunks"] = endless(OPEN[:-2] + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n:\r\n")
    found["early hints without end"] = endless(b"", b"HTTP/1.1 103 x\r\n\r\n")
    found["silence"] = silent(b"")
    found["silence after the head"] = silent(OPEN)
    found["silence in the head"] = silent(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n", 0.05)
    found["comments now and then"] = silent(OPEN, b": still here\n\n", 0.05)
    found["a byte now and then"] = silent(OPEN + b"data: ", b"x", 0.05)
    found["silence after text"] = silent(OPEN + data(choice("4")))
    found["comments after text"] = silent(OPEN + data(choice("4")), b": still here\n\n", 0.05)
    found["open after the end"] = silent(OPEN + GOOD_EVENTS.removesuffix(DONE))
    found["open after all"] = silent(OPEN + GOOD_EVENTS)
    return found


def _after(head: bytes, events: Reply) -> Reply:
    if isinstance(events, bytes):
        whole = events.startswith(b"data: ") and events != DONE
        return head + events + (GOOD_EVENTS if whole else b"")

    async def reply() -> AsyncIterator[bytes]:
        yield head
        async for piece in events():
            yield piece

    return reply


@dataclass
class HostileHost:
    """What was asked of each kind, and how much of its reply was taken. `models` are replies of /models by kind."""

    calls: Counter[str] = field(default_factory=Counter)
    looks: Counter[str] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    chat: dict[str, Reply] = field(default_factory=replies)
    models: dict[str, Reply] = field(default_factory=dict)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            kind, _, path = unquote(head.split(" ")[1]).lstrip("/").partition("/v1/")
            lengths = [line for line in head.lower().split("\r\n") if line.startswith("content-length:")]
            await reader.readexactly(int(lengths[0].split(":")[1]) if lengths else 0)
            if path == "models":
                self.looks[kind] += 1
                await self._send(writer, kind, self.models.get(kind, status(200, CARDS)))
            else:
                self.calls[kind] += 1
                await self._send(writer, kind, self.chat[kind])
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has gone, or the test is over
        finally:
            writer.close()

    async def _send(self, writer: asyncio.StreamWriter, kind: str, reply: Reply) -> None:
        if isinstance(reply, bytes):
            writer.write(reply)
            await writer.drain()
            return
        async for piece in reply():
            writer.write(piece)
            await writer.drain()
            self.sent[kind] += len(piece)


@contextmanager
def hostile(host: HostileHost) -> Iterator[str]:
    """Serve it from a thread of its own; gives its address, to which a kind is added."""
    loop = asyncio.new_event_loop()
    ready, ended = threading.Event(), asyncio.Event()
    port: list[int] = []

    async def serve() -> None:
        async with await asyncio.start_server(host.answer, "127.0.0.1", 0, limit=1 << 20) as server:
            port.append(server.sockets[0].getsockname()[1])
            ready.set()
            await ended.wait()
            answering = asyncio.all_tasks() - {asyncio.current_task()}
            for task in answering:
                task.cancel()
            await asyncio.gather(*answering, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(10)
        yield f"http://127.0.0.1:{port[0]}"
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        loop.close()
