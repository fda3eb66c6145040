"""Who asks: the key that a request shows, what it allows, and how much of that is used up."""

import math
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

from demur.api.errors import ApiError
from demur.keys import Key, KeyRing
from demur.observability import Metrics
from demur.settings import Settings


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request. `name` tells callers apart; it is the id of the key, never the key."""

    name: str = ""
    key: Key | None = None

    @property
    def concurrent_samples(self) -> int | None:
        return None if self.key is None else self.key.concurrent_samples


class KeyedRoute(APIRoute):
    """A route for callers that may be here: asked for their key before the request's body is read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_known(request: Request) -> Response:
            request.scope["state"]["caller"] = request.app.state.context.callers.identify(request)
            return await handle(request)

        return handle_known


class Callers:
    """The callers of one server; all are the same one where there are no keys. Limits count for this process."""

    def __init__(self, keys: KeyRing | None, settings: Settings, metrics: Metrics) -> None:
        self._keys = keys
        self._settings = settings
        self._metrics = metrics
        self._requests: MovingWindowRateLimiter | None = None
        self._tokens: FixedWindowRateLimiter | None = None
        if keys is not None:
            storage = MemoryStorage()
            self._requests, self._tokens = MovingWindowRateLimiter(storage), FixedWindowRateLimiter(storage)

    def identify(self, request: Request) -> Caller:
        """Raises ApiError: 401 without a key that opens, 429 after too many requests of one key."""
        if self._keys is None:
            return Caller()
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        key = self._keys.find(shown.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            self._metrics.refused.labels("no_key").inc()
            raise ApiError(
                401, "authentication", _WHO if not scheme else _WRONG, headers={"www-authenticate": "Bearer"}
            )
        self._count_request(key)
        return Caller(key.id, key)

    def settings_for(self, caller: Caller) -> Settings:
        """The server's settings within what the caller's key allows."""
        if (key := caller.key) is None:
            return self._settings
        most = (self._settings.max_samples, key.max_samples, key.concurrent_samples)
        return self._settings.model_copy(
            update={
                "max_samples": min(limit for limit in most if limit is not None),
                "allow_withheld": key.withheld and self._settings.allow_withheld is not False,
            }
        )

    def check_tokens(self, caller: Caller) -> None:
        """Raises ApiError 429 when the tokens of the caller's minute are used up."""
        if self._tokens is None or (limit := _per_minute(caller.key, "tokens_per_minute")) is None:
            return
        if not self._tokens.test(limit, "tokens", caller.name):
            resets = self._tokens.get_window_stats(limit, "tokens", caller.name).reset_time
            self._refuse("tokens_per_minute", limit, resets)

    def spend(self, caller: Caller, tokens: int) -> None:
        """Count what was read and written for the caller. More than is left is possible, once."""
        if self._tokens is not None and tokens and (limit := _per_minute(caller.key, "tokens_per_minute")):
            self._tokens.hit(limit, "tokens", caller.name, cost=tokens)

    def _count_request(self, key: Key) -> None:
        if self._requests is None or (limit := _per_minute(key, "requests_per_minute")) is None:
            return
        if not self._requests.hit(limit, "requests", key.id):
            resets = self._requests.get_window_stats(limit, "requests", key.id).reset_time
            self._refuse("requests_per_minute", limit, resets)

    def _refuse(self, reason: str, limit: RateLimitItemPerMinute, resets: float) -> None:
        self._metrics.refused.labels(reason).inc()
        pause = max(1, math.ceil(resets - time.time()))
        message = f"this key has {limit.amount} {reason.partition('_')[0]} a minute; they are used up"
        raise ApiError(429, "rate_limited", message, headers={"retry-after": str(pause)})


_WHO = "this server wants a key: Authorization: Bearer KEY"
_WRONG = "no such key"


def _per_minute(key: Key | None, name: str) -> RateLimitItemPerMinute | None:
    amount = None if key is None else getattr(key, name)
    return None if amount is None else RateLimitItemPerMinute(amount)
