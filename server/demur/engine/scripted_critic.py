"""The fake critic that ships: values come from a script, for tests and demos without a model."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence

from demur.engine.base import EngineDead, EngineError
from demur.engine.critic import CriticUnavailable
from demur.engine.scripted import piece_of


class ScriptedCritic:
    """A critic for the scripted engine. A token's value is what its word is mapped to, else that of the one before.

    `start` is the value of the prompt. `asked` holds the sequences it was shown.
    """

    def __init__(
        self, values: Mapping[str, float] | None = None, *, start: float = 0.5, error: EngineError | None = None
    ) -> None:
        self._values = values or {}
        self._start = start
        self._error = error
        self.asked: deque[tuple[int, ...]] = deque(maxlen=1000)

    async def values(self, token_ids: Sequence[int], *, request_id: str) -> list[float]:
        self.asked.append(tuple(token_ids))
        await asyncio.sleep(0)
        if self._error is not None:
            raise self._error
        found, value = list[float](), self._start
        for token in token_ids:
            value = self._values.get(piece_of(token).strip(), value)
            found.append(value)
        return found

    async def check(self) -> None:
        if isinstance(self._error, EngineDead):
            raise self._error

    async def close(self) -> None:
        self._error = self._error or CriticUnavailable("the scripted critic was closed")
