"""Admission control: which requests start, wait or are refused; bounded in samples and tokens, fair between callers.

A request with 64 samples is not one with a single sample, so requests are not what is counted. What does not fit
waits in a queue of its caller's own. The queues take turns by the tokens they were served, so that a caller who floods
the server waits behind itself only; when the queues are full, the longest one loses its last request.
"""

import asyncio
import math
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from demur.answering.deadline import Deadline
from demur.api.errors import ApiError, stopping
from demur.observability.metrics import Metrics

SHORTEST_PAUSE, LONGEST_PAUSE = 1, 60
"""Bounds of Retry-After, in seconds."""
_NEWEST_WEIGHT = 0.1
"""Weight of the newest request in the moving average of seconds in the engine."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of work, or a capacity for it. `tokens` are the most that may be read and written."""

    samples: int = 0
    tokens: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.samples + other.samples, self.tokens + other.tokens)

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.samples - other.samples, self.tokens - other.tokens)

    def fits(self, capacity: "Cost") -> bool:
        """Whether `capacity` has room for this, in samples and in tokens."""
        return self.samples <= capacity.samples and self.tokens <= capacity.tokens

    def share(self, capacity: "Cost") -> float:
        """The share of `capacity` that this takes, of whichever of the two is scarcer."""
        return max(self.samples / max(capacity.samples, 1), self.tokens / max(capacity.tokens, 1))


@dataclass(slots=True, eq=False)
class Ticket:
    """One request that asks to be admitted. `turn` is what its queue had been served when it came, in tokens."""

    caller: str
    cost: Cost
    at_most: int | None
    turn: int = 0
    queued: bool = False
    started: float | None = None
    admitted: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass(slots=True, eq=False)
class CallerQueue:
    """The queued requests of one caller, and what they cost together."""

    tickets: deque[Ticket] = field(default_factory=deque[Ticket])
    cost: Cost = Cost()


class Admission:
    """The admission state of one server: `capacity` bounds the engine's work, `queue_capacity` what waits for it.

    A request larger than the whole capacity starts when nothing else runs.
    """

    def __init__(self, capacity: Cost, queue_capacity: Cost, metrics: Metrics) -> None:
        self.capacity = capacity
        self.queue_capacity = queue_capacity
        self.running = Cost()
        self.queued = Cost()
        self._metrics = metrics
        self._queues: dict[str, CallerQueue] = {}
        self._served: dict[str, int] = {}
        self._now_serving = 0
        self._samples_of: dict[str, int] = {}
        self._deadlines: set[Deadline] = set()
        self._usual_seconds = float(SHORTEST_PAUSE)
        self._closed = False

    @property
    def waiting_requests(self) -> int:
        return sum(len(queue.tickets) for queue in self._queues.values())

    @asynccontextmanager
    async def admitted(
        self, caller: str, cost: Cost, deadline: Deadline, *, at_most: int | None = None
    ) -> AsyncGenerator[None, None]:
        """Wait until the work may start; inside the block it may be done.

        `at_most` is how many samples this caller may have running at once. Raises ApiError 429 when the queues are
        full, on arrival or when the request is pushed out later, 503 when the server stops, and what `deadline` raises.
        """
        clock = asyncio.get_running_loop().time
        ticket, came = Ticket(caller, cost, at_most), clock()
        self._enqueue(ticket)
        try:
            await deadline.bound(ticket.admitted)
            self._metrics.admission.queue_seconds.observe(clock() - came)
            self._deadlines.add(deadline)
            yield
        finally:
            self._deadlines.discard(deadline)
            self._leave(ticket)

    def close(self) -> None:
        """Refuse queued and new requests because the server stops; running ones go on."""
        self._closed = True
        for queue in list(self._queues.values()):
            for ticket in list(queue.tickets):
                self._refuse(ticket, stopping(), "stopping")

    def abort_running(self) -> None:
        """End the running requests with an error that says why."""
        for deadline in self._deadlines:
            deadline.expire(stopping())

    def _enqueue(self, ticket: Ticket) -> None:
        if self._closed:
            self._metrics.admission.refused.labels("stopping").inc()
            raise stopping()
        ticket.turn = max(self._now_serving, self._served.get(ticket.caller, 0))
        self._served[ticket.caller] = ticket.turn + ticket.cost.tokens
        self._join(ticket)
        self._admit()
        if ticket.queued and not ticket.cost.fits(self.queue_capacity):
            self._refuse(ticket, self._busy(), "queue_full")
        while not self.queued.fits(self.queue_capacity):
            longest = max(self._queues.values(), key=lambda queue: queue.cost.share(self.queue_capacity))
            last = longest.tickets[-1]
            self._refuse(last, self._busy(), "queue_full" if last is ticket else "pushed_out")
        self._admit()
        if ticket.admitted.done():
            ticket.admitted.result()

    def _admit(self) -> None:
        """Start whoever's turn it is while there is capacity. Nobody overtakes a request that waits for capacity."""
        while (ticket := self._next()) is not None:
            if self.running.samples and not (self.running + ticket.cost).fits(self.capacity):
                return
            self._now_serving = max(self._now_serving, ticket.turn)
            self._dequeue(ticket)
            ticket.started = asyncio.get_running_loop().time()
            self.running += ticket.cost
            self._samples_of[ticket.caller] = self._samples_of.get(ticket.caller, 0) + ticket.cost.samples
            ticket.admitted.set_result(None)

    def _next(self) -> Ticket | None:
        """The head of the queue that was served least, of those whose caller has not too much running."""
        heads = (queue.tickets[0] for queue in self._queues.values())
        return min(filter(self._may_have_more, heads), key=lambda ticket: ticket.turn, default=None)

    def _may_have_more(self, ticket: Ticket) -> bool:
        running = self._samples_of.get(ticket.caller, 0)
        return ticket.at_most is None or not running or running + ticket.cost.samples <= ticket.at_most

    def _leave(self, ticket: Ticket) -> None:
        """Whatever became of it: done, turned away, or given up by the caller."""
        if ticket.started is not None:
            seconds = asyncio.get_running_loop().time() - ticket.started
            self._usual_seconds += _NEWEST_WEIGHT * (seconds - self._usual_seconds)
            self.running -= ticket.cost
            self._samples_of[ticket.caller] -= ticket.cost.samples
            if not self._samples_of[ticket.caller]:
                del self._samples_of[ticket.caller]
        elif ticket.queued:
            self._dequeue(ticket)
        elif not ticket.admitted.cancelled():
            ticket.admitted.exception()  # seen, even if whoever waited for it went away in the same moment
        self._admit()

    def _refuse(self, ticket: Ticket, error: ApiError, reason: str) -> None:
        """Only ever the last of its queue, or the whole queue."""
        self._metrics.admission.refused.labels(reason).inc()
        self._served[ticket.caller] = ticket.turn
        self._dequeue(ticket)
        if not ticket.admitted.done():
            ticket.admitted.set_exception(error)

    def _join(self, ticket: Ticket) -> None:
        queue = self._queues.setdefault(ticket.caller, CallerQueue())
        queue.tickets.append(ticket)
        queue.cost += ticket.cost
        self.queued += ticket.cost
        ticket.queued = True

    def _dequeue(self, ticket: Ticket) -> None:
        queue = self._queues[ticket.caller]
        queue.tickets.remove(ticket)
        queue.cost -= ticket.cost
        self.queued -= ticket.cost
        ticket.queued = False
        if not queue.tickets:
            del self._queues[ticket.caller]
        if not self._queues:  # who was served how much matters only while somebody waits
            self._served.clear()
            self._now_serving = 0

    def _busy(self) -> ApiError:
        waits = self._usual_seconds * (1 + self.queued.share(self.capacity))
        pause = min(max(math.ceil(waits), SHORTEST_PAUSE), LONGEST_PAUSE)
        return ApiError(429, "rate_limited", "the server is busy; try again later", headers={"retry-after": str(pause)})
