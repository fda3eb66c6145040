"""The file of keys: a revocation holds for whoever reads it, and what is wrong with the file is said, not waited for."""

import asyncio
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from demur.api_keys import ApiKeyStore, Key, KeyFile, KeysError, make_key
from demur.api_keys.file import MOST_BYTES, MOST_KEYS
from demur.api_keys.store import MAX_AGE

OTHER = 12345
"""A user who is not the one that runs the tests."""
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def add(file: Path, name: str = "someone") -> str:
    key, text = make_key(name)
    KeyFile(file).change(lambda keys: (*keys, key))
    return text


def revoke_all(file: Path) -> None:
    KeyFile(file).change(lambda keys: ())


def found(ring: ApiKeyStore, text: str) -> Key | None:
    asyncio.run(ring.refresh())
    key = ring.find(text)
    return key if key is not None and ring.trusts(key) else None


def ask(server: Any, text: str) -> httpx.Response:
    return server.call("GET", "/v1/models", headers={"authorization": f"Bearer {text}"})


def linked(file: Path) -> list[Path]:
    """Other names for `file`: a link, a relative one, a link to a link, a linked folder, a folder gone through."""
    folder = file.parent
    names = [folder / name for name in ("one", "relative", "two")]
    for name, target in zip(names, (file, Path(file.name), names[0]), strict=True):
        name.symlink_to(target)
    (folder / "elsewhere").symlink_to(folder)
    return [*names, folder / "elsewhere" / file.name, folder / "elsewhere" / ".." / folder.name / file.name]


def test_a_revocation_by_any_name_reaches_a_server_that_reads_another(file: Path) -> None:
    add(file)
    names = linked(file)
    for name in names:
        text = add(name)
        rings = [ApiKeyStore(each) for each in (file, *names)]
        revoke_all(name)
        assert [found(ring, text) for ring in rings] == [None] * len(rings)
    assert [name.is_symlink() for name in names[:3]] == [True] * 3


def test_a_new_file_comes_where_a_dangling_link_points(file: Path) -> None:
    (file.parent / "link").symlink_to(file)
    text = add(file.parent / "link")
    assert found(ApiKeyStore(file), text)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o660])
def test_the_mode_stays(file: Path, mode: int) -> None:
    add(file)
    file.chmod(mode)
    add(file)
    revoke_all(file)
    assert stat.S_IMODE(file.stat().st_mode) == mode


@as_root
def test_the_owner_stays(file: Path) -> None:
    add(file)
    os.chown(file, OTHER, OTHER + 1)
    add(file)
    assert (file.stat().st_uid, file.stat().st_gid) == (OTHER, OTHER + 1)


@as_root
def test_who_cannot_keep_the_owner_changes_nothing_and_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    for parent in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        parent.chmod(0o755)
    file = folder / "keys.json"
    text = add(file)
    file.chmod(0o644)
    (folder / "keys.json.lock").chmod(0o644)
    before = file.read_bytes(), file.stat()
    program = (
        "import os, sys; from demur.api_keys.cli import app; os.setgroups([]); os.setgid(12345); os.setuid(12345); "
        "app(['revoke', 'someone', '--file', sys.argv[1]])"
    )
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert all(words in done.stderr for words in ("nothing was changed", "root", str(file)))
    assert (file.read_bytes(), file.stat()) == before
    assert sorted(path.name for path in folder.iterdir()) == ["keys.json", "keys.json.lock"]
    assert found(ApiKeyStore(file), text)


def test_a_hard_link_would_keep_the_old_keys(file: Path) -> None:
    text = add(file)
    os.link(file, file.parent / "other")
    with pytest.raises(KeysError, match="hard links"):
        revoke_all(file)
    assert found(ApiKeyStore(file), text)


def test_a_kubernetes_secret_is_changed_where_it_comes_from(tmp_path: Path) -> None:
    data = tmp_path / "..2026_11_26"
    text = add(data / "keys.json")
    (tmp_path / "..data").symlink_to(data.name)
    (tmp_path / "keys.json").symlink_to("..data/keys.json")
    with pytest.raises(KeysError, match="Kubernetes"):
        revoke_all(tmp_path / "keys.json")
    assert found(ApiKeyStore(tmp_path / "keys.json"), text)


def test_a_secret_that_is_swapped_is_read_again(tmp_path: Path) -> None:
    """The way Kubernetes does it: a new folder, and the link to it moved over the old one."""
    before, after = (add(tmp_path / name / "keys.json") for name in ("..1", "..2"))
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "keys.json").symlink_to("..data/keys.json")
    ring = ApiKeyStore(tmp_path / "keys.json")
    assert [bool(found(ring, text)) for text in (before, after)] == [True, False]
    (tmp_path / "..data_tmp").symlink_to("..2")
    os.replace(tmp_path / "..data_tmp", tmp_path / "..data")
    assert [bool(found(ring, text)) for text in (before, after)] == [False, True]


def test_a_loop_of_links_is_one_line(file: Path) -> None:
    file.symlink_to(file)
    for work in (lambda: ApiKeyStore(file), lambda: revoke_all(file)):
        with pytest.raises(KeysError, match=r"circle|symbolic"):
            work()


def test_a_lock_that_leads_elsewhere_is_not_followed(file: Path) -> None:
    add(file)
    precious = file.parent / "precious"
    precious.write_text("kept")
    lock = file.with_name("keys.json.lock")
    lock.unlink()
    lock.symlink_to(precious)
    with pytest.raises(KeysError):
        revoke_all(file)
    assert precious.read_text() == "kept"


def test_a_file_that_is_mounted_by_itself_says_so(tmp_path: Path) -> None:
    """Docker's `-v keys.json:/etc/demur/keys.json`."""
    source, target = tmp_path / "source.json", tmp_path / "inside" / "keys.json"
    add(source)
    target.parent.mkdir()
    target.touch()
    script = 'mount --bind "$0" "$1" && "$2" -m demur keys revoke someone --file "$1"'
    command = ["unshare", "-rm", "sh", "-c", script, str(source), str(target), sys.executable]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if "demur" not in done.stderr:
        pytest.skip("mounting is not allowed here")
    assert done.returncode == 1
    assert "mount its folder" in done.stderr
    assert len(KeyFile(source).read()) == 1


def test_a_mounted_file_that_is_replaced_outside_is_said_to_be_old(file: Path, caplog) -> None:
    """What such a mount goes on to show has no name any more; so has an open file that was replaced."""
    clock, text = Clock(), add(file)
    with open(file) as inside:
        ring = ApiKeyStore(Path(f"/proc/self/fd/{inside.fileno()}"), clock=clock)
        assert found(ring, text)
        revoke_all(file)
        clock.now += MAX_AGE + 1
        assert found(ring, text) is None
    assert "mount its folder" in str(caplog.records[-1].__dict__["fields"])


def pipe(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(here)


def huge(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(45_000_000)


def too_many(path: Path) -> None:
    path.write_text(json.dumps({"keys": [key(f"{i:08x}") for i in range(MOST_KEYS + 1)]}, separators=(",", ":")))


def key(key_id: str) -> dict[str, str]:
    return {"id": key_id, "name": "n", "sha256": "0" * 64}


BAD: list[tuple[Callable[[Path], object], str]] = [
    (pipe, "a pipe"),
    (unix_socket, "a socket"),
    (Path.mkdir, "a folder"),
    (lambda path: path.symlink_to("/dev/zero"), "a device"),
    (huge, "larger than"),
    (too_many, "at most 10000"),
    (lambda path: path.write_text('{"keys": ' + "[" * 100_000), "recursion"),
    (lambda path: path.write_text('{"keys": [], "\\u001b]0;x": 1}'), r"\\x1b"),
    (lambda path: path.write_text(json.dumps({"keys": [key("1") | {"created": "\x1b[2J"}]})), "keys.0"),
    (lambda path: path.write_bytes(b"\xff\xfe"), "JSON"),
]


@pytest.mark.parametrize(("make_bad", "words"), BAD, ids=[words for _, words in BAD])
def test_what_is_no_file_of_keys_is_refused_at_once(file: Path, make_bad: Callable, words: str) -> None:
    make_bad(file)
    for work in (lambda: ApiKeyStore(file), lambda: KeyFile(file).read(), lambda: revoke_all(file)):
        with pytest.raises(KeysError, match=words) as refused:
            work()
        assert str(refused.value).isprintable()
        assert str(file) in str(refused.value)
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name]


@pytest.mark.parametrize(("make_bad", "words"), BAD, ids=[words for _, words in BAD])
def test_a_running_server_is_not_held_up_by_it(make, file: Path, make_bad: Callable, words: str, caplog) -> None:
    clock, text = Clock(), add(file)
    server = make(keys_file=file, clock=clock)
    file.unlink()
    make_bad(file)
    assert [ask(server, text).status_code for _ in range(3)] == [200] * 3
    clock.now += 2
    assert ask(server, text).status_code == 200
    told = [record.getMessage() for record in caplog.records if record.name == "demur.api_keys.store"]
    assert told.count("the keys were not read again") == 1


def test_text_in_the_environment_is_bounded_too() -> None:
    with pytest.raises(KeysError, match="larger than"):
        ApiKeyStore(text=" " * (MOST_BYTES + 1))


def test_the_most_keys_are_taken(file: Path) -> None:
    too_many(file)
    content = json.loads(file.read_text())
    file.write_text(json.dumps({"keys": content["keys"][1:]}))
    assert len(KeyFile(file).read()) == MOST_KEYS
    with pytest.raises(KeysError, match="at most 10000"):
        add(file)


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
