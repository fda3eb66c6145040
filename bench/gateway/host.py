"""A model's host that answers by script, in a process of its own: python -m bench.gateway.host PORT

A reply has 42 pieces over 100 ms, for each of `n` choices; one that is not streamed comes after that time. A question
with `keep-it-open` in it gets its first piece and then nothing, until the caller goes away.
"""

import asyncio
import json
import sys
from typing import Any

PIECES = 42
SECONDS = 0.1
TEXTS = [*(f"word{number} " for number in range(PIECES - 1)), "\nAnswer: 4\nConfidence: 0.9"]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\n"


def main() -> None:
    asyncio.run(_serve(int(sys.argv[1])))


async def _serve(port: int) -> None:
    server = await asyncio.start_server(_connection, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


async def _connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
            await _reply(head, await reader.readexactly(size), writer)
            if b"connection: close" in head:
                break
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _reply(head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
    if b"/chat/completions" not in head.split(b"\r\n", 1)[0]:
        await _whole(writer, {"object": "list", "data": [{"id": "m", "object": "model"}]})
        return
    asked = json.loads(body)
    choices = asked.get("n") or 1
    if asked.get("stream"):
        await _streamed(writer, choices, held=b"keep-it-open" in body)
    else:
        await asyncio.sleep(SECONDS)
        await _whole(writer, _completion(choices))


async def _whole(writer: asyncio.StreamWriter, value: dict[str, Any]) -> None:
    data = json.dumps(value).encode()
    writer.write(HEAD % b"application/json" + b"content-length: %d\r\n\r\n" % len(data) + data)
    await writer.drain()


async def _streamed(writer: asyncio.StreamWriter, choices: int, *, held: bool) -> None:
    writer.write(HEAD % b"text/event-stream" + b"transfer-encoding: chunked\r\n\r\n")
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number, text in enumerate(TEXTS):
        for index in range(choices):
            _send(writer, {"choices": [{"index": index, "delta": {"content": text}, "finish_reason": None}]})
        await writer.drain()
        if held:
            while not writer.is_closing():  # noqa: ASYNC110 - a transport tells nobody when it closes
                await asyncio.sleep(0.5)
            return
        await asyncio.sleep(max(0.0, began + SECONDS * (number + 1) / PIECES - loop.time()))
    for index in range(choices):
        _send(writer, {"choices": [{"index": index, "delta": {}, "finish_reason": "stop"}]})
    _send(writer, {"choices": [], "usage": _usage(choices)})
    writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
    await writer.drain()


def _send(writer: asyncio.StreamWriter, event: dict[str, Any]) -> None:
    named = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **event}
    data = b"data: " + json.dumps(named).encode() + b"\n\n"
    writer.write(b"%x\r\n%s\r\n" % (len(data), data))


def _completion(choices: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": "".join(TEXTS)}
    listed = [{"index": index, "message": message, "finish_reason": "stop"} for index in range(choices)]
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": listed} | {
        "usage": _usage(choices)
    }


def _usage(choices: int) -> dict[str, int]:
    written = PIECES * choices
    return {"prompt_tokens": 20, "completion_tokens": written, "total_tokens": 20 + written}


if __name__ == "__main__":
    main()
