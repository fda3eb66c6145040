"""An engine that is started again when it dies, so that its death costs the requests in flight and not the service."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

from demur.backoff import exponential
from demur.engine.base import (
    Chunk,
    Engine,
    EngineDead,
    EngineRestarting,
    Message,
    Prompt,
    Sampling,
    TemplateArguments,
    Trace,
)

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds before the second attempt, and between two at most; none before the first."""


@dataclass(slots=True)
class RestartBudget:
    """How often a process may be started again: `most` times in any `window` seconds."""

    most: int
    window: float
    _begun: deque[float] = field(default_factory=deque[float])

    def next_pause(self, now: float) -> float | None:
        """Take one restart: seconds to wait before it; None when they are used up."""
        while self._begun and self._begun[0] <= now - self.window:
            self._begun.popleft()
        before = len(self._begun)
        if before >= self.most:
            return None
        self._begun.append(now)
        return exponential(before, FIRST_PAUSE, LONGEST_PAUSE) if before else 0.0


class LocalEngine(Engine, Protocol):
    """An engine whose process this one started."""

    @property
    def running(self) -> int:
        """Samples it is working on."""
        ...

    def pieces(self, prompt: Prompt, token_ids: Sequence[int]) -> list[str]:
        """The text that each token of one output adds. The pieces join to the output's text."""
        ...


class RestartingEngine:
    """Implements `Engine` over one that `start` makes anew when it has died.

    Requests in flight at that moment raise EngineRestarting. Those that come later wait until the engine answers
    again, as long as their own deadline lets them. When `restarts` are used up, or starting failed as often, everything
    raises EngineDead.
    """

    def __init__(
        self, engine: LocalEngine, start: Callable[[], Awaitable[LocalEngine]], restarts: RestartBudget
    ) -> None:
        self._engine = engine
        self._start = start
        self._restarts = restarts
        self._answers = asyncio.Event()
        self._answers.set()
        self._reviving: asyncio.Task[None] | None = None
        self._dead: EngineDead | None = None
        self._on_restart: list[Callable[[], None]] = []

    def on_restart(self, tell: Callable[[], None]) -> None:
        """Call `tell` whenever the engine is started again."""
        self._on_restart.append(tell)

    @property
    def max_model_len(self) -> int | None:
        return self._engine.max_model_len

    @property
    def running(self) -> int:
        """Samples it is working on; none while it is being started."""
        return self._engine.running if self._answers.is_set() and self._dead is None else 0

    def pieces(self, prompt: Prompt, token_ids: Sequence[int]) -> list[str]:
        return self._engine.pieces(prompt, token_ids)

    async def prepare(self, messages: Sequence[Message], template: TemplateArguments | None = None) -> Prompt:
        engine = await self._answering()
        with self._watched(engine):
            return await engine.prepare(messages, template)

    async def stream(
        self, prompt: Prompt, sampling: Sampling, *, request_id: str, trace: Trace | None = None
    ) -> AsyncGenerator[Chunk, None]:
        engine = await self._answering()
        with self._watched(engine):
            async with aclosing(engine.stream(prompt, sampling, request_id=request_id, trace=trace)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def check(self) -> None:
        """Raises EngineRestarting while the engine is being started, EngineDead when it will not be any more."""
        if self._dead is not None:
            raise self._dead
        if not self._answers.is_set():
            raise EngineRestarting
        with self._watched(self._engine):
            await self._engine.check()

    async def close(self) -> None:
        if self._reviving is not None:
            self._reviving.cancel()
            with suppress(asyncio.CancelledError):
                await self._reviving
        await self._engine.close()

    async def _answering(self) -> LocalEngine:
        """The engine, once it takes requests."""
        await self._answers.wait()
        if self._dead is not None:
            raise self._dead
        return self._engine

    @contextmanager
    def _watched(self, engine: LocalEngine) -> Generator[None]:
        """The death of `engine` inside the block begins a restart, and comes out as what it means to the caller."""
        try:
            yield
        except EngineDead as error:
            if engine is self._engine and self._answers.is_set():
                self._lost(error)
            raise self._dead or EngineRestarting from error

    def _lost(self, error: EngineDead) -> None:
        """Called once for each engine that died."""
        pause = self._next_pause()
        if pause is None:
            self._dead = self._dead or error
            return
        logger.critical("the engine died and is started again", extra={"fields": {"cause": str(error)}})
        self._answers.clear()
        self._reviving = asyncio.create_task(self._revive(pause))

    async def _revive(self, pause: float | None) -> None:
        """Start until it works or `restarts` are used up. Whoever waits is let go in either case."""
        cause = await self._closed()
        while pause is not None:
            await asyncio.sleep(pause)
            cause = await self._started()
            if cause is None:
                break
            logger.error("the engine did not start", extra={"fields": {"cause": cause}})
            pause = self._next_pause()
        else:
            self._dead = EngineDead(f"it did not start again: {cause}")
        self._answers.set()

    async def _closed(self) -> str | None:
        """Free what the dead engine holds; why that failed, which stops nobody."""
        try:
            await self._engine.close()
        except Exception as error:  # noqa: BLE001 - what is left of a dead engine may fail in any way
            logger.warning("the dead engine could not be closed", extra={"fields": {"cause": str(error)}})
            return str(error)
        return None

    async def _started(self) -> str | None:
        """Start it once; why that failed, None when it answers."""
        for tell in self._on_restart:
            tell()
        try:
            self._engine = await self._start()
        except Exception as error:  # noqa: BLE001 - whatever it is, it counts as one more failed start
            return str(error) or type(error).__name__
        logger.warning("the engine answers again")
        return None

    def _next_pause(self) -> float | None:
        return self._restarts.next_pause(asyncio.get_running_loop().time())
