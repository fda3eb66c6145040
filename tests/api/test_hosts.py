"""A page whose name is made to resolve to this machine cannot ask a server that listens here."""

import json

import httpx
import pytest

from demur.api.hosts import host_name
from raw_http import check_error, send, statuses

LINE = b"GET /v1/models HTTP/1.1\r\nconnection: close\r\n"


def ask(url: str, *hosts: str) -> bytes:
    return send(url, LINE + "".join(f"host: {host}\r\n" for host in hosts).encode("latin-1") + b"\r\n")


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:1", "127.0.0.2", "[::1]", "[::1]:8000", " localhost "],
)
def test_names_of_this_machine_are_answered(run, host) -> None:
    assert statuses(ask(run().url, host)) == [200]


@pytest.mark.parametrize(
    "hosts",
    [
        ["evil.example"],
        ["evil.example:8000"],
        ["localhost.evil.example"],
        ["127.0.0.1.evil.example"],
        ["localhost:8000.evil.example"],
        ["localhost@evil.example"],
        ["evil.example#localhost"],
        ["0.0.0.0:8000"],
        ["192.168.0.7"],
        ["::1"],
        ["[evil.example]"],
        ["localhost:80:80"],
        ["localhost:x"],
        ["\xe4"],
        [""],
        [],
        ["localhost", "evil.example"],
        ["localhost", "localhost"],
        ["x" * 10_000],
    ],
)
@pytest.mark.parametrize("path", ["/v1/models", "/health", "/", "/nowhere"])
def test_other_names_are_refused_before_anything_else(run, hosts, path) -> None:
    server = run()
    head = LINE.replace(b"/v1/models", path.encode()) + "".join(f"host: {host}\r\n" for host in hosts).encode("latin-1")
    message = check_error(send(server.url, head + b"\r\n"), 400)
    assert "host" in message.lower()
    assert len(message) < 300


def test_a_body_under_another_name_is_not_read(run) -> None:
    server = run()
    reply = httpx.post(f"{server.url}/v1/answers", json={"question": "q"}, headers={"host": "evil.example"})
    assert reply.status_code == 400
    assert not server.engine.drawn


def test_names_that_the_operator_allows(run) -> None:
    server = run(allowed_hosts="demur.example, Other.Example")
    for host in ("demur.example", "other.example:443", "localhost"):
        assert statuses(ask(server.url, host)) == [200]
    assert statuses(ask(server.url, "evil.example")) == [400]


def test_on_an_address_that_others_can_reach_any_name_goes_unless_some_are_given(run, make) -> None:
    server = run(host="0.0.0.0")
    assert statuses(ask(server.url, "10.0.0.7:8000")) == [200]
    assert statuses(ask(server.url)) == [200]
    strict = make(host="0.0.0.0", allowed_hosts=["demur.example"])
    assert strict.call("GET", "/health", headers={"host": "demur.example"}).status_code == 200
    refused = strict.call("GET", "/health", headers={"host": "evil.example"})
    assert (refused.status_code, refused.json()["error"]["type"]) == (400, "invalid_request")


def test_no_page_of_another_origin_gets_as_far_as_a_body(make) -> None:
    """What a browser sends without asking first has none of the types that JSON has."""
    body = json.dumps({"question": "q"})
    server = make()
    for kind in (
        "text/plain",
        "text/plain;application/json",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
    ):
        for path in ("/v1/answers", "/v1/chat/completions", "/v1/responses"):
            headers = {"content-type": kind, "origin": "http://evil.example"}
            assert server.call("POST", path, content=body, headers=headers).status_code == 400
    asked_first = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    reply = server.call("OPTIONS", "/v1/answers", headers=asked_first)
    assert reply.status_code == 405
    assert not [name for name in reply.headers if name.startswith("access-control")]
    assert not server.engine.drawn


@pytest.mark.parametrize(
    ("shown", "name"), [("A.b:80", "a.b"), ("[::1]:1", "::1"), ("a:b", ""), ("::1", ""), ("a:", "a"), ("", "")]
)
def test_the_host_of_a_header(shown, name) -> None:
    assert host_name(shown) == name
