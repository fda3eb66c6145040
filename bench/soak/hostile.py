"""What one hostile request costs: heads of strangers before any key, and bodies of 1 MiB of callers with one.

Each kind is sent alone first, for its processor time and peak memory, then all of them mixed, for what is left behind
and for how long `/health` is silent beside them.
"""

import asyncio
import random
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.soak.health import asking_health
from bench.soak.result import Result
from bench.soak.server import Served, serving
from bench.soak.wire import HOST, attempt

from demur.api_keys import KeyFile, make_key

MIB = 1 << 20
TIMES = 20
"""Requests of one kind, one after another; processor time is only told in hundredths of a second."""
AT_ONCE = 16
WARM_UP = 1000
"""Mixed requests before memory is looked at: what 16 bodies at once need stays with the allocator."""
PATIENCE = 30.0
MOST_CPU, MOST_MEMORY = 0.005, 5.0
"""Seconds and MiB of what is refused before a key is asked for."""
MOST_CPU_OF_BODY, MOST_MEMORY_OF_BODY = 0.1, 50.0
"""The same of parsing and refusing a body of 1 MiB."""

_START = f"POST /v1/answers HTTP/1.1\r\nhost: {HOST}\r\ncontent-type: application/json\r\n".encode()
_CHUNKED = _START + b"transfer-encoding: chunked\r\n\r\n"
STRANGERS: Mapping[str, bytes] = {
    "header of 20 MiB": _START + b"x: " + b"y" * 20 * MIB,
    "URL of 20 MiB": b"GET /" + b"a" * 20 * MIB,
    "a million headers": _START + b"a:\r\n" * MIB,
    "a header without end": _START + b"x" * 20 * MIB,
    "a head that stays within the limit": _START + b"x: " + b"y" * 60_000 + b"\r\ncontent-length: 0\r\n\r\n",
    "chunk extensions": _CHUNKED + b"1;" + b"e" * 20 * MIB,
    "a million chunks": _CHUNKED + b"1\r\n \r\n" * MIB,
    "trailers": _CHUNKED + b"0\r\n" + b"t: r\r\n" * MIB,
    "pipelined requests": b"GET /nowhere HTTP/1.1\r\n\r\n" * 100_000,
    "a body of 20 MiB without a key": _START + b"content-length: %d\r\n\r\n" % (20 * MIB) + b" " * 20 * MIB,
    "a body of 1 MiB without a key": _START + b"content-length: %d\r\n\r\n" % MIB + b" " * MIB,
    "another host": b"GET /v1/models HTTP/1.1\r\nhost: evil.example\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00" * 50,
}


def _filled(head: bytes, item: bytes, tail: bytes) -> bytes:
    return head + b",".join([item] * ((MIB - len(head) - len(tail)) // (len(item) + 1))) + tail


_STRANGE = b"{" + b",".join(b'"k%06x":0' % number for number in range(80_000)) + b"}"
BODIES: Mapping[str, bytes] = {
    "empty objects": _filled(b'{"messages":[', b"{}", b"]}"),
    "empty lists": _filled(b'{"messages":[', b"[]", b"]}"),
    "lists of lists": _filled(b'{"messages":[', b"[[]]", b"]}"),
    "numbers": _filled(b'{"messages":[', b"1", b"]}"),
    "wrong messages": _filled(b'{"messages":[', b'{"role":"x","content":1}', b"]}"),
    "right messages": _filled(b'{"messages":[', b'{"role":"user","content":"q"}', b"]}"),
    "parts": _filled(b'{"messages":[{"role":"user","content":[', b'{"type":"text","text":"q"}', b"]}]}"),
    "unknown fields": _STRANGE,
    "metadata": b'{"messages":[{"role":"user","content":"q"}],"metadata":' + _STRANGE + b"}",
    "long integers": _filled(b'{"question":[', b"9" * 4_300, b"]}"),
    "brackets": b'{"question":' + b"[" * (MIB - 20),
    "one long string": b'{"question":"' + b"\\u00e4" * (MIB // 6 - 10) + b'"}',
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one request: processor time in seconds, and how far memory rose at its peak in MiB."""

    cpu: float
    memory: float


def hostile(seconds: float, size: int) -> Result:
    """`size` mixed requests, after some of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        key, text = make_key("caller")
        file = Path(folder) / "keys.json"
        KeyFile(file).change(lambda keys: (*keys, key))
        with serving(keys_file=file, receive_timeout=2) as served:
            return asyncio.run(_hostile(served, text, size))


async def _hostile(served: Served, key: str, size: int) -> Result:
    bodies = {name: with_key(body, key) for name, body in BODIES.items()}
    before_key = {name: await _cost(served, request) for name, request in STRANGERS.items()}
    within = {name: await _cost(served, request) for name, request in bodies.items()}
    requests = [*STRANGERS.values(), *bodies.values()]
    fresh = served.mebibytes
    await _mixed(served.port, requests, WARM_UP)
    before = served.mebibytes
    with asking_health(served.port) as health:
        await _mixed(served.port, requests, size)
    after = served.mebibytes
    return Result(
        f"{size} mixed hostile requests",
        {
            "before the key, at most": _dearest(before_key),
            "body of 1 MiB, at most": _dearest(within),
            f"memory, MiB: at first, after {WARM_UP}, in the end": f"{fresh:.0f}, {before:.0f}, {after:.0f}",
            "/health, s: p50, p99, max": health.text,
        },
        {
            "before the key: under 5 ms and 5 MiB": _within(before_key, MOST_CPU, MOST_MEMORY),
            "a body of 1 MiB: under 100 ms and 50 MiB": _within(within, MOST_CPU_OF_BODY, MOST_MEMORY_OF_BODY),
            f"memory within 5 % of what it was after {WARM_UP}": after <= 1.05 * before,
            "/health is never silent for 250 ms": health.is_never_silent,
        },
    )


def with_key(body: bytes, key: str) -> bytes:
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {HOST}\r\nauthorization: Bearer {key}\r\n"
    head += f"content-type: application/json\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _cost(served: Served, request: bytes) -> Cost:
    await attempt(served.port, request, PATIENCE)
    kernel = Path(f"/proc/{served.process.pid}")
    (kernel / "clear_refs").write_text("5")  # the peak starts again from here
    memory, first = served.mebibytes, sum(served.process.cpu_times()[:2])
    for _ in range(TIMES):
        await attempt(served.port, request, PATIENCE)
    used = sum(served.process.cpu_times()[:2]) - first
    peak = next(line for line in (kernel / "status").read_text().splitlines() if line.startswith("VmHWM"))
    return Cost(used / TIMES, int(peak.split()[1]) / 1024 - memory)


async def _mixed(port: int, requests: list[bytes], size: int) -> None:
    rng, gate = random.Random(0), asyncio.Semaphore(AT_ONCE)

    async def one(request: bytes) -> None:
        async with gate:
            await attempt(port, request, PATIENCE)

    await asyncio.gather(*(one(rng.choice(requests)) for _ in range(size)))


def _dearest(costs: Mapping[str, Cost]) -> str:
    by_cpu, by_memory = (max(costs.items(), key=lambda item: getattr(item[1], name)) for name in ("cpu", "memory"))
    return f"{1000 * by_cpu[1].cpu:.1f} ms ({by_cpu[0]}), {by_memory[1].memory:.1f} MiB ({by_memory[0]})"


def _within(costs: Mapping[str, Cost], cpu: float, memory: float) -> bool:
    return all(cost.cpu < cpu and cost.memory < memory for cost in costs.values())
