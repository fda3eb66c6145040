"""Rows are written behind the reply: a bounded queue, and one thread that empties it."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from demur.feedback.record import Row
from demur.observability.logs import logger

MOST_AT_ONCE = 500
GATHERING = 0.05
"""Seconds that the thread lets rows gather after the first: one transaction for many."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
"""Seconds until a write that failed is tried again."""


class Writer:
    """Hands rows to `write` in batches, in order. `tidy` is called every `every` seconds, between two batches.

    What comes while `most_waiting` rows wait is dropped, and `on_drop` told: an answer never waits for a disk.
    """

    def __init__(
        self,
        write: Callable[[Sequence[Row]], None],
        most_waiting: int,
        on_drop: Callable[[Row], None],
        tidy: Callable[[], None],
        every: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write, self._most, self._on_drop, self._tidy, self._every = write, most_waiting, on_drop, tidy, every
        self._clock, self._tidied = clock, clock()
        self._rows: deque[Row] = deque()
        self._changed = threading.Condition()
        self._put = self._done = 0
        self._hurried = self._closed = False
        self._thread = threading.Thread(target=self._run, name="demur-feedback", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def waiting(self) -> int:
        return len(self._rows)

    def put(self, row: Row) -> None:
        """Never blocks for longer than it takes to append."""
        with self._changed:
            if len(self._rows) < self._most and not self._closed:
                self._rows.append(row)
                self._put += 1
                if len(self._rows) == 1:
                    self._changed.notify_all()
                return
        self._on_drop(row)

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until all that was put before is written; whether it was, within `timeout` seconds."""
        with self._changed:
            target, self._hurried = self._put, True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._done >= target, timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Write what waits, as far as that goes within `timeout` seconds, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout)
        if left := self.waiting:
            logger.error("answers were not written", extra={"fields": {"answers": left}})

    def _run(self) -> None:
        pause = FIRST_PAUSE
        while True:
            batch = self._next()
            if batch is None:
                return
            try:
                if batch:
                    self._write(batch)
                self._tidy_in_time(batch)
                pause = FIRST_PAUSE
            except Exception:  # noqa: BLE001  whatever a driver raises, the next try may work
                logger.exception("answers could not be written; trying again")
                if self._gave_up(pause):
                    return
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                self._finish(len(batch))

    def _tidy_in_time(self, batch: list[Row]) -> None:
        """Also where there is always something to write."""
        if not batch or self._clock() - self._tidied >= self._every:
            self._tidied = self._clock()
            self._tidy()

    def _next(self) -> list[Row] | None:
        """A batch, an empty one when there was nothing to do for a while, or None at the end."""
        with self._changed:
            if not self._rows and not self._closed and not self._changed.wait_for(self._awake, self._every):
                return []
            if not self._rows:
                return None
            if not (self._hurried or self._closed):
                self._changed.wait_for(lambda: self._hurried or self._closed, GATHERING)
            return [self._rows[i] for i in range(min(len(self._rows), MOST_AT_ONCE))]

    def _awake(self) -> bool:
        return bool(self._rows) or self._closed

    def _finish(self, count: int) -> None:
        """Rows leave the queue when they are in the database."""
        with self._changed:
            for _ in range(count):
                self._rows.popleft()
            self._done += count
            self._hurried = self._hurried and bool(self._rows)
            self._changed.notify_all()

    def _gave_up(self, pause: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._closed, pause)
