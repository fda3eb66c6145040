"""Whoever reads the log may stop reading: lines are dropped and counted, and the server goes on."""

import fcntl
import json
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from demur.log_writer import DROPPED, LogWriter
from demur.observability.logs import JsonFormatter

REQUESTS = 1000
"""Some times more than fill a small pipe with their lines."""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The ends of the smallest pipe there is."""
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    yield reads, writes
    os.close(writes)
    os.close(reads)


def logger_to(writer: LogWriter) -> logging.Logger:
    writer.setFormatter(JsonFormatter())
    logger = logging.Logger("demur.test")
    logger.addHandler(writer)
    return logger


def dropped() -> float:
    return DROPPED.collect()[0].samples[0].value


def test_lines_are_written_in_order_and_flushed(pipe) -> None:
    reads, writes = pipe
    writer = LogWriter(writes)
    logger = logger_to(writer)
    for i in range(5):
        logger.info("line %d \ud800", i)
    writer.flush()
    lines = [json.loads(line) for line in os.read(reads, 4096).splitlines()]
    assert [line["message"][:6] for line in lines] == [f"line {i}" for i in range(5)]


def test_nobody_waits_for_a_reader_that_stalls_and_what_was_dropped_is_told(pipe) -> None:
    reads, writes = pipe
    logger = logger_to(LogWriter(writes, waiting=8))
    before = dropped()
    for i in range(200):
        logger.info("x" * 1000, extra={"fields": {"i": i}})
    lost = dropped() - before
    assert lost > 150

    with os.fdopen(os.dup(reads)) as lines:
        told = next(line for line in map(json.loads, lines) if "lines" in line)
    assert (told["level"], told["message"]) == ("warning", "log lines were dropped")
    assert 0 < told["lines"] <= lost


def test_a_reader_that_is_gone_is_no_error(pipe) -> None:
    closed, writes = os.pipe()
    os.close(closed)
    writer = LogWriter(writes)
    os.close(writes)
    logger_to(writer).error("to nobody")
    writer.flush()


def test_a_server_whose_log_nobody_reads_answers_and_stops(pipe) -> None:
    _, writes = pipe
    command = [sys.executable, "-m", "demur", "serve", "--engine", "scripted", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=writes, text=True) as running:
        try:
            assert running.stdout is not None
            said = re.search(r"http://\S+", running.stdout.readline())
            assert said is not None
            with httpx.Client(base_url=said[0], timeout=20) as client:
                for _ in range(REQUESTS):
                    assert client.get("/v1/models").status_code == 200
            running.send_signal(signal.SIGTERM)
            assert running.wait(20) == 0
        finally:
            running.kill()
