"""Rate limits of keys: requests are counted as they come, tokens reserved on admission and charged in the end."""

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from demur.answering import ActiveRequest
from demur.api.errors import ApiError
from demur.api_keys import Key
from demur.api_keys.quota import Quota, Quotas
from demur.observability.metrics import Metrics


@dataclass(slots=True)
class _Held:
    """Tokens of one request that nobody else may have until it is done."""

    quota: Quota
    limit: int
    amount: int = 0


class RateLimits:
    """Limits per minute of the keys of one process. `clock` gives seconds and never goes back."""

    def __init__(self, metrics: Metrics, clock: Callable[[], float]) -> None:
        self._metrics = metrics
        self._clock = clock
        self._requests = Quotas()
        self._tokens = Quotas()

    def count_request(self, key: Key) -> None:
        """Count one request of a key. Raises ApiError 429 when the requests of the key's minute are used up."""
        if (limit := key.requests_per_minute) is None:
            return
        now = self._clock()
        quota = self._requests.of(key.id, now)
        if pause := quota.wait(1, limit, now):
            raise self._refusal("requests_per_minute", f"this key has {limit} requests a minute", pause)
        quota.charge(0, 1, now)

    @contextmanager
    def tokens_for(self, key: Key | None, active: ActiveRequest, most: Callable[[], int]) -> Generator[None]:
        """Hold `most()`, which the request may take at most, and in the end count what it took.

        A request that may take more than the whole limit holds all of it: it runs alone, after a minute in which
        nothing was spent. Raises ApiError 429 when the tokens are not there. It is raised inside the block, before
        anything is generated, where the prompt turns out longer than estimated and the tokens no longer suffice.
        """
        if key is None or (limit := key.tokens_per_minute) is None:
            yield
            return
        held = _Held(self._tokens.of(key.id, self._clock()), limit)
        self._resize(held, most())
        active.on_prompt = lambda: self._resize(held, most())
        try:
            yield
        finally:
            active.on_prompt = None
            held.quota.charge(held.amount, active.tokens, self._clock())

    def _resize(self, held: _Held, most: int) -> None:
        wanted = min(most, held.limit)
        more = wanted - held.amount
        if more > 0 and (pause := held.quota.wait(more, held.limit, self._clock())):
            held.quota.hold(-held.amount)  # at once: others that are growing wait for no room that nobody will use
            held.amount = 0
            why = f"this key has {held.limit} tokens a minute, and with its max_tokens this request may take {most}"
            raise self._refusal("tokens_per_minute", why, pause)
        held.quota.hold(more)
        held.amount = wanted

    def _refusal(self, reason: str, why: str, pause: float) -> ApiError:
        self._metrics.admission.refused.labels(reason).inc()
        seconds = max(1, math.ceil(pause))
        message = f"{why}: not enough of them are left"
        return ApiError(429, "rate_limited", message, headers={"retry-after": str(seconds)})
