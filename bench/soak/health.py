"""How long `/health` is silent, asked from a process of its own: a client that is busy would measure itself."""

import http.client
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event

from bench.soak.wire import HOST

EVERY = 0.05
PATIENCE = 60.0


@contextmanager
def asking_health(port: int) -> Iterator[list[float]]:
    """Seconds that each reply took; filled when the block ends."""
    context = multiprocessing.get_context("spawn")
    took, (reads, writes), stop = list[float](), context.Pipe(duplex=False), context.Event()
    process = context.Process(target=_ask, args=(port, writes, stop), daemon=True)
    process.start()
    reads.recv()  # it asks from now on
    try:
        yield took
    finally:
        stop.set()
        took += reads.recv()
        process.join()


def _ask(port: int, told: Connection, stop: Event) -> None:
    took = list[float]()
    told.send(None)
    while not stop.wait(EVERY):
        connection, began = http.client.HTTPConnection(HOST, port, timeout=PATIENCE), time.perf_counter()
        try:
            connection.request("GET", "/health")
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            took.append(PATIENCE)
        else:
            took.append(time.perf_counter() - began)
        finally:
            connection.close()
    told.send(took)
