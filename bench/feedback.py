"""Keeping answers while they are served: what it costs, and what kill -9 in the middle of it loses.

python -m bench feedback [--answers 50000] [--grades 2000] [--rounds 9] [--only sqlite]

soak: --answers are asked by eight clients at once while three keys grade the audits among them, 5 % of all, until there
are --grades; half-way the server is killed with -9 and started again. Every verdict that was acknowledged has to be
there afterwards, and of the answers only those may be missing that had not been written when it was killed; where more
is missing it ends with 1.
cost: one client asks servers that keep nothing, that keep in SQLite and that keep in PostgreSQL, in turns, 200
questions at a time; the median of their answers, what it has more than the server's that keeps nothing in the same
round, and the processor time of the server, per answer.

What has ended is kept: the same command goes on after it was stopped.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx
from bench._keeping import STORES, started, store
from bench._resumed import Steps
from bench.report import publish
from bench.soak.server import Served
from sqlalchemy import func, select

from demur.api_keys import make_key
from demur.feedback.database import open_database, reading
from demur.feedback.tables import answers, grades
from demur.feedback.writer import GATHERING

CLIENTS, GRADERS = 8, 3
TURN = 200
SHARE = 0.05
LOST = ("verdicts lost", "answers lost otherwise")
"""What ends the benchmark with 1."""
TELL_EVERY = 10.0
"""Seconds between two lines about how far it is."""


@dataclass(slots=True)
class Done:
    """What servers acknowledged."""

    asked: set[str] = field(default_factory=set)
    graded: dict[str, bool] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)
    """Answers acknowledged so late before the kill that they may not have been written."""


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
                print(f"{kind}: part {part} of 2", file=sys.stderr, flush=True)
                asyncio.run(work(served, texts, done, count * part // 2, wanted * part // 2, kill=killed))
        seconds = time.monotonic() - began
        found = compare(url, done)
    figures: dict[str, object] = {
        "answers": len(done.asked),
        "verdicts": len(done.graded),
        "seconds": round(seconds),
        **found,
    }
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

    async def tell() -> None:
        while True:
            await asyncio.sleep(TELL_EVERY)
            told = f"  {len(done.asked):,} of {count:,} asked, {len(done.graded):,} of {wanted:,} graded"
            print(told, file=sys.stderr, flush=True)

    recent: list[tuple[float, str]] = []
    soon = asyncio.Event()
    async with Clients([*(keys[i % GRADERS] for i in range(CLIENTS)), *keys], base) as clients:
        tasks = [asyncio.create_task(ask(one)) for one in clients[:CLIENTS]]
        tasks += [asyncio.create_task(grade(one)) for one in clients[CLIENTS:]]
        telling = asyncio.create_task(tell())
        killed = float("inf")
        if kill:
            await soon.wait()
            served.process.kill()
            killed = time.monotonic()
        await asyncio.gather(*tasks, return_exceptions=kill)
        telling.cancel()
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
            name: stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{served.port}", timeout=60))
            for name, served in servers.items()
        }
        for turn in range(rounds + 1):
            print(f"cost: round {turn} of {rounds}", file=sys.stderr, flush=True)
            for name, served in servers.items():
                before = sum(served.process.cpu_times()[:2])
                taken = [ask_once(clients[name], turn * TURN + i) for i in range(TURN)]
                if turn:
                    latency.setdefault(name, []).append(1000 * statistics.median(taken))
                    used = sum(served.process.cpu_times()[:2]) - before
                    processor.setdefault(name, []).append(1000 * used / TURN)
    data = {name: {"median_ms": latency[name], "cpu_ms": processor[name]} for name in servers}
    return [row for name in servers for row in cost_rows(name, data)], dict(data)


def cost_rows(name: str, data: dict[str, dict[str, list[float]]]) -> list[list[str]]:
    """Medians over rounds; what is added is taken within each round, from its least to its most."""
    ms, off = data[name]["median_ms"], data["off"]["median_ms"]
    rows = [
        [name, "median answer, ms", f"{statistics.median(ms):.2f}"],
        [name, "processor, ms an answer", f"{statistics.median(data[name]['cpu_ms']):.2f}"],
    ]
    if name != "off":
        added = [one - other for one, other in zip(ms, off, strict=True)]
        spread = f"{statistics.median(added):.2f} ({min(added):.2f} to {max(added):.2f})"
        rows.append([name, "added to the median answer, ms", spread])
    return rows


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
    options = {"answers": chosen.answers, "grades": chosen.grades, "rounds": chosen.rounds}
    steps, rows, data = Steps("feedback", options), list[list[str]](), dict[str, Any]()
    works: dict[str, Callable[[], object]] = {
        kind: partial(soak, kind, chosen.answers, chosen.grades) for kind in STORES
    }
    works["cost"] = partial(cost, chosen.rounds)
    for name, work in works.items():
        if not chosen.only or name in chosen.only:
            if name in steps:
                print(f"{name}: done before", file=sys.stderr, flush=True)
            lines, data[name] = steps.run(name, work)
            rows += lines
    publish("feedback", "Keeping answers while they are served", ["store", "figure", "value"], rows, data)
    steps.end()
    if lost := lost_in(data):
        raise SystemExit(f"lost: {lost}")


def lost_in(data: Mapping[str, Any]) -> str:
    """What should be there and is not, by store; empty where that is nothing."""
    return ", ".join(
        f"{store} {data[store][name]:,} {name}"
        for store in STORES
        if store in data
        for name in LOST
        if data[store][name]
    )


if __name__ == "__main__":
    main()
