"""Keys that cannot be read any more open nothing in the end, and a mount that hangs holds nobody up."""

import asyncio
import shutil
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from demur.api_keys import ApiKeyStore, KeyFile
from demur.api_keys.store import MAX_AGE
from keys_in_files import Clock, add, ask


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def test_keys_that_cannot_be_read_open_nothing_in_the_end(make, file: Path) -> None:
    clock, text, given = Clock(), add(file), file.with_name("given.json")
    other = add(given)
    server = make(keys_file=file, keys=given.read_text(), clock=clock)
    saved = file.read_bytes()
    file.unlink()
    clock.now += MAX_AGE
    assert ask(server, text).status_code == 200
    clock.now += 1
    reply = ask(server, text)
    assert (reply.status_code, reply.json()["error"]["type"]) == (503, "unavailable")
    assert reply.headers["retry-after"]
    assert ask(server, other).status_code == 200
    assert ask(server, text + "x").status_code == 401
    metrics = server.call("GET", "/metrics").text
    assert f"demur_keys_age_seconds {MAX_AGE + 1}" in metrics
    assert 'demur_refused_total{reason="keys_stale"} 1.0' in metrics
    file.write_bytes(saved)
    assert ask(server, text).status_code == 200
    assert "demur_keys_age_seconds 0.0" in server.call("GET", "/metrics").text


def test_the_operator_says_how_long_they_may_be_old(make, file: Path) -> None:
    clock, text = Clock(), add(file)
    server = make(keys_file=file, keys_max_age=5, clock=clock)
    file.unlink()
    clock.now += 6
    assert ask(server, text).status_code == 503


class Hanging:
    """The name of a file on a mount that stops answering once the test says so, and answers again in the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.answers = threading.Event()
        self.answers.set()

    def __fspath__(self) -> str:
        assert self.answers.wait(20)
        return str(self._path)


def test_a_mount_that_hangs_holds_nobody_up_for_long(file: Path, caplog) -> None:
    """One wait that is bounded, then none: the event loop runs on, and the keys grow old."""
    clock, text = Clock(), add(file)
    path: Any = Hanging(file)
    ring = ApiKeyStore(path, clock=clock)

    async def use() -> None:
        path.answers.clear()
        ticking = asyncio.create_task(asyncio.sleep(0))
        await ring.refresh()
        assert ticking.done()
        clock.now += 1
        threads = threading.active_count()
        await asyncio.gather(*(ring.refresh() for _ in range(100)))
        assert threading.active_count() <= threads
        assert ring.find(text)
        clock.now += MAX_AGE
        assert ring.age > MAX_AGE
        path.answers.set()
        while ring.age:
            await ring.refresh()
        assert ring.find(text)

    asyncio.run(asyncio.wait_for(use(), 15))
    assert [record.getMessage() for record in caplog.records] == ["the file of keys does not answer"]


class Late:
    """The name of a file; whoever asks first is held up and then sees the file as it was when it was asked for."""

    def __init__(self, path: Path) -> None:
        self._path, self._old = path, path.with_name("old.json")
        self._first: threading.Thread | None = None
        self.holds, self.asked, self.answers = False, threading.Event(), threading.Event()

    def __fspath__(self) -> str:
        if self.holds and self._first is None:
            self._first = threading.current_thread()
            shutil.copy(self._path, self._old)
            self.asked.set()
            assert self.answers.wait(20)
        return str(self._old if self._first is threading.current_thread() else self._path)


def test_a_look_that_began_before_a_key_was_revoked_opens_nothing(file: Path) -> None:
    text = add(file)
    path: Any = Late(file)
    ring = ApiKeyStore(path)

    async def use() -> None:
        path.holds = True
        earlier = asyncio.create_task(ring.refresh())
        await asyncio.to_thread(path.asked.wait, 10)
        KeyFile(file).change(lambda keys: ())
        later = asyncio.create_task(ring.refresh())
        await asyncio.sleep(0)
        path.answers.set()
        await earlier
        await later
        assert ring.find(text) is None

    asyncio.run(asyncio.wait_for(use(), 15))


def test_a_file_that_vanishes_shows_though_nobody_asks(run, file: Path, caplog) -> None:
    add(file)
    server = run(keys_file=file)
    file.unlink()

    async def told() -> None:
        async with httpx.AsyncClient(base_url=server.url) as client:
            while not any(record.name == "demur.api_keys.store" for record in caplog.records):
                await client.get("/health")

    asyncio.run(asyncio.wait_for(told(), 10))
