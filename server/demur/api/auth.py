"""Authentication by API key, and what a key allows its caller."""

import asyncio
import gc
import json
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from demur.api.errors import ApiError, as_api_error
from demur.api.json_size import MOST_VALUES, holds_too_much
from demur.api.rate_limits import RateLimits
from demur.api_keys import ApiKeyStore, Key
from demur.observability.metrics import Metrics
from demur.settings import Settings

SMALL_BODY = 65_536
"""Bytes; parsed in a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request. `name` tells callers apart; it is the id of the key, never the key."""

    name: str = ""
    key: Key | None = None

    @property
    def concurrent_samples(self) -> int | None:
        return None if self.key is None else self.key.concurrent_samples


class KeyedRoute(APIRoute):
    """A route that authenticates the caller before the body of the request is read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_known(request: Request) -> Response:
            request.scope["state"]["caller"] = await request.app.state.context.auth.identify(request)
            try:
                return await handle(JsonRequest(request.scope, request.receive))
            except RequestValidationError as error:
                told = as_api_error(error)
                _drop_traceback_references(error)
            raise told

        return handle_known


def _drop_traceback_references(refused: RequestValidationError) -> None:
    """Tracebacks are cycles through frames, which hold the body until the cycle is collected: the refusal's own, and
    that of each ValueError of a validator."""
    refused.__traceback__ = None
    for fault in refused.errors():
        if isinstance(cause := fault.get("ctx", {}).get("error"), Exception):
            cause.__traceback__ = None


class JsonRequest(Request):
    """A request whose JSON is parsed without the garbage collector: nothing in a body is garbage yet, and looking at
    350,000 empty lists again and again takes ten times as long as parsing them."""

    async def json(self) -> Any:
        """Large bodies take turns, so that whatever else waits for the event loop waits for one of them at most."""
        body = await self.body()
        if len(body) <= SMALL_BODY:
            return self._parsed(body)
        async with self.app.state.context.auth.parsing:
            if holds_too_much(body):
                raise HTTPException(400, f"the body holds more than {MOST_VALUES} values")
            return self._parsed(body)

    @staticmethod
    def _parsed(body: bytes) -> Any:
        collecting = gc.isenabled()
        gc.disable()
        try:
            return json.loads(body)
        finally:
            if collecting:
                gc.enable()


class Authenticator:
    """Finds the caller of a request by its API key; all callers are the same one where there are no keys.

    Limits of keys count for this process.
    """

    def __init__(
        self,
        keys: ApiKeyStore | None,
        settings: Settings,
        metrics: Metrics,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys = keys
        self._settings = settings
        self._metrics = metrics
        self.rate_limits = RateLimits(metrics, clock)
        self.parsing = asyncio.Lock()

    async def identify(self, request: Request) -> Caller:
        """The caller of a request by its API key, with the request counted.

        Raises ApiError: 401 without a key that opens, 429 after too many requests of one key, 503 when it is not known
        any more whether the key still opens.
        """
        if self._keys is None:
            return Caller()
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        key = await self._find(self._keys, shown.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            self._metrics.admission.refused.labels("no_key").inc()
            raise ApiError(
                401, "authentication", _WHO if not scheme else _WRONG, headers={"www-authenticate": "Bearer"}
            )
        self.rate_limits.count_request(key)
        return Caller(key.id, key)

    async def watch_keys(self) -> None:
        """Follow the file of keys for ever."""
        if self._keys is not None:
            await self._keys.watch()

    async def _find(self, keys: ApiKeyStore, shown: str) -> Key | None:
        await keys.refresh()
        key = keys.find(shown)
        if key is not None and not keys.trusts(key):
            self._metrics.admission.refused.labels("keys_stale").inc()
            raise ApiError(503, "unavailable", _STALE, headers={"retry-after": "10"})
        return key

    def settings_for(self, caller: Caller) -> Settings:
        """The server's settings within what the caller's key allows."""
        if (key := caller.key) is None:
            return self._settings
        most = (self._settings.max_samples, key.max_samples, key.concurrent_samples)
        return self._settings.model_copy(
            update={
                "max_samples": min(limit for limit in most if limit is not None),
                "allow_withheld": key.withheld and self._settings.allow_withheld is not False,
                "min_risk_threshold": max(key.min_risk_threshold, self._settings.min_risk_threshold),
                "abstain_as": key.abstain_as or self._settings.abstain_as,
            }
        )


_WHO = "this server wants a key: Authorization: Bearer KEY"
_WRONG = "no such key"
_STALE = "the server cannot read its file of keys, so this key cannot be verified"
