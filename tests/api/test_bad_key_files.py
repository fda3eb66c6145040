"""What is no file of keys is refused in one line, and not waited for."""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from demur.api_keys import ApiKeyStore, KeyFile, KeysError
from demur.api_keys.file import MOST_BYTES, MOST_KEYS
from keys_in_files import Clock, add, ask, revoke_all


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


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
