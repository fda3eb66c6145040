"""Many requests at once, each stored as soon as it is answered."""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from demur.evaluation.asking.base import Api, Ask, Key, Output
from demur.evaluation.asking.endpoint import Endpoint, GaveUp
from demur.evaluation.asking.store import Store
from demur.evaluation.errors import EndpointError
from demur.evaluation.together import together

PATIENCE = 8
"""So many questions in a row may fail before the endpoint is held to be down."""


class Watcher(Protocol):
    """Is told what happens, for a progress bar."""

    def answered(self, output: Output) -> None: ...

    def failed(self, key: Key, why: str) -> None: ...


@dataclass(slots=True)
class Crew:
    """Puts questions to one endpoint, `size` at a time. `failures` holds what got no answer, and why."""

    endpoint: Endpoint
    api: Api
    store: Store
    watcher: Watcher
    size: int
    failures: dict[Key, str] = field(default_factory=dict[Key, str])
    _failed_in_a_row: int = 0

    async def ask(self, asks: Iterable[Ask]) -> None:
        """Ask all of them. Raises EndpointError where the endpoint is down or refuses everything."""
        await together(asks, self._ask, self.size)

    async def _ask(self, ask: Ask) -> None:
        try:
            reply = await self.endpoint.post(self.api.path, self.api.body(ask), self.api.output)
        except GaveUp as error:
            self._give_up(ask, str(error))
            return
        self._failed_in_a_row = 0
        self.store.append(record(ask.key, reply.body, reply.seconds, reply.tries))
        self.watcher.answered(self.api.output(reply.body))

    def _give_up(self, ask: Ask, why: str) -> None:
        self.failures[ask.key] = why
        self._failed_in_a_row += 1
        self.watcher.failed(ask.key, why)
        if self._failed_in_a_row >= PATIENCE:
            base = self.endpoint.client.base_url
            raise EndpointError(f"{base}: {PATIENCE} questions in a row got no answer, the last: {why}")


def record(key: Key, body: Any, seconds: float, tries: int) -> dict[str, Any]:
    """What is stored of one response: all of it."""
    return {**key._asdict(), "tries": tries, "seconds": round(seconds, 4), "at": round(time.time(), 3), "body": body}


def key_of(stored: dict[str, Any]) -> Key:
    """The request that a stored response answers."""
    return Key(stored["problem"], stored["sample"], stored["risk_threshold"])


def describe(failures: dict[Key, str]) -> list[str]:
    """One JSON line for each question without an answer."""
    return [json.dumps({**key._asdict(), "error": why}) for key, why in failures.items()]
