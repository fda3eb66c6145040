"""A logging handler that never makes its caller wait: lines go through a bounded queue to a thread that writes them.

A terminal, a pipe or a container's log driver may stop reading. A write then blocks for as long as that lasts, and on
an event loop that is the end of the server. Here lines are dropped and counted instead.
"""

import logging
import os
import queue
import threading
import time
from contextlib import suppress

from prometheus_client import Counter

LINGER = 0.1
"""Seconds that the thread lets lines gather before it writes them together: to wake it for each takes time from the
thread that answers, which is an eighth of what a short answer costs there."""
WAITING = 10_000
"""Lines that may wait to be written; what comes on top is dropped."""
DRAIN_TIMEOUT = 1.0
"""Seconds that the end of the process waits for lines to be written."""

# Of the process, like the log itself: every app in it is asked for the same number.
DROPPED = Counter("demur_log_lines_dropped", "Log lines dropped because whoever reads the log did not keep up.")


class LogWriter(logging.Handler):
    """Writes to the file descriptor `fd` from a daemon thread. Records are formatted by the caller."""

    def __init__(self, fd: int, waiting: int = WAITING) -> None:
        super().__init__()
        # Of its own: a thread that is stuck in sys.stderr would hold a lock that others, and the end of Python, want.
        self._fd = os.dup(fd)
        self._lines: queue.Queue[bytes] = queue.Queue(waiting)
        self._dropped = 0
        threading.Thread(target=self._write_all, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.say(self.format(record))
        except Exception:  # noqa: BLE001 - a line that cannot be written must not end what it tells of
            self._drop()

    def say(self, line: str) -> None:
        """Write a line as it is, after those that wait."""
        try:
            self._lines.put_nowait(line.encode("utf-8", "backslashreplace") + b"\n")
        except queue.Full:
            self._drop()

    def flush(self) -> None:
        """Wait until everything is written, but not long."""
        end = time.monotonic() + DRAIN_TIMEOUT
        while self._lines.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.005)

    def _drop(self) -> None:
        DROPPED.inc()
        self._dropped += 1

    def _write_all(self) -> None:
        while True:
            lines = [self._lines.get()]
            time.sleep(LINGER)
            with suppress(queue.Empty):
                while True:
                    lines.append(self._lines.get_nowait())
            self._write(b"".join(lines))
            for _ in lines:
                self._lines.task_done()
            if self._dropped:
                lost, self._dropped = self._dropped, 0
                self._write(self._told_of(lost))

    def _told_of(self, lost: int) -> bytes:
        record = {"name": __name__, "levelname": "WARNING", "msg": "log lines were dropped", "fields": {"lines": lost}}
        return self.format(logging.makeLogRecord(record)).encode() + b"\n"

    def _write(self, line: bytes) -> None:
        """Blocks while nobody reads. A descriptor that was closed takes nothing any more, and that is its matter."""
        while line:
            try:
                line = line[os.write(self._fd, line) :]
            except OSError:
                return
