"""Is the engine alive: asked every few seconds, and told by any request that finds it dead."""

import asyncio
from collections.abc import Callable

from demur.engine.base import Engine, EngineDead, EngineError, EngineOverloaded
from demur.observability.logs import logger


class EngineHealth:
    """Remembers that the engine died, and tells whoever has to end the process, once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._on_death: list[Callable[[], None]] = []
        self.cause_of_death: str | None = None
        self.ready = True
        """What the last look at the engine found."""
        self._watched = False

    def on_death(self, tell: Callable[[], None]) -> None:
        """Call `tell` when the engine dies."""
        self._on_death.append(tell)

    def report(self, error: Exception) -> None:
        """Called with whatever an engine raised; only a death is remembered."""
        if not isinstance(error, EngineDead) or self.cause_of_death is not None:
            return
        self.cause_of_death, self.ready = str(error) or "no reason given", False
        logger.critical("the engine died", extra={"fields": {"cause": self.cause_of_death}})
        for tell in self._on_death:
            tell()

    async def check(self) -> None:
        """Return when the engine can take work. Raises EngineError."""
        if self.cause_of_death is not None:
            raise EngineDead(self.cause_of_death)
        try:
            await self._engine.check()
            self.ready = True
        except EngineError as error:
            self.ready = False
            self.report(error)
            raise

    async def raise_unless_ready(self) -> None:
        """Return when the engine could take work at the last check. Raises EngineError otherwise.

        Where a watch runs, as in every served app, this makes no check of its own: checks cost the engine's hosts
        something, and anybody may ask.
        """
        if not self._watched:
            await self.check()
        elif self.cause_of_death is not None:
            raise EngineDead(self.cause_of_death)
        elif not self.ready:
            raise EngineOverloaded("the engine took no work at the last look", retry_after=1.0)

    async def watch(self, every: float) -> None:
        """Check the engine every so many seconds until it is dead."""
        self._watched = True
        while self.cause_of_death is None:
            try:
                await self.check()
            except EngineError as error:
                logger.warning("the engine is not ready", extra={"fields": {"error": type(error).__name__}})
            except Exception:  # noqa: BLE001  whoever watches has to outlive what is watched
                self.ready = False
                logger.exception("the engine could not be checked")
            await asyncio.sleep(every)
