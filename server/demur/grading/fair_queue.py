"""A fair scheduler for grading: the caller whose formulas have taken the least time comes next."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Share:
    """What a caller, or one of its requests, has had; forgotten when nothing of it is open any more."""

    seconds: float = 0.0
    open: int = 0


@dataclass(slots=True, eq=False)
class _Turn:
    shares: "tuple[_Share, _Share]"
    admitted: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def standing(self) -> tuple[float, float]:
        """The smallest is next."""
        caller, request = self.shares
        return caller.seconds, request.seconds


class FairQueue:
    """At most `room` pieces of work at once. The caller that has had the least time comes next, and of its requests
    the one that has had the least: who asks for little does not wait behind who asks for much.

    A caller that comes new starts level with the one that has had the least.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._waiting: list[_Turn] = []
        self._callers: dict[str, _Share] = {}
        self._requests: dict[Hashable, _Share] = {}

    @property
    def waiting(self) -> int:
        """Pieces of work that wait for their turn."""
        return len(self._waiting)

    @contextmanager
    def opened(self, caller: str, request: Hashable) -> "Generator[Place]":
        """A request for as long as it may ask for turns. One that is opened several times is one and the same."""
        level = min((share.seconds for share in self._callers.values()), default=0.0)
        shares = self._callers.setdefault(caller, _Share(level)), self._requests.setdefault(request, _Share())
        for share in shares:
            share.open += 1
        try:
            yield Place(self, shares)
        finally:
            for share in shares:
                share.open -= 1
            if not shares[0].open:
                del self._callers[caller]
            if not shares[1].open:
                del self._requests[request]

    async def take(self, shares: "tuple[_Share, _Share]", work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """See `Place.run`."""
        turn = _Turn(shares)
        self._waiting.append(turn)
        self._let_in()
        try:
            await turn.admitted
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:  # it was let in at that very moment
                self._end(turn, 0.0)
            raise
        return await self._do(turn, work())

    def _do(self, turn: _Turn, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        clock = asyncio.get_running_loop().time
        began, working = clock(), asyncio.ensure_future(work)

        def over(done: asyncio.Future[T]) -> None:
            if not done.cancelled():
                done.exception()  # looked at: whoever asked may be gone
            self._end(turn, clock() - began)

        working.add_done_callback(over)
        return asyncio.shield(working)

    def _let_in(self) -> None:
        while self._room and self._waiting:
            turn = min(self._waiting, key=lambda turn: turn.standing)  # the first of equals: they stand as they came
            self._waiting.remove(turn)
            self._room -= 1
            turn.admitted.set_result(None)

    def _end(self, turn: _Turn, seconds: float) -> None:
        for share in turn.shares:
            share.seconds += seconds
        self._room += 1
        self._let_in()


@dataclass(frozen=True, slots=True)
class Place:
    """One request among those that take turns."""

    _queue: FairQueue
    _shares: tuple[_Share, _Share]

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do `work` when its turn comes. Cancelled while it waits it is never begun; begun, it keeps its place until
        it is over, whether anybody still waits for it or not."""
        return await self._queue.take(self._shares, work)
