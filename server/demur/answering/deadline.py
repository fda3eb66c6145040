"""The deadline of one request, applied to everything that the request waits for."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from demur.answering.errors import DeadlineExceeded

T = TypeVar("T")


class Deadline:
    """The time limit of one request, `seconds` from now; everything the request waits for goes through `bound`."""

    def __init__(self, seconds: float) -> None:
        self._at = asyncio.get_running_loop().time() + seconds
        self._error: Exception = DeadlineExceeded(f"no answer within {seconds:g} seconds", "timeout")
        self._waits: set[asyncio.Timeout] = set()

    def is_why(self, error: Exception) -> bool:
        """Whether this is what `bound` raises when the time is up."""
        return error is self._error

    async def bound(self, awaitable: Awaitable[T]) -> T:
        """Await it, but no longer than to the deadline. Raises DeadlineExceeded, or what `expire` was given."""
        scope = asyncio.timeout_at(self._at)
        try:
            async with scope:
                self._waits.add(scope)
                return await awaitable
        except TimeoutError:
            if scope.expired():
                raise self._error from None
            raise
        finally:
            self._waits.discard(scope)

    def expire(self, error: Exception) -> None:
        """Expire now: what is being waited for, and whatever will be, raises `error`."""
        self._error = error
        self._at = asyncio.get_running_loop().time()
        for scope in self._waits:
            if not scope.expired():
                scope.reschedule(self._at)
