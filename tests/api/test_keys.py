"""Keys: who may ask, for how much, and that no key is ever seen where it does not belong."""

import asyncio
import hashlib
import io
import json
import logging
import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from demur.api_keys import ApiKeyStore, Key, KeyFile, KeysError, make_key
from demur.engine.scripted import Gate, Script, ScriptedEngine
from demur.observability.logs import JsonFormatter
from demur.serving.command import run as serve

RESPONSE = "Two and two.\nAnswer: 4\nConfidence: 0.9"
POSTS = ["/v1/answers", "/v1/chat/completions"]
GETS = ["/v1/models", "/v1/models/demur-test"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def add(file: Path, name: str = "someone", **limits: object) -> dict[str, str]:
    """Put a new key into the file; gives the headers that show it."""
    key, text = make_key(name, **limits)
    KeyFile(file).change(lambda keys: (*keys, key))
    return bearer(text)


def bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


def ask(server, headers: dict[str, str] | None = None, path: str = "/v1/answers", **fields: object):
    body = {"question": "q"} if path == "/v1/answers" else {"messages": [{"role": "user", "content": "q"}]}
    return server.call("POST", path, json=body | fields, headers=headers or {})


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_key_opens_and_nothing_else_does(make, file, path, stream) -> None:
    shown = add(file)
    server = make(ScriptedEngine({"q": RESPONSE}), keys_file=file)
    assert ask(server, shown, path, stream=stream).status_code == 200
    text = shown["authorization"].removeprefix("Bearer ")
    other = make_key("other")[1]
    for wrong in ({}, bearer(""), bearer(text[:-1]), bearer(text + "x"), bearer(text.upper()), bearer(other)):
        reply = ask(server, wrong, path, stream=stream)
        assert (reply.status_code, reply.json()["error"]["code"]) == (401, "invalid_api_key")
        assert reply.headers["www-authenticate"] == "Bearer"
    for scheme in ("Basic", "Token", "bear"):
        assert ask(server, {"authorization": f"{scheme} {text}"}, path).status_code == 401
    assert ask(server, {"authorization": f"bearer  {text} "}, path).status_code == 200


def test_what_needs_a_key_and_what_does_not(make, file) -> None:
    shown = add(file)
    server = make(keys_file=file)
    for path in GETS:
        assert server.call("GET", path).status_code == 401
        assert server.call("GET", path, headers=shown).status_code == 200
    for path in ("/health", "/ready", "/metrics", "/openapi.json"):
        assert server.call("GET", path).status_code == 200
    assert "securitySchemes" in server.call("GET", "/openapi.json").json()["components"]
    assert "securitySchemes" not in make().call("GET", "/openapi.json").json()["components"]


def test_the_body_of_a_stranger_is_not_read(make, file) -> None:
    add(file)

    async def never_read():
        raise AssertionError("the body was read")
        yield b""

    server = make(keys_file=file)
    reply = server.call("POST", "/v1/answers", content=never_read(), headers={"content-type": "application/json"})
    assert reply.status_code == 401


def test_keys_from_the_environment(make, file) -> None:
    shown = add(file)
    server = make(keys=file.read_text())
    assert ask(server, shown).status_code == 200
    assert ask(server).status_code == 401


def test_changes_of_the_file_hold_at_once(make, file) -> None:
    first = add(file, "first")
    server = make(keys_file=file)
    second = add(file, "second")
    assert [ask(server, shown).status_code for shown in (first, second)] == [200, 200]
    KeyFile(file).change(lambda keys: keys[1:])
    assert [ask(server, shown).status_code for shown in (first, second)] == [401, 200]


@pytest.mark.parametrize("broken", ["", "{", '{"keys": [{"id": 7}]}', None])
def test_a_file_that_broke_leaves_the_keys_as_they_were(make, file, caplog, broken) -> None:
    shown = add(file)
    server = make(keys_file=file)
    if broken is None:
        file.unlink()
    else:
        file.write_text(broken)
    assert ask(server, shown).status_code == 200
    assert ask(server, shown).status_code == 200
    assert [record.levelname for record in caplog.records if record.name == "demur.api_keys.store"] == ["ERROR"]


@pytest.mark.parametrize("text", ["", "[]", '{"keys": [{"id": "1"}]}', '{"keys": [], "more": 1}'])
def test_keys_that_cannot_be_read_stop_the_start(file, text) -> None:
    file.write_text(text)
    with pytest.raises(KeysError, match=re.escape(str(file))):
        ApiKeyStore(file)
    with pytest.raises(KeysError, match="DEMUR_KEYS"):
        ApiKeyStore(text=text)


def test_two_keys_with_one_id_are_refused() -> None:
    key = make_key("one")[0].model_dump()
    with pytest.raises(KeysError, match="same id"):
        ApiKeyStore(text=json.dumps({"keys": [key, key]}))


def test_the_file_holds_a_hash_and_only_its_owner_may_read_it(file) -> None:
    text = add(file)["authorization"].removeprefix("Bearer ")
    assert text.split("_", 2)[2] not in file.read_text()
    assert hashlib.sha256(text.encode()).hexdigest() in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_no_key_is_lost_when_several_are_made_at_once(file) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: add(file, f"number {i}"), range(24)))
    assert len(KeyFile(file).read()) == 24


def test_requests_per_minute(make, file) -> None:
    slow, free = add(file, requests_per_minute=2), add(file)
    server = make(keys_file=file)
    assert [ask(server, slow).status_code for _ in range(3)] == [200, 200, 429]
    reply = server.call("GET", "/v1/models", headers=slow)
    assert (reply.status_code, reply.json()["error"]["type"]) == (429, "rate_limited")
    assert 1 <= int(reply.headers["retry-after"]) <= 60
    assert ask(server, free).status_code == 200


@pytest.mark.parametrize("stream", [False, True])
def test_tokens_per_minute(make, file, stream) -> None:
    slow, free = add(file, tokens_per_minute=10), add(file)
    server = make(ScriptedEngine({"q": RESPONSE}), keys_file=file)
    assert ask(server, slow, stream=stream).status_code == 200
    reply = ask(server, slow, stream=stream)
    assert (reply.status_code, reply.json()["error"]["type"]) == (429, "rate_limited")
    assert 1 <= int(reply.headers["retry-after"]) <= 60
    assert server.call("GET", "/v1/models", headers=slow).status_code == 200
    assert ask(server, free).status_code == 200
    counted = server.call("GET", "/metrics").text
    assert 'demur_refused_total{reason="tokens_per_minute"} 1.0' in counted


def test_who_leaves_early_pays_for_what_was_written(run, file) -> None:
    shown = add(file, tokens_per_minute=20)
    gate = Gate()
    server = run(ScriptedEngine({"q": Script([RESPONSE], gates={5: gate})}), keys_file=file)

    async def leave() -> int:
        async with httpx.AsyncClient(base_url=server.url, headers=shown) as client:
            asking = asyncio.create_task(client.post("/v1/answers", json={"question": "q"}))
            await asyncio.to_thread(gate.wait_reached)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            while server.engine.running:
                await client.get("/health")
            gate.open()
            return (await client.post("/v1/answers", json={"question": "q"})).status_code

    assert asyncio.run(leave()) == 429


def test_the_highest_k(make, file) -> None:
    few, narrow, free = add(file, max_samples=2), add(file, concurrent_samples=3), add(file)
    server = make(ScriptedEngine({"q": RESPONSE}), keys_file=file)
    for shown, most in ((few, 2), (narrow, 3), (free, 64)):
        assert ask(server, shown, samples=most).status_code == 200
        reply = ask(server, shown, samples=most + 1)
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "samples")
        assert str(most) in reply.json()["error"]["message"]
        assert ask(server, shown, POSTS[1], n=most + 1).json()["error"]["param"] == "n"


@pytest.mark.parametrize(
    ("settings", "right", "status"),
    [
        ({}, False, 403),
        ({}, True, 200),
        ({"host": "0.0.0.0"}, True, 200),
        ({"allow_withheld": True}, False, 403),
        ({"allow_withheld": False}, True, 403),
    ],
)
def test_who_may_see_withheld_text(make, file, settings, right, status) -> None:
    shown = add(file, withheld=right)
    assert ask(make(keys_file=file, **settings), shown, include_withheld=True).status_code == status


def test_a_flood_of_one_key_leaves_room_for_another(run, file) -> None:
    flood, calm = add(file, "flood"), add(file, "calm")
    gate = Gate()
    server = run(
        ScriptedEngine({"q": Script([RESPONSE], gates={0: gate})}),
        keys_file=file,
        max_running_samples=1,
        max_queued_samples=3,
    )

    async def both() -> tuple[list[int], int]:
        async with httpx.AsyncClient(base_url=server.url) as client:

            def post(headers: dict[str, str]) -> asyncio.Task[httpx.Response]:
                return asyncio.create_task(client.post("/v1/answers", json={"question": "q"}, headers=headers))

            flooding = [post(flood) for _ in range(6)]
            await asyncio.wait(flooding, return_when=asyncio.FIRST_COMPLETED)
            one = post(calm)
            while sum(task.done() for task in flooding) < 3:
                await client.get("/health")
            gate.open()
            return sorted(reply.status_code for reply in await asyncio.gather(*flooding)), (await one).status_code

    assert asyncio.run(both()) == ([200, 200, 200, 429, 429, 429], 200)


def test_a_key_is_in_no_log_metric_or_error(make, file, tmp_path) -> None:
    shown = add(file, "canary-name", requests_per_minute=2)
    text = shown["authorization"].removeprefix("Bearer ")
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.DEBUG)
    root.addHandler(handler)
    try:
        server = make(ScriptedEngine({"q": RESPONSE}), keys_file=file)
        replies = [
            ask(server, shown),
            ask(server, shown, samples=99),
            ask(server, shown),
            ask(server, bearer(text[:-1])),
        ]
        file.write_text(f'{{"keys": "{text}"}}')
        replies.append(ask(server, shown))
        replies.append(server.call("GET", "/metrics"))
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
    said = stream.getvalue() + "".join(reply.text + repr(reply.headers.raw) for reply in replies)
    assert "were not read again" in said
    assert text[:-1] not in said
    assert text.split("_", 2)[2] not in said
    assert text.split("_")[1] in stream.getvalue()
    assert "canary-name" not in said
    assert text.split("_")[1] not in replies[-1].text


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "demur", "keys", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env=os.environ | {"COLUMNS": "120"} | environment,
    )


def test_the_command_makes_lists_and_revokes(make, file) -> None:
    made = command("create", "team a", "--max-samples", "4", "--withheld", "--file", str(file))
    assert (made.returncode, made.stderr) == (0, "")
    text = made.stdout.strip()
    server = make(keys_file=file)
    assert ask(server, bearer(text), samples=4).status_code == 200
    listed = command("list", DEMUR_KEYS_FILE=str(file)).stdout
    assert re.fullmatch(r"[0-9a-f]{8}  \S+  team a  max_samples=4 withheld\n", listed)
    assert text not in listed
    assert command("revoke", "team a", "-f", str(file)).returncode == 0
    assert ask(server, bearer(text)).status_code == 401
    assert command("list", "-f", str(file)).stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["revoke", "nobody"], "no key 'nobody'"),
        (["revoke", "twin"], "more than one key 'twin'"),
        (["create", ""], "printable"),
        (["create", "a\nb"], "printable"),
    ],
)
def test_what_the_command_cannot_do_is_one_line(file, arguments, words) -> None:
    add(file, "twin")
    add(file, "twin")
    before = file.read_bytes()
    done = command(*arguments, "-f", str(file))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert words in done.stderr
    assert file.read_bytes() == before


def test_the_folder_of_a_new_file_is_made(tmp_path) -> None:
    assert command("create", "someone", "-f", str(tmp_path / "new" / "keys.json")).returncode == 0


def test_a_file_that_cannot_be_is_one_line(tmp_path) -> None:
    (tmp_path / "nowhere").write_text("a file where a folder should be")
    for arguments in (["list"], ["create", "someone"]):
        done = command(*arguments, "-f", str(tmp_path / "nowhere" / "keys.json"))
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "nowhere" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_public_address_needs_keys_unless_told_otherwise(capsys, host) -> None:
    assert serve({"engine": "scripted", "host": host, "port": 0}, [], []) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "--keys-file" in said
    assert "--allow-anonymous" in said


def test_keys_that_cannot_be_read_are_one_line_before_anything_loads(capsys, file) -> None:
    file.write_text("{}")
    assert serve({"engine": "vllm", "model": "/nowhere/at/all", "keys_file": file, "port": 0}, [], []) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(file) in said


def test_a_key_has_all_the_randomness_it_says() -> None:
    keys = [make_key("x") for _ in range(100)]
    assert len({text for _, text in keys}) == 100
    assert all(len(text.split("_", 2)[2]) == 43 for _, text in keys)
    assert isinstance(keys[0][0], Key)
