"""Bytes over a socket, for what no HTTP client would send."""

import json
import re
import socket
from contextlib import suppress
from urllib.parse import urlsplit


def connect(url: str) -> socket.socket:
    place = urlsplit(url)
    assert place.hostname
    assert place.port
    return socket.create_connection((place.hostname, place.port), timeout=30)


def send(url: str, *pieces: bytes) -> bytes:
    """Everything that comes back until the server closes; it may do so before all is sent."""
    with connect(url) as connection:
        with suppress(ConnectionError):
            for piece in pieces:
                connection.sendall(piece)
        return read(connection)


def read(connection: socket.socket) -> bytes:
    received = b""
    with suppress(ConnectionError):
        while piece := connection.recv(1 << 16):
            received += piece
    return received


def statuses(received: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]


def check_error(received: bytes, status: int) -> str:
    """The one reply is an error in the one shape that closes the connection; gives its message."""
    head, _, body = received.partition(b"\r\n\r\n")
    assert statuses(received) == [status], received[:300]
    assert b"connection: close" in head
    error = json.loads(body)["error"]
    assert error.keys() == {"type", "code", "message", "param", "request_id"}
    assert f"x-request-id: {error['request_id']}".encode() in head
    return error["message"]
