"""Two replicas on a real local Ray cluster; one is killed while both are busy."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from demur_client import AnswerEvent, AsyncClient, DemurError, RetryPolicy
from local_ray import Cluster, local_cluster, until

pytestmark = [pytest.mark.operations, pytest.mark.timeout(900)]

DEADLINE = 60.0
"""Seconds in which any one request has its answer or its error."""
RETRY = RetryPolicy(max_retries=10, first_pause=0.2, longest_pause=5.0)
ROUNDS_AFTER = 3
SAMPLES = 16
KILLS = 5


@pytest.fixture(scope="module")
def cluster(deploy: Path) -> Iterator[Cluster]:
    arguments = {"settings": {"engine": "scripted", "allow_anonymous": True}, "engine_args": {}}
    with local_cluster(deploy, arguments) as running:
        yield running


def expected(question: str) -> str:
    """What the scripted engine makes of a question that it has no script for."""
    return str(int.from_bytes(hashlib.sha256(question.encode()).digest()[:2], "big") % 1000)


@dataclass
class Seen:
    """What one worker got."""

    right: int = 0
    first: asyncio.Event = field(default_factory=asyncio.Event)
    wrong: list[str] = field(default_factory=list)
    errors: list[DemurError] = field(default_factory=list)


async def _work(ask: Callable[[str], object], name: str, seen: Seen, killed: asyncio.Event) -> None:
    """Ask, one question after another, until some were asked after the kill."""
    after = i = 0
    while after < ROUNDS_AFTER:
        after, i = after + killed.is_set(), i + 1
        question = f"What is the number of {name}, {i}?"
        try:
            async with asyncio.timeout(DEADLINE):
                answer = await ask(question)  # type: ignore[misc]
        except DemurError as error:
            seen.errors.append(error)
            continue
        if answer == expected(question):
            seen.right += 1
            seen.first.set()
        else:
            seen.wrong.append(f"{question}: {answer}")


async def _load(cluster: Cluster) -> tuple[list[Seen], list[Seen]]:
    """Both kinds of requests, while one replica is killed. What those in one piece got, and what streams got."""
    killed = asyncio.Event()
    async with AsyncClient(base_url=cluster.url, timeout=DEADLINE, retry=RETRY) as client:

        async def in_one_piece(question: str) -> str | None:
            return (await client.answer(question, risk_threshold=0.0, contract="response")).answer

        async def as_stream(question: str) -> str | None:
            # Many samples, so that a stream is being written for most of the time that it takes.
            async with client.stream(question, risk_threshold=0.0, contract="response", samples=SAMPLES) as stream:
                return [event.answer.answer async for event in stream if isinstance(event, AnswerEvent)][-1]

        whole, streamed = [Seen() for _ in range(8)], [Seen() for _ in range(8)]
        async with asyncio.TaskGroup() as group:
            for i, (one, other) in enumerate(zip(whole, streamed, strict=True)):
                group.create_task(_work(in_one_piece, f"whole {i}", one, killed))
                group.create_task(_work(as_stream, f"stream {i}", other, killed))
            for seen in (*whole, *streamed):
                await seen.first.wait()
            for _ in range(KILLS):  # a kill may fall between two streams
                cluster.replicas()[0].kill()
                await asyncio.sleep(1)
                if any(seen.errors for seen in streamed):
                    break
                await asyncio.to_thread(until, lambda: len(cluster.replicas()) == 2)
            killed.set()
    return whole, streamed


def test_events_come_while_the_answer_is_made(cluster: Cluster) -> None:
    body = {"question": "Is it live?", "contract": "response", "risk_threshold": 0.0, "stream": True}
    pieces: list[bytes] = []
    with httpx.stream("POST", f"{cluster.url}/v1/answers", json=body, timeout=DEADLINE) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        pieces += response.iter_raw()
    text = b"".join(pieces)
    assert text.count(b"event: delta") > 3
    assert len(pieces) > 3  # a reply that is collected on the way comes in one
    assert b"event: answer" not in pieces[0]


def test_errors_come_through_as_the_server_wrote_them(cluster: Cluster) -> None:
    response = httpx.post(f"{cluster.url}/v1/answers", json={"question": "q", "risk_threshold": 2}, timeout=DEADLINE)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "risk_threshold"
    # Ray's proxy gives the id, the server takes it over, and then both say it.
    assert set(response.headers.get_list("x-request-id")) == {response.json()["error"]["request_id"]}


def test_nothing_is_lost_when_a_replica_is_killed(cluster: Cluster) -> None:
    before = {replica.pid for replica in cluster.replicas()}
    whole, streamed = asyncio.run(_load(cluster))
    assert [seen.errors for seen in whole] == [[]] * len(whole)
    assert not [wrong for seen in (*whole, *streamed) for wrong in seen.wrong]
    assert sum(len(seen.errors) for seen in streamed) > 0  # streams that it was writing; each raised a typed error
    assert until(cluster.is_whole)
    assert {replica.pid for replica in cluster.replicas()} != before
