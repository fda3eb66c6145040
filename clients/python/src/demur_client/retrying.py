"""When to try again, and after how long. No I/O, no clock: the client sleeps."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from .errors import DemurError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential pauses with jitter, in seconds.

    Only what `DemurError.may_retry` allows is repeated: 429, 5xx and failed connections. A stream that has begun
    never is. The pause is at least what the server's Retry-After names; one above `longest_retry_after` is not
    waited for. `jitter` gives numbers in [0, 1).
    """

    max_retries: int = 2
    first_pause: float = 0.5
    longest_pause: float = 8.0
    longest_retry_after: float = 60.0
    jitter: Callable[[], float] = random.random

    def pause(self, error: DemurError, attempt: int) -> float:
        """Seconds to wait after `attempt` (0 is the first) failed with `error`. Raises `error` to give up."""
        wanted = error.retry_after or 0.0
        if not error.may_retry or attempt >= self.max_retries or wanted > self.longest_retry_after:
            raise error
        backoff = min(self.first_pause * 2.0 ** min(attempt, 64), self.longest_pause)
        return max(wanted + self.first_pause / 2 * self.jitter(), backoff * (0.5 + self.jitter() / 2))


DEFAULT_RETRY = RetryPolicy()
NO_RETRY = RetryPolicy(max_retries=0)
