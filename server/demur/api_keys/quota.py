"""Limits per minute of one key: what it spent in the last minute, and what is held for work that is not done yet.

No clock of its own: the caller passes seconds of a clock that never goes back.
"""

import math
from collections import deque

MINUTE = 60.0


class Quota:
    """A moving window of one minute. Amounts are requests or tokens; a limit may change from call to call.

    What was spent counts for a minute, rounded up to the second in which it was; so memory is 61 numbers at most.
    What is held counts until it is charged.
    """

    def __init__(self) -> None:
        self._spent: deque[tuple[float, int]] = deque()
        self.held = 0

    def is_idle(self, now: float) -> bool:
        """Whether nothing would be lost if this were forgotten."""
        self._forget(now)
        return not self._spent and not self.held

    def wait(self, amount: int, limit: int, now: float) -> float:
        """Seconds until `amount` fits the limit at the earliest, 0 if it fits now; an `amount` above it is cut to it.

        What is held may all come back, and nobody knows when: a wait for that alone is a second.
        """
        self._forget(now)
        over = self._used + self.held + min(amount, limit) - limit
        if over <= 0:
            return 0.0
        over -= self.held
        pause = 1.0
        for when, spent in self._spent:
            if over <= 0:
                break
            over -= spent
            pause = min(max(when + MINUTE - now, 1.0), MINUTE)
        return pause

    def hold(self, amount: int) -> None:
        self.held += amount

    def charge(self, held: int, spent: int, now: float) -> None:
        """Give back what was `held`, and count what was spent."""
        self.held -= held
        self._forget(now)
        if not spent:
            return
        if self._spent and math.floor(self._spent[-1][0]) == math.floor(now):
            spent += self._spent.pop()[1]
        self._spent.append((now, spent))

    @property
    def _used(self) -> int:
        return sum(spent for _, spent in self._spent)

    def _forget(self, now: float) -> None:
        while self._spent and self._spent[0][0] + MINUTE <= now:
            self._spent.popleft()


class Quotas:
    """The quotas of all keys for one kind of amount. One that is idle is forgotten within a minute or two."""

    def __init__(self) -> None:
        self._of: dict[str, Quota] = {}
        self._swept = -math.inf

    def __len__(self) -> int:
        return len(self._of)

    def of(self, key: str, now: float) -> Quota:
        """The quota of a key, new where it has none."""
        if now - self._swept >= MINUTE:
            self._swept = now
            self._of = {name: quota for name, quota in self._of.items() if not quota.is_idle(now)}
        return self._of.setdefault(key, Quota())
