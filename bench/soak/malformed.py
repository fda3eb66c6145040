"""Ten thousand requests that are wrong: half by schemathesis from the server's own OpenAPI document, half by hand."""

import asyncio
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from bench.soak.result import Result
from bench.soak.server import serving
from bench.soak.wire import HOST, Broken, exchange, get, post

PATIENCE = 30.0
AT_ONCE = 32
GOOD = {"question": "nonce=m words=1 delay=0 width=1", "risk_threshold": 0.5}

BODIES: tuple[bytes, ...] = (
    b"",
    b"{",
    b"null",
    b"[]",
    b'"question"',
    b"\xff\xfe\x00{",
    b'{"question": "\x00"}',
    b'{"question": "\\ud800"}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"question": ' + b"9" * 5000 + b"}",
    b'{"question": "q", "risk_threshold": NaN}',
    b'{"question": "q", "risk_threshold": 1e999}',
    b'{"question": "q", "samples": 1e30}',
    b'{"question": "q", "question": 1}',
    b'{"question": "' + b"x" * 2_000_000 + b'"}',
    b'{"question": "q", "' + b"k" * 100_000 + b'": 1}',
    b'{"messages": [' + b'{"role":"user","content":"q"},' * 20_000 + b"null]}",
    b'{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://169.254.169.254/"}}]}]}',
    b'{"messages": [{"role": "tool", "content": "q"}]}',
    b'{"question": "q", "__proto__": {"admin": true}}',
    '{"question": "\u202e\u2066{}"}'.encode(),
)
PATHS = ("/v1/answers", "/v1/chat/completions", "/page/maths")
HEADS: tuple[bytes, ...] = (
    b"\x00\x01\x02\x03\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST /v1/answers HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n",
    b"POST /v1/answers HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99999999999999999999\r\n\r\n{}",
    b"POST /v1/answers HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}abc",
    b"POST /v1/answers HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
    b"POST /v1/answers HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n0\r\n\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
    b"GET /%2e%2e/%00 HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
    b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
    b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx: " + b"y" * 100_000 + b"\r\nconnection: close\r\n\r\n",
    b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-request-id: a\x1b[2J{}\r\nconnection: close\r\n\r\n",
    b"BREW /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: x\r\n\r\n",
    b"GET /v1/models/%ff%fe HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
)


def malformed(seconds: float, size: int) -> Result:
    """About `size` requests, however long they take."""
    with serving(timeout=20) as served:
        by_hand = asyncio.run(_by_hand(served.port, size // 2))
        ran = _schemathesis(served.port, size // 2)
        after = asyncio.run(_afterwards(served.port))
        failures = served.log.read_text().count('"level": "error"')
    generated = int(found[1]) if (found := re.search(r"(\d+) generated", ran)) else 0
    total = sum(by_hand.values()) + generated
    return Result(
        f"{total} malformed requests",
        {
            "by hand: replies by status": _listed(by_hand),
            "counted by the server, by status": _listed(after),
            "schemathesis": ran,
        },
        {
            "no reply is a 5xx": not [status for status in (*after, *by_hand) if status.startswith("5")],
            "no failure in the server's log": failures == 0,
            "as many as were to be sent": total >= 0.9 * size,
        },
    )


def _listed(counted: Counter[str]) -> str:
    return ", ".join(f"{status}: {count}" for status, count in sorted(counted.items()))


async def _by_hand(port: int, size: int) -> Counter[str]:
    rng, counted, gate = random.Random(0), Counter[str](), asyncio.Semaphore(AT_ONCE)

    async def one(request: bytes) -> None:
        async with gate:
            counted[await _send(port, request)] += 1

    await asyncio.gather(*(one(attack(rng)) for _ in range(size)))
    return counted


def attack(rng: random.Random) -> bytes:
    """One request that is wrong: a bad head, a bad body, or a good one with some bytes changed."""
    match rng.randrange(4):
        case 0:
            return rng.choice(HEADS)
        case 1:
            body = rng.choice(BODIES)
            head = f"POST {rng.choice(PATHS)} HTTP/1.1\r\nhost: {HOST}\r\ncontent-type: application/json\r\n"
            return f"{head}connection: close\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
        case 2:
            wrong = {rng.choice([*GOOD, "samples", "stream", "contract", "seed", "timeout"]): rng.choice(_VALUES)}
            return post(GOOD | wrong, path=rng.choice(PATHS))
        case _:
            request = bytearray(post(GOOD))
            for _ in range(rng.randint(1, 6)):
                request[rng.randrange(len(request))] = rng.randrange(256)
            return bytes(request)


_VALUES = (None, True, -1, 2**70, 1e308, "", "\x00", "x" * 10_000, [], [[]], {}, {"a": {}}, "../..", "http://h/", 0.5)


async def _send(port: int, request: bytes) -> str:
    """The status, or what happened instead. A server may close a connection that talks no HTTP, or wait for the rest
    of a request: then so does this, for a moment."""
    try:
        return str((await exchange(port, request, 2.0)).status)
    except TimeoutError:  # an OSError too
        return "waiting"
    except (Broken, OSError):
        return "closed"


def _schemathesis(port: int, size: int) -> str:
    """Its own last lines. Each of the operations that take a body gets an equal share."""
    url = f"http://{HOST}:{port}"
    tool = Path(sys.executable).with_name("schemathesis")
    document = json.loads(asyncio.run(exchange(port, get("/openapi.json"), PATIENCE)).body)
    operations = sum("post" in methods for methods in document["paths"].values())
    command = [
        tool,
        "run",
        f"{url}/openapi.json",
        "--mode",
        "negative",
        "--phases",
        "fuzzing",
        "--generation-database",
        "none",
    ]
    command += [
        "--include-method",
        "POST",
        "--checks",
        "not_a_server_error",
        "--max-examples",
        str(max(size // operations, 1)),
        "--seed",
        "0",
    ]
    command += ["--request-timeout", str(PATIENCE), "--continue-on-failure", "--no-color"]
    result = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, env=os.environ | {"NO_COLOR": "1"}
    )
    said = [line.strip() for line in result.stdout.splitlines() if "generated" in line or "passed" in line]
    return "; ".join(said[-2:]) or f"exit {result.returncode}: {result.stdout[-300:]}{result.stderr[-300:]}"


async def _afterwards(port: int) -> Counter[str]:
    """The server's own count of replies by status; it has to be well enough to tell."""
    counted: Counter[str] = Counter()
    text = (await exchange(port, get("/metrics"), PATIENCE)).body.decode()
    for labels, count in re.findall(r"^demur_requests_total\{([^}]*)\} (\S+)$", text, re.MULTILINE):
        counted[labels.split('status="')[1].split('"')[0]] += int(float(count))
    return counted
