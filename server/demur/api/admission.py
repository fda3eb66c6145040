"""Who may start now, who waits and who is turned away: bounded in samples and tokens, fair between callers.

A request with 64 samples is not one with a single sample, so requests are not what is counted. What does not fit
waits in a line of its caller's own. The lines take turns by the tokens they were served, so that a caller who floods
the server waits behind itself only; when the waiting room is full, the longest line loses its last.
"""

import asyncio
import math
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from demur.answering.deadline import Deadline
from demur.api.errors import ApiError, stopping
from demur.observability import Metrics

SHORTEST_PAUSE, LONGEST_PAUSE = 1, 60
"""Bounds of Retry-After, in seconds."""
_NEWEST = 0.1
"""How much of the usual time in the engine the last request tells."""


@dataclass(frozen=True, slots=True)
class Load:
    """Work, or room for it. `tokens` are the most that may be read and written."""

    samples: int = 0
    tokens: int = 0

    def __add__(self, other: "Load") -> "Load":
        return Load(self.samples + other.samples, self.tokens + other.tokens)

    def __sub__(self, other: "Load") -> "Load":
        return Load(self.samples - other.samples, self.tokens - other.tokens)

    def fits(self, room: "Load") -> bool:
        return self.samples <= room.samples and self.tokens <= room.tokens

    def share(self, room: "Load") -> float:
        """Of `room`, whichever of the two is scarcer."""
        return max(self.samples / max(room.samples, 1), self.tokens / max(room.tokens, 1))


@dataclass(slots=True, eq=False)
class Ticket:
    """One request at the door. `turn` is what its line had been served when it came, in tokens."""

    caller: str
    load: Load
    at_most: int | None
    turn: int = 0
    queued: bool = False
    started: float | None = None
    admitted: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass(slots=True, eq=False)
class Line:
    """The requests of one caller that wait, and what they come to."""

    tickets: deque[Ticket] = field(default_factory=deque[Ticket])
    load: Load = Load()


class Admission:
    """The door of one server. `room` is for what the engine works on, `waiting_room` for what waits for it.

    A request larger than the whole room starts when nothing else runs.
    """

    def __init__(self, room: Load, waiting_room: Load, metrics: Metrics) -> None:
        self.room = room
        self.waiting_room = waiting_room
        self.inside = Load()
        self.waiting = Load()
        self._metrics = metrics
        self._lines: dict[str, Line] = {}
        self._served: dict[str, int] = {}
        self._now_serving = 0
        self._samples_of: dict[str, int] = {}
        self._deadlines: set[Deadline] = set()
        self._usual_seconds = float(SHORTEST_PAUSE)
        self._closed = False

    @property
    def waiting_requests(self) -> int:
        return sum(len(line.tickets) for line in self._lines.values())

    @asynccontextmanager
    async def admitted(
        self, caller: str, load: Load, deadline: Deadline, *, at_most: int | None = None
    ) -> AsyncGenerator[None, None]:
        """Inside, the work may be done. `at_most` is how many samples this caller may have running at once.

        Raises ApiError 429 at once when there is no room to wait either, 503 when the server stops, and what
        `deadline` raises.
        """
        clock = asyncio.get_running_loop().time
        ticket, came = Ticket(caller, load, at_most), clock()
        self._line_up(ticket)
        try:
            await deadline.bound(ticket.admitted)
            self._metrics.queue_seconds.observe(clock() - came)
            self._deadlines.add(deadline)
            yield
        finally:
            self._deadlines.discard(deadline)
            self._leave(ticket)

    def close(self) -> None:
        """The server stops: everybody who waits or comes from now on is told so, who is inside stays."""
        self._closed = True
        for line in list(self._lines.values()):
            for ticket in list(line.tickets):
                self._turn_away(ticket, stopping(), "stopping")

    def empty(self) -> None:
        """End what is still inside, and tell it why."""
        for deadline in self._deadlines:
            deadline.end(stopping())

    def _line_up(self, ticket: Ticket) -> None:
        if self._closed:
            self._metrics.refused.labels("stopping").inc()
            raise stopping()
        ticket.turn = max(self._now_serving, self._served.get(ticket.caller, 0))
        self._served[ticket.caller] = ticket.turn + ticket.load.tokens
        self._join(ticket)
        self._admit()
        if ticket.queued and not ticket.load.fits(self.waiting_room):
            self._turn_away(ticket, self._busy(), "queue_full")
        while not self.waiting.fits(self.waiting_room):
            longest = max(self._lines.values(), key=lambda line: line.load.share(self.waiting_room))
            last = longest.tickets[-1]
            self._turn_away(last, self._busy(), "queue_full" if last is ticket else "pushed_out")
        self._admit()
        if ticket.admitted.done():
            ticket.admitted.result()

    def _admit(self) -> None:
        """Let in whoever's turn it is, as long as there is room. Nobody overtakes a request that waits for room."""
        while (ticket := self._next()) is not None:
            if self.inside.samples and not (self.inside + ticket.load).fits(self.room):
                return
            self._now_serving = max(self._now_serving, ticket.turn)
            self._step_out(ticket)
            ticket.started = asyncio.get_running_loop().time()
            self.inside += ticket.load
            self._samples_of[ticket.caller] = self._samples_of.get(ticket.caller, 0) + ticket.load.samples
            ticket.admitted.set_result(None)

    def _next(self) -> Ticket | None:
        """The head of the line that was served least, of those whose caller has not too much running."""
        heads = (line.tickets[0] for line in self._lines.values())
        return min(filter(self._may_have_more, heads), key=lambda ticket: ticket.turn, default=None)

    def _may_have_more(self, ticket: Ticket) -> bool:
        running = self._samples_of.get(ticket.caller, 0)
        return ticket.at_most is None or not running or running + ticket.load.samples <= ticket.at_most

    def _leave(self, ticket: Ticket) -> None:
        """Whatever became of it: done, turned away, or given up by the caller."""
        if ticket.started is not None:
            seconds = asyncio.get_running_loop().time() - ticket.started
            self._usual_seconds += _NEWEST * (seconds - self._usual_seconds)
            self.inside -= ticket.load
            self._samples_of[ticket.caller] -= ticket.load.samples
            if not self._samples_of[ticket.caller]:
                del self._samples_of[ticket.caller]
        elif ticket.queued:
            self._step_out(ticket)
        elif not ticket.admitted.cancelled():
            ticket.admitted.exception()  # seen, even if whoever waited for it went away in the same moment
        self._admit()

    def _turn_away(self, ticket: Ticket, error: ApiError, reason: str) -> None:
        """Only ever the last of its line, or the whole line."""
        self._metrics.refused.labels(reason).inc()
        self._served[ticket.caller] = ticket.turn
        self._step_out(ticket)
        if not ticket.admitted.done():
            ticket.admitted.set_exception(error)

    def _join(self, ticket: Ticket) -> None:
        line = self._lines.setdefault(ticket.caller, Line())
        line.tickets.append(ticket)
        line.load += ticket.load
        self.waiting += ticket.load
        ticket.queued = True

    def _step_out(self, ticket: Ticket) -> None:
        line = self._lines[ticket.caller]
        line.tickets.remove(ticket)
        line.load -= ticket.load
        self.waiting -= ticket.load
        ticket.queued = False
        if not line.tickets:
            del self._lines[ticket.caller]
        if not self._lines:  # who was served how much matters only while somebody waits
            self._served.clear()
            self._now_serving = 0

    def _busy(self) -> ApiError:
        waits = self._usual_seconds * (1 + self.waiting.share(self.room))
        pause = min(max(math.ceil(waits), SHORTEST_PAUSE), LONGEST_PAUSE)
        return ApiError(429, "rate_limited", "the server is busy; try again later", headers={"retry-after": str(pause)})
