"""A host that works beside one of each hostile kind: every caller is answered, and the server stays as it is."""

import asyncio
import json
import sys
import time
from urllib.parse import quote

from bench.soak.health import asking_health
from bench.soak.result import Result, percentile
from bench.soak.server import ROOT, Memory, Served, serving
from bench.soak.wire import Reply, attempt, get, post

sys.path.insert(0, str(ROOT / "tests"))
from hostile_host import HostileHost, hostile

KINDS = (
    "401",
    "429",
    "refuses",
    "redirect 307",
    "choices 5",
    "usage NaN",
    "nested objects",
    "wrong choices",
    "a bomb",
    "500 without end",
    "a line without end",
    "roles without end",
    "tiny chunks",
    "silence",
)
PATIENCE = 120.0


def upstreams(seconds: float, size: int) -> Result:
    """`size` callers ask one question after the other for so many seconds."""
    host = HostileHost()
    with hostile(host) as address:
        named = json.dumps([f"{address}/{quote(kind)}/v1" for kind in (*KINDS, "good")])
        with serving(["-m", "demur", "serve", "--engine", "openai"], port=0, upstreams=named) as served:
            return asyncio.run(_upstreams(served, host, seconds, size))


async def _upstreams(served: Served, host: HostileHost, seconds: float, size: int) -> Result:
    memory = Memory()
    before, cpu = served.mebibytes, served.process.cpu_times().user
    watching = asyncio.create_task(memory.watch(served, 0.5))
    end = time.perf_counter() + seconds
    with asking_health(served.port) as health:
        replies = await asyncio.gather(*(_ask(served.port, end) for _ in range(size)))
    asked = [reply for some in replies for reply in some]
    cpu = served.process.cpu_times().user - cpu
    metrics = (await attempt(served.port, get("/metrics"), PATIENCE)).body.decode()
    watching.cancel()
    answered = sum(reply.answer == "4" for reply in asked)
    took, wrong = [reply.seconds for reply in asked], sum(count for kind, count in host.calls.items() if kind != "good")
    return Result(
        f"{len(KINDS)} hostile hosts beside one that works",
        {
            "answered": f"{answered} of {len(asked)}",
            "seconds: p50, p95, max": ", ".join(f"{percentile(took, share):.2f}" for share in (0.5, 0.95, 1.0)),
            "tries at hostile hosts, MB they got rid of": f"{wrong}, {host.sent.total() / 1e6:.0f}",
            "server's CPU, s": f"{cpu:.0f}",
            "memory, MiB: before, most": f"{before:.0f}, {max(memory.seen):.0f}",
            "/health, s: p50, p99, max": health.text,
        },
        {
            "every caller is answered": answered == len(asked) > 0,
            "hostile hosts are mostly left alone": wrong <= 0.1 * len(asked) + 10 * len(KINDS),
            "memory grows by less than 100 MiB": max(memory.seen) - before < 100,
            "/health is never silent for 250 ms": health.is_never_silent,
            "metrics are numbers": not any(line.endswith((" NaN", "Inf")) for line in metrics.splitlines()),
        },
    )


async def _ask(port: int, end: float) -> list[Reply]:
    body, replies = {"question": "2 + 2?", "risk_threshold": 0.5, "max_tokens": 200}, list[Reply]()
    while time.perf_counter() < end:
        replies.append(await attempt(port, post(body), PATIENCE))
    return replies
