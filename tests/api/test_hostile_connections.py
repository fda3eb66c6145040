"""Bytes that come before a key is asked for: bounded in size, number and time, whatever they are."""

import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress

import httpx
import pytest

from demur.engine.scripted import Gate, Script, ScriptedEngine
from demur.serving.protocol import MAX_HEAD, MAX_HEADERS, MAX_PIPELINED
from raw_http import check_error, connect, read, send, statuses

MIB = 1 << 20
START = b"POST /v1/answers HTTP/1.1\r\nhost: 127.0.0.1\r\n"
CHUNKED = START + b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
GET = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
BODY = b'{"question": "q"}'


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        ([b"GET /", b"a" * MAX_HEAD, b" HTTP/1.1\r\nhost: h\r\n\r\n"], 414),
        ([b"GET /health?", *[b"a" * MIB] * 20], 414),
        ([START + b"x: ", b"y" * MAX_HEAD, b"\r\n\r\n"], 431),
        ([START + b"x: ", *[b"y" * MIB] * 20], 431),
        ([START, *[b"x" * MIB] * 20], 431),
        ([START, b"x: y\r\n" * (MAX_HEADERS + 1), b"\r\n"], 431),
        ([START, *[b"a:\r\n" * 100_000] * 20], 431),
        ([START, b"authorization: Bearer ", b"k" * MAX_HEAD, b"\r\n\r\n"], 431),
        ([CHUNKED, *[b"1;" + b"e" * MIB] * 20], 400),
        ([CHUNKED, *[b"1;" + b"e" * 60_000 + b"\r\n \r\n"] * 300], 400),
        ([CHUNKED, *[b"1\r\n \r\n" * 100_000] * 20], 400),
        ([CHUNKED, b"1\r\n \r\n0\r\n", b"t: " + b"r" * MIB, *[b"r" * MIB] * 20], 400),
        ([CHUNKED, b"0\r\n", b"t: r\r\n" * (MAX_HEADERS + 1)], 431),
        ([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], 400),
        ([b"GET / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n"], 400),
    ],
    ids=lambda value: repr(value[0][:40]) if isinstance(value, list) else None,
)
def test_what_stands_beside_a_body_is_bounded(run, pieces, status) -> None:
    server = run()
    assert check_error(send(server.url, *pieces), status)
    assert httpx.post(f"{server.url}/v1/answers", json={"question": "still there?"}).status_code == 200


def test_the_refusal_names_the_limit(run) -> None:
    server = run()
    assert str(MAX_HEAD) in check_error(send(server.url, START + b"x: " + b"y" * 70_000), 431)
    assert str(MAX_HEAD) in check_error(send(server.url, b"GET /" + b"y" * 70_000), 414)


def test_a_head_within_the_limit_is_taken_however_it_is_cut(run) -> None:
    server = run()
    padding = b"x: " + b"y" * (MAX_HEAD - 500) + b"\r\n"
    request = START + padding + b"content-type: application/json\r\nconnection: close\r\n"
    request += b"content-length: %d\r\n\r\n" % len(BODY) + BODY
    for size in (len(request), 1_000, 65_536):
        pieces = [request[start : start + size] for start in range(0, len(request), size)]
        assert statuses(send(server.url, *pieces)) == [200]


def test_a_chunked_body_of_ordinary_chunks_is_taken(run) -> None:
    server = run()
    body = json.dumps({"question": "q", "model": "demur-test"}).encode() + b" " * 500_000
    chunks = [body[start : start + 100] for start in range(0, len(body), 100)]
    reply = httpx.post(f"{server.url}/v1/answers", content=iter(chunks), headers={"content-type": "application/json"})
    assert reply.status_code == 200


def test_trailers_are_no_headers(run) -> None:
    server = run()
    request = CHUNKED.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
    chunk = b"%x\r\n" % len(BODY) + BODY + b"\r\n"
    received = send(server.url, request + chunk + b"0\r\nx-request-id: from-a-trailer\r\n\r\n")
    assert statuses(received) == [200]
    assert b"from-a-trailer" not in received


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        ([b"GET /hea"], 408),
        ([START], 408),
        ([START + b"x: y\r\nz"], 408),
        ([CHUNKED], 408),
        ([CHUNKED, b"5\r\n    "], 408),
        ([START + b"content-length: 100\r\n\r\n{"], 408),
        ([], None),
        ([b"\r\n\r\n"], None),
    ],
    ids=repr,
)
def test_what_does_not_come_is_not_waited_for(run, pieces, status) -> None:
    server = run(receive_timeout=0.2)
    received = send(server.url, *pieces)
    assert statuses(received) == ([status] if status else [])
    if status:
        assert b"0.2 seconds" in received


def test_an_idle_connection_is_kept_for_as_long_as_the_operator_says(run) -> None:
    server = run(idle_timeout=2)
    with connect(server.url) as connection:
        connection.sendall(GET)
        assert statuses(connection.recv(1 << 16)) == [200]
        answered = time.monotonic()
        assert connection.recv(1 << 16) == b""
        assert 1 < time.monotonic() - answered < 4  # uvicorn's own is 5


def test_a_body_that_trickles_is_cut_off_in_time(run) -> None:
    server = run(receive_timeout=0.3)
    with connect(server.url) as connection:
        connection.sendall(START + b"content-length: 1000000\r\n\r\n")
        connection.settimeout(0.02)
        received = b""
        while not received:
            connection.sendall(b" ")
            with suppress(TimeoutError):
                received = connection.recv(1 << 16)
    assert statuses(received) == [408]


def test_the_rest_of_an_unwanted_body_leaves_the_connection_usable(run, tmp_path) -> None:
    server = run(keys='{"keys": []}')
    with connect(server.url) as connection:
        connection.sendall(START + b"content-length: 10\r\n\r\n")
        assert statuses(connection.recv(1 << 16)) == [401]
        connection.sendall(b"x" * 10 + GET)
        assert statuses(connection.recv(1 << 16)) == [200]


def test_the_rest_of_an_endless_body_is_not_parsed_for_ever(run) -> None:
    server = run(keys='{"keys": []}')
    assert statuses(send(server.url, CHUNKED, *[b"10000\r\n" + b" " * 65_536 + b"\r\n"] * 400)) == [401]


def test_requests_that_wait_in_one_connection_are_bounded(run) -> None:
    server = run()
    received = send(server.url, GET * 5_000)
    assert set(statuses(received)) == {200}
    assert len(statuses(received)) == MAX_PIPELINED + 1


def test_an_earlier_request_is_answered_before_a_broken_one_ends_the_connection(run) -> None:
    gate = Gate()
    server = run(ScriptedEngine({"q": Script(["Answer: 4\nConfidence: 0.9"], gates={0: gate})}))
    head = START + b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(BODY)
    with connect(server.url) as connection:
        connection.sendall(head + BODY + b"GET /" + b"a" * 70_000)
        gate.wait_reached()
        gate.open()
        assert statuses(read(connection)) == [200]


def test_connections_are_kept_alive(run: Callable[..., object]) -> None:
    server = run()
    with connect(server.url) as connection:
        for _ in range(40):
            connection.sendall(GET)
            assert statuses(connection.recv(1 << 16)) == [200]


def test_a_stream_that_nobody_reads_ends_with_its_deadline(run) -> None:
    text = f"{'w' * 50_000} " * 300  # far more than sockets hold
    server = run(ScriptedEngine({"q": Script([text + "\nAnswer: 4\nConfidence: 0.9"])}))
    asked = json.dumps(
        {"question": "q", "stream": True, "risk_threshold": 0, "timeout": 5, "max_tokens": 1_000}
    ).encode()
    head = START + b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(asked)
    with connect(server.url) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.sendall(head + asked)
        assert statuses(connection.recv(4_000)) == [200]
        for _ in range(150):
            running = httpx.get(f"{server.url}/metrics").text.split("\ndemur_running_samples ")[1].split()[0]
            if float(running) == 0:
                break
            time.sleep(0.1)
        assert float(running) == 0
