"""How long `/health` is silent, asked from a process of its own: a client that is busy would measure itself.

A server that does nothing is asked at the same time. Where it is as slow, the machine was busy with something else.
"""

import http.client
import http.server
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event

from bench.soak.result import percentile
from bench.soak.wire import HOST

EVERY = 0.05
PATIENCE = 60.0
LONGEST_SILENCE = 0.25

Asked = list[tuple[float, float]]
"""When each request was sent, on the machine's clock, and how many seconds its reply took."""


@dataclass(slots=True)
class Health:
    """What was asked; filled when the asking ends."""

    asked: Asked = field(default_factory=list[tuple[float, float]])
    idle: Asked = field(default_factory=list[tuple[float, float]])

    @property
    def longest(self) -> float:
        """Seconds of the longest silence, beyond that of the idle server in the same time."""
        return max(took - self._idle_beside(began, began + took) for began, took in self.asked)

    @property
    def text(self) -> str:
        took, idle = [took for _, took in self.asked], max(took for _, took in self.idle)
        spread = ", ".join(f"{percentile(took, share):.3f}" for share in (0.5, 0.99, 1.0))
        return f"{spread}; an idle server at most {idle:.3f}"

    @property
    def is_never_silent(self) -> bool:
        return self.longest < LONGEST_SILENCE

    def _idle_beside(self, began: float, end: float) -> float:
        return max((took for start, took in self.idle if start < end and start + took > began), default=0.0)


@contextmanager
def asking_health(port: int) -> Iterator[Health]:
    """Ask 20 times a second until the block ends."""
    context = multiprocessing.get_context("spawn")
    (reads_port, writes_port), stop = context.Pipe(duplex=False), context.Event()
    idle = context.Process(target=_idle_server, args=(writes_port,), daemon=True)
    idle.start()
    asking: list[tuple[Connection, BaseProcess]] = []
    for one in (port, reads_port.recv()):
        reads, writes = context.Pipe(duplex=False)
        process = context.Process(target=_ask, args=(one, writes, stop), daemon=True)
        process.start()
        reads.recv()  # it asks from now on
        asking.append((reads, process))
    health = Health()
    try:
        yield health
    finally:
        stop.set()
        for (reads, process), told in zip(asking, (health.asked, health.idle), strict=True):
            told += reads.recv()
            process.join()
        idle.terminate()
        idle.join()


def _ask(port: int, told: Connection, stop: Event) -> None:
    asked: Asked = []
    told.send(None)
    while not stop.wait(EVERY):
        connection, began = http.client.HTTPConnection(HOST, port, timeout=PATIENCE), time.monotonic()
        try:
            connection.request("GET", "/health")
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            asked.append((began, PATIENCE))
        else:
            asked.append((began, time.monotonic() - began))
        finally:
            connection.close()
    told.send(asked)


class _Idle(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def _idle_server(told: Connection) -> None:
    with http.server.HTTPServer((HOST, 0), _Idle) as server:
        told.send(server.server_port)
        server.serve_forever()
