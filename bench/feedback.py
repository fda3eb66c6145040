"""Keeping answers while they are served: what it costs, and what kill -9 in the middle of it loses.

python -m bench feedback [--answers 50000] [--grades 2000] [--rounds 9] [--only sqlite]

soak: --answers are asked by eight clients at once while three keys grade the audits among them, 5 % of all, until there
are --grades; half-way the server is killed with -9 and started again. Every verdict that was acknowledged has to be
there afterwards, and of the answers only those may be missing that had not been written when it was killed.
cost: one client asks servers that keep nothing, that keep in SQLite and that keep in PostgreSQL, in turns, 200
questions at a time; the median of their answers and the processor time of the server, per answer.
"""

import argparse
import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from bench._postgres import postgres
from bench.report import publish
from bench.soak.server import Served, serving
from sqlalchemy import func, select

from demur.api.app import create_app
from demur.engine.base import Message
from demur.engine.scripted import Script, ScriptedEngine
from demur.feedback.database import open_database, reading
from demur.feedback.tables import answers, grades
from demur.feedback.writer import GATHERING
from demur.keys import make_key
from demur.manifest import Manifest
from demur.observability.logs import configure_logging
from demur.serving.server import bind, keeping, serve_app
from demur.settings import Settings

CLIENTS, GRADERS = 8, 3
TURN = 200
STORES = ("sqlite", "postgres")
SHARE = 0.05


@dataclass(slots=True)
class Done:
    """What servers acknowledged."""

    asked: set[str] = field(default_factory=set)
    graded: dict[str, bool] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)
    """Answers acknowledged so late before the kill that they may not have been written."""


def script(messages: Sequence[Message]) -> Script:
    """Sure by the number in the question."""
    number = int((re.findall(r"\d+", messages[-1]["content"]) or ["0"])[-1])
    return Script([f"As asked.\nAnswer: {number}\nConfidence: {0.3 + 0.69 * (number % 1000) / 1000:.2f}"])


def serve() -> int:
    """The server under test, in a process of its own; settings from the environment."""
    settings = Settings(port=0)
    configure_logging(settings.log_format, "error")
    manifest = Manifest(name="demur-feedback")
    with keeping(settings, manifest, "bench") as feedback:
        app = create_app(ScriptedEngine(script), manifest, settings, feedback=feedback)
        with bind(settings.host, settings.port) as listener:
            port = listener.getsockname()[1]
            return asyncio.run(serve_app(app, settings, listener, lambda: print(f"listening on :{port}", flush=True)))


def started(**settings: object) -> AbstractContextManager[Served]:
    return serving(("-m", "bench.feedback", "serve"), **settings)


@contextmanager
def store(kind: str) -> Iterator[str]:
    """An empty database of a kind."""
    if kind == "postgres":
        with postgres() as url:
            yield url
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "feedback.db")


def soak(kind: str, count: int, wanted: int) -> tuple[list[list[str]], dict[str, object]]:
    """Ask, grade, kill, go on; count what is there."""
    keys = [make_key(f"grader {i}", grade=True, calibrate=True) for i in range(GRADERS)]
    settings = {"audit_share": SHARE, "keys": json.dumps({"keys": [key.model_dump() for key, _ in keys]})}
    texts, done = [text for _, text in keys], Done()
    with store(kind) as url:
        began = time.monotonic()
        for part in (1, 2):
            with started(feedback_db=url, **settings) as served:
                killed = part == 1
                asyncio.run(work(served, texts, done, count * part // 2, wanted * part // 2, kill=killed))
        seconds = time.monotonic() - began
        found = compare(url, done)
    figures = {"answers": len(done.asked), "verdicts": len(done.graded), "seconds": round(seconds), **found}
    return [[kind, name, f"{value:,}"] for name, value in figures.items()], figures


async def work(served: Served, keys: list[str], done: Done, count: int, wanted: int, *, kill: bool) -> None:
    """Clients and graders at once, until both are through; with `kill` the server dies under the last ones."""
    base = f"http://127.0.0.1:{served.port}"
    numbers = iter(range(len(done.asked), 10**9))

    async def ask(http: httpx.AsyncClient) -> None:
        while len(done.asked) < count:
            reply = await http.post("/v1/answers", json={"question": f"What is {next(numbers)}?"})
            now = time.monotonic()
            done.asked.add(reply.json()["id"])
            recent.append((now, reply.json()["id"]))
            if len(done.asked) >= count * 9 // 10:
                soon.set()

    async def grade(http: httpx.AsyncClient) -> None:
        while len(done.graded) < wanted:
            items = (await http.get("/v1/feedback/queue", params={"limit": 5})).json()["items"]
            if not items and len(done.asked) >= count:
                return
            for item in items:
                right = hash(item["answer_id"]) % 5 > 0
                body = {"answer_id": item["answer_id"], "lease": item["lease"], "correct": right}
                if (await http.post("/v1/feedback", json=body)).status_code == 200:
                    done.graded[item["answer_id"]] = right
            await asyncio.sleep(0 if items else 0.05)

    recent: list[tuple[float, str]] = []
    soon = asyncio.Event()
    async with Clients([*(keys[i % GRADERS] for i in range(CLIENTS)), *keys], base) as clients:
        tasks = [asyncio.create_task(ask(one)) for one in clients[:CLIENTS]]
        tasks += [asyncio.create_task(grade(one)) for one in clients[CLIENTS:]]
        if not kill:
            await asyncio.gather(*tasks)
            return
        await soon.wait()
        served.process.kill()
        killed = time.monotonic()
        await asyncio.gather(*tasks, return_exceptions=True)
        done.late += [answer for when, answer in recent if when > killed - 10 * GATHERING]


class Clients:
    """A client a key."""

    def __init__(self, keys: Sequence[str], base: str) -> None:
        self._clients = [
            httpx.AsyncClient(base_url=base, headers={"authorization": f"Bearer {key}"}, timeout=60) for key in keys
        ]

    async def __aenter__(self) -> list[httpx.AsyncClient]:
        return self._clients

    async def __aexit__(self, *error: object) -> None:
        for client in self._clients:
            await client.aclose()


def compare(url: str, done: Done) -> dict[str, int]:
    """What is in the database beside what was acknowledged."""
    engine = open_database(url)
    with reading(engine) as db:
        there = set(db.scalars(select(answers.c.id)))
        audits = db.scalar(select(func.count()).select_from(answers).where(answers.c.queue == "audit")) or 0
        found = {row.answer_id: row.verdict == "right" for row in db.execute(select(grades).order_by(grades.c.id))}
    engine.dispose()
    missing = done.asked - there
    return {
        "audits": audits,
        "verdicts lost": sum(found.get(answer) != right for answer, right in done.graded.items()),
        "answers lost at the kill": len(missing & set(done.late)),
        "answers lost otherwise": len(missing - set(done.late)),
    }


def cost(rounds: int) -> tuple[list[list[str]], dict[str, object]]:
    """Servers in turns; the first turn of each warms up."""
    latency: dict[str, list[float]] = {}
    processor: dict[str, list[float]] = {}
    with ExitStack() as stack:
        servers = {"off": stack.enter_context(started(port=0))}
        for kind in STORES:
            url = stack.enter_context(store(kind))
            servers[kind] = stack.enter_context(started(feedback_db=url, audit_share=SHARE))
        clients = {
            name: stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{served.port}"))
            for name, served in servers.items()
        }
        for turn in range(rounds + 1):
            for name, served in servers.items():
                before = sum(served.process.cpu_times()[:2])
                taken = [ask_once(clients[name], turn * TURN + i) for i in range(TURN)]
                if turn:
                    latency.setdefault(name, []).append(statistics.median(taken))
                    processor.setdefault(name, []).append((sum(served.process.cpu_times()[:2]) - before) / TURN)
    data = {name: {"median_ms": [1000 * t for t in latency[name]]} for name in latency}
    for name, each in processor.items():
        data[name]["cpu_ms"] = [1000 * t for t in each]
    rows = [
        [
            name,
            "median answer, ms / processor, ms an answer",
            f"{statistics.median(each['median_ms']):.2f} / {statistics.median(each['cpu_ms']):.2f}",
        ]
        for name, each in data.items()
    ]
    return rows, dict(data)


def ask_once(http: httpx.Client, number: int) -> float:
    began = time.perf_counter()
    http.post("/v1/answers", json={"question": f"What is {number}?"}).raise_for_status()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=50_000)
    parser.add_argument("--grades", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=[*STORES, "cost"], action="append")
    chosen = parser.parse_args()
    rows: list[list[str]] = []
    data: dict[str, object] = {}
    for kind in STORES:
        if not chosen.only or kind in chosen.only:
            lines, data[kind] = soak(kind, chosen.answers, chosen.grades)
            rows += lines
    if not chosen.only or "cost" in chosen.only:
        lines, data["cost"] = cost(chosen.rounds)
        rows += lines
    publish("feedback", "Keeping answers while they are served", ["store", "figure", "value"], rows, data)


if __name__ == "__main__":
    sys.exit(serve() if sys.argv[1:] == ["serve"] else main())
