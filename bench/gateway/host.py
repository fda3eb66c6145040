"""A model's host that answers by script, in a process of its own: python -m bench.gateway.host PORT OWNER

A reply has 42 pieces over 100 ms, for each of `n` choices, or as many as `max_tokens` where that is more, at the same
pace, or 50 a second where the question has `fifty-a-second` in it; one that is not streamed comes after that time.
Owned by `vllm` it does what vLLM does for `stream_interval`: the first piece at once, then so many in one event, each
with the count of tokens. A question with `keep-it-open` in it gets its first piece and then nothing, until the caller
goes away. Events are encoded once: what this program costs is not the gateway's.
"""

import asyncio
import json
import sys
from functools import lru_cache
from typing import Any

PIECES = 42
SECONDS = 0.1
SLOWLY, SLOW = "fifty-a-second", 0.02
"""A model's pace, and the seconds from a piece to the next."""
LAST = "\nAnswer: 4\nConfidence: 0.9"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\n"
STREAM_HEAD = HEAD % b"text/event-stream" + b"transfer-encoding: chunked\r\n\r\n"


OWNERS = ("vllm", "other")


def main() -> None:
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2]))


async def _serve(port: int, owner: str) -> None:
    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _connection(reader, writer, owner)

    server = await asyncio.start_server(connection, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


async def _connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, owner: str) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
            await _reply(head, await reader.readexactly(size), reader, writer, owner)
            if b"connection: close" in head:
                break
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _reply(
    head: bytes, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, owner: str
) -> None:
    if b"/chat/completions" not in head.split(b"\r\n", 1)[0]:
        await _whole(writer, {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": owner}]})
        return
    asked = json.loads(body)
    choices, pieces = asked.get("n") or 1, max(PIECES, asked.get("max_tokens") or 0)
    pace = SLOW if SLOWLY.encode() in body else SECONDS / PIECES
    if not asked.get("stream"):
        await asyncio.sleep(pace * pieces)
        await _whole(writer, _completion(choices, pieces))
    elif b"keep-it-open" in body:
        await _held(reader, writer)
    else:
        await _streamed(writer, choices, pieces, (owner == "vllm" and asked.get("stream_interval")) or 1, pace)


async def _whole(writer: asyncio.StreamWriter, value: dict[str, Any]) -> None:
    data = json.dumps(value).encode()
    writer.write(HEAD % b"application/json" + b"content-length: %d\r\n\r\n" % len(data) + data)
    await writer.drain()


async def _held(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The first piece, until the caller goes away."""
    writer.write(STREAM_HEAD + events_of(1, PIECES)[0][1])
    await reader.read()


async def _streamed(writer: asyncio.StreamWriter, choices: int, pieces: int, interval: int, pace: float) -> None:
    writer.write(STREAM_HEAD)
    loop = asyncio.get_running_loop()
    began = loop.time()
    for done, event in events_of(choices, pieces, interval):
        await asyncio.sleep(max(0.0, began + pace * (done - 1) - loop.time()))
        writer.write(event)
        await writer.drain()
    await asyncio.sleep(max(0.0, began + pace * pieces - loop.time()))
    writer.write(end_of(choices, pieces))
    await writer.drain()


@lru_cache
def events_of(choices: int, pieces: int, interval: int = 1) -> list[tuple[int, bytes]]:
    """Events with how many pieces are out by then, those of all choices together: the first piece, then `interval` at
    a time."""
    written, found = texts(pieces), list[tuple[int, bytes]]()
    for start in (0, *range(1, pieces, interval)):
        end = 1 if start == 0 else min(start + interval, pieces)
        counted = {"usage": _usage(1, end)} if interval > 1 else {}
        text = "".join(written[start:end])
        deltas = (_event({"choices": [_delta(index, {"content": text}, None)], **counted}) for index in range(choices))
        found.append((end, b"".join(deltas)))
    return found


@lru_cache
def end_of(choices: int, pieces: int) -> bytes:
    """What comes behind the text."""
    ends = (_event({"choices": [_delta(index, {}, "stop")]}) for index in range(choices))
    return b"".join(
        [*ends, _event({"choices": [], "usage": _usage(choices, pieces)}), b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"]
    )


def texts(pieces: int) -> list[str]:
    return [*(f"word{number} " for number in range(pieces - 1)), LAST]


def _delta(index: int, delta: dict[str, str], finish_reason: str | None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "finish_reason": finish_reason}


def _event(event: dict[str, Any]) -> bytes:
    named = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **event}
    data = b"data: " + json.dumps(named).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


def _completion(choices: int, pieces: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": "".join(texts(pieces))}
    listed = [{"index": index, "message": message, "finish_reason": "stop"} for index in range(choices)]
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": listed} | {
        "usage": _usage(choices, pieces)
    }


def _usage(choices: int, pieces: int) -> dict[str, int]:
    written = pieces * choices
    return {"prompt_tokens": 20, "completion_tokens": written, "total_tokens": 20 + written}


if __name__ == "__main__":
    main()
