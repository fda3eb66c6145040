"""Two replicas on a real local Ray cluster; one is killed while both are busy."""

import asyncio
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
import pytest
import yaml

from demur_client import AnswerEvent, AsyncClient, DemurError, RetryPolicy
from live import free_port

pytestmark = [pytest.mark.operations, pytest.mark.timeout(900)]

TOOLS = Path(sys.executable).parent
STARTUP = 400.0
DEADLINE = 60.0
"""Seconds in which any one request has its answer or its error."""
PATIENT = {
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "120",
    "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "120",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""A busy machine takes longer to start what Ray gives five seconds."""
RETRY = RetryPolicy(max_retries=10, first_pause=0.2, longest_pause=5.0)
ROUNDS_AFTER = 3
SAMPLES = 16


KILLS = 5


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster of one node with the application on it."""

    ray: psutil.Process
    url: str

    def replicas(self) -> list[psutil.Process]:
        return [child for child in self.ray.children(recursive=True) if "ServeReplica" in _title(child)]


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it ended meanwhile
        return ""


@pytest.fixture(scope="module")
def cluster(deploy: Path) -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="ray"))  # short: Ray's sockets lie in it
    http = free_port()
    config = folder / "serve.yaml"
    config.write_text(yaml.safe_dump(_small(deploy, http)))
    start = [TOOLS / "ray", "start", "--head", "--block", "--disable-usage-stats", "--include-dashboard=false"]
    start += [f"--temp-dir={folder / 's'}", f"--port={free_port()}", f"--ray-client-server-port={free_port()}"]
    start += ["--num-cpus=2", "--object-store-memory=80000000", "--min-worker-port=0", "--max-worker-port=0"]
    try:
        with _process(start, deploy, folder / "ray.log", "Ray runtime started") as ray:
            found = Cluster(ray, f"http://127.0.0.1:{http}")
            address = re.search(r"--address='([^']+)'", (folder / "ray.log").read_text())
            assert address
            serve = [TOOLS / "serve", "run", f"--app-dir={deploy}", f"--address={address[1]}", config]
            with _process(serve, deploy, folder / "serve.log"):
                assert _until(lambda: len(found.replicas()) == 2 and _is_ready(found.url)), (
                    folder / "serve.log"
                ).read_text()[-3000:]
                yield found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _small(deploy: Path, port: int) -> dict[str, object]:
    """The configuration that is shipped, for a small machine without a model."""
    config = yaml.safe_load((deploy / "ray_serve.yaml").read_text())
    config["http_options"] |= {"host": "127.0.0.1", "port": port}
    application = config["applications"][0]
    application["args"]["settings"] = {"engine": "scripted", "allow_anonymous": True}
    application["deployments"][0] |= {"ray_actor_options": {"num_cpus": 0.1}, "health_check_timeout_s": 120}
    return config


@contextmanager
def _process(command: list[object], deploy: Path, log: Path, announces: str = "") -> Iterator[psutil.Process]:
    """Runs until the context ends, with all that it started."""
    environ = os.environ | PATIENT | {"PYTHONPATH": _path(deploy), "RAY_AUTH_MODE": "disabled"}
    with log.open("wb") as output:
        running = subprocess.Popen(list(map(str, command)), stdout=output, stderr=output, env=environ)
    process = psutil.Process(running.pid)
    try:
        said = _until(lambda: announces in log.read_text() or running.poll() is not None)
        assert said, log.read_text()[-3000:]
        assert running.poll() is None, log.read_text()[-3000:]
        yield process
    finally:
        children = process.children(recursive=True)
        running.terminate()
        try:
            running.wait(30)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
        for child in psutil.wait_procs(children, 10)[1]:
            child.kill()


def _path(deploy: Path) -> str:
    return os.pathsep.join(filter(None, [str(deploy), os.environ.get("PYTHONPATH")]))


def _until(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + STARTUP
    while not (true := condition()) and time.monotonic() < end:
        time.sleep(0.2)
    return true


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


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
                await asyncio.to_thread(_until, lambda: len(cluster.replicas()) == 2)
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
    assert _until(lambda: len(cluster.replicas()) == 2 and _is_ready(cluster.url))
    assert {replica.pid for replica in cluster.replicas()} != before
