"""A server that is ended while its engine is still loading leaves no process of it behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from engine_processes import engines_of

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(400)]

WITHIN = 120.0
"""Seconds that an engine's process may take to appear, which comes after vLLM's import."""

NOTICED = 1.0
"""Seconds in which the server itself has seen that process: it looks for one ten times a second."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_engine_that_is_loading_ends_with_its_server(tiny_model: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "demur", "serve", "--model", str(tiny_model), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        loading = engine_of(psutil.Process(server.pid))
        time.sleep(NOTICED)
        server.send_signal(number)
        _, alive = psutil.wait_procs([loading], timeout=30)
        for process in alive:
            process.kill()  # it holds the server's output, and would outlive this test
        said, _ = server.communicate(timeout=30)
    assert (server.returncode, said, alive) == (-number, "", [])


def engine_of(server: psutil.Process) -> psutil.Process:
    """The process that loads the model, as soon as it is one of vLLM's."""
    until = time.monotonic() + WITHIN
    while time.monotonic() < until:
        if found := engines_of(server):
            return found[0]
        time.sleep(0.1)
    raise AssertionError("no engine was started")
