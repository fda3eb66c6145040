"""Which upstream draws the next sample: a circuit breaker for each of them, and the least loaded that is well.

A failure lets a host rest, for longer with each failure in a row. After the rest it is half open: one sample at a time
goes there, until one of them comes to its end. Only that makes it well again. That it lists its models does not, for a
host can do that and refuse every question.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager

from demur.backoff import exponential
from demur.engine.host_client import HostClient
from demur.engine.upstreams import Upstream

FIRST_REST = 1.0
LONGEST_REST = 30.0
"""Seconds an upstream is left alone after a failure: doubled with each failure in a row."""
SILENT = 10.0
"""Seconds: a host that said nothing to anybody for so long has failed a caller who gives up waiting."""
DISPUTED = 3
"""A host that refuses so many requests in a row that others take is itself at fault."""


class Host:
    """An upstream with its connection pool, its load and how it has been doing."""

    def __init__(self, upstream: Upstream, client: HostClient) -> None:
        self.upstream = upstream
        self.client = client
        self.in_flight = 0
        self.rests_until = 0.0
        self._failures = 0
        self._disputed = 0
        self._probes = 0
        self._answers = True
        self._spoke = 0.0

    @property
    def is_unhealthy(self) -> bool:
        """Whether the host counts as unhealthy: from a failure on, until a sample came to its end."""
        return self._failures > 0 or not self._answers

    def has_room_for(self, samples: int) -> bool:
        """Whether it may work on so many more."""
        return self.in_flight + samples <= self.upstream.limit

    @property
    def is_half_open(self) -> bool:
        """Whether the next sample may find out if it is well again."""
        return self.is_unhealthy and self._answers and self._probes == 0 and self.rests_until <= _now()

    @property
    def last_resort(self) -> tuple[bool, float]:
        """Where no host is well: those that list their models first, then whose rest is over soonest."""
        return not self._answers, self.rests_until

    @contextmanager
    def taking(self, samples: int) -> Generator[None]:
        """Count so many more at this host inside the block, which are one request."""
        probe = self.is_unhealthy
        self.in_flight += samples
        self._probes += probe
        try:
            yield
        finally:
            self.in_flight -= samples
            self._probes -= probe

    @asynccontextmanager
    async def patience(self, seconds: float) -> AsyncGenerator[None, None]:
        """Wait for a first text. Raises TimeoutError when the host has said nothing for so long, to nobody at all.

        A caller who gives up earlier has found a silent host as well.
        """
        loop, began = asyncio.get_running_loop(), _now()
        async with asyncio.timeout(None) as scope:

            def look() -> None:
                nonlocal timer
                left = seconds - self._silent_since(began)
                if left > 0:
                    timer = loop.call_later(left, look)
                else:
                    scope.reschedule(_now())

            timer = loop.call_later(seconds, look)
            try:
                yield
            except asyncio.CancelledError:
                if self._silent_since(began) >= SILENT:
                    self.failed()
                raise
            finally:
                timer.cancel()

    def spoke(self) -> None:
        """A piece of text came."""
        self._spoke = _now()

    def failed(self, retry_after: float | None = None) -> None:
        """A sample failed: let the host rest, for at least `retry_after` seconds where the host named them.

        Samples that fail together, or while it rests, count once.
        """
        if self.rests_until > _now():
            return
        self._failures += 1
        rest = max(retry_after or 0.0, exponential(self._failures, FIRST_REST, LONGEST_REST))
        self.rests_until = _now() + min(LONGEST_REST, rest)

    def succeeded(self) -> None:
        """A sample came to its end."""
        self._failures = self._disputed = 0
        self.rests_until, self._answers = 0.0, True

    def disputed(self) -> None:
        """It refused a request that another host took: a long prompt, say, or it refuses whatever comes."""
        self._disputed += 1
        if self.is_unhealthy or self._disputed >= DISPUTED:
            self.failed()

    def record_health_check(self, answers: bool) -> None:
        """The result of a health check. It can mark a host down; only a completed sample marks it healthy again."""
        if not answers:
            self._failures = max(self._failures, 1)
        self._answers = answers

    def _silent_since(self, began: float) -> float:
        return _now() - max(began, self._spoke)


def choose(hosts: Sequence[Host], tried: Sequence[Host], samples: int = 1) -> Host | None:
    """The host for the next try of samples that `tried` failed; None where all are at their limit.

    A first try may find out whether a host is well again. Where none is well, the one that rests the shortest is asked.
    """
    free = [host for host in hosts if host.has_room_for(samples)]
    left = [host for host in free if host not in tried] or free
    well = [host for host in left if not host.is_unhealthy]
    half_open = next((host for host in left if host.is_half_open), None)
    if half_open is not None and not (tried and well):
        return half_open
    if well:
        return min(well, key=lambda host: host.in_flight / host.upstream.limit)
    return min(left, key=lambda host: host.last_resort, default=None)


def _now() -> float:
    return asyncio.get_running_loop().time()
