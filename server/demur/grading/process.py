"""This side of the worker process: start it, ask it one thing at a time, end it."""

import json
import os
import select
import subprocess
import sys
from typing import Any

START_SECONDS = 60.0
REPLY_SECONDS = 10.0
"""Far beyond any limit the worker enforces itself: only a worker that is stopped or gone takes that long."""
ENDING_SECONDS = 1.0
"""For a worker that cannot start to be gone."""


class GraderError(RuntimeError):
    """The grading process cannot be started, or died more than once over one request."""


class Process:
    """One worker, which takes seconds to get ready. Not safe for two threads at once; `Grader` sees to that."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._killed = False
        self._popen = _spawn()

    def wait_until_ready(self, seconds: float = START_SECONDS) -> tuple[str, ...]:
        """The names of libraries that it goes without. Raises GraderError when it is not ready in time."""
        ready = self._read(seconds)
        if ready is None:
            why = self._why_not_ready(seconds)
            self.close()
            raise GraderError(f"the grading process did not start; {why}")
        return tuple(ready["missing"])

    def _why_not_ready(self, seconds: float) -> str:
        try:
            self._popen.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return f"it had {seconds:g} seconds: is the machine very busy?"
        return "it needs math-verify: pip install 'demur[server]'"

    def restart(self) -> None:
        """Another process in the place of one that is gone. Raises GraderError."""
        self.close()
        self._popen = _spawn()
        if self._killed:  # meanwhile, by another thread
            self.close()
        self.wait_until_ready()

    def kill(self) -> None:
        """End it now and for good; any thread may call this. Whoever waits for a reply gets none."""
        self._killed = True
        self._popen.kill()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def ask(self, operation: str, arguments: tuple[str, ...], limit: float) -> dict[str, Any] | None:
        """The worker's reply, or None when the worker is gone. `limit` is seconds of processor time."""
        if os.getpid() != self._owner:
            raise GraderError("a Grader cannot be used in a fork of the process that started it; start one there")
        request = json.dumps({"op": operation, "args": arguments, "limit": limit}).encode() + b"\n"
        assert self._popen.stdin is not None
        if self._killed:
            return None
        try:
            self._popen.stdin.write(request)
            self._popen.stdin.flush()
        except (BrokenPipeError, ValueError):  # ValueError: closed before, when its replacement could not be started
            return None
        return self._read(REPLY_SECONDS)

    def close(self) -> None:
        """End the process and what it forked. Closing twice does nothing."""
        for pipe in (self._popen.stdin, self._popen.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue
        try:
            self._popen.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()

    def _read(self, seconds: float) -> dict[str, Any] | None:
        stdout = self._popen.stdout
        assert stdout is not None
        if stdout.closed:
            return None
        ready, _, _ = select.select([stdout], [], [], seconds)
        line = stdout.readline() if ready else b""
        return json.loads(line) if line else None


def _spawn() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "demur.grading.fork_server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
