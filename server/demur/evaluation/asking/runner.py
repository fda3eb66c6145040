"""Many requests at once, each stored as soon as it is answered."""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from demur.evaluation.asking.base import Api, EvaluationRequest, Output, RequestId
from demur.evaluation.asking.endpoint import Endpoint, FailureLimit, GaveUp, Reply
from demur.evaluation.asking.store import Store
from demur.evaluation.bounded_gather import bounded_gather
from demur.evaluation.errors import EndpointError, Refused


class Watcher(Protocol):
    """Is told what happens, for a progress bar."""

    def answered(self, output: Output) -> None: ...

    def failed(self, key: RequestId, why: str) -> None: ...

    def note(self, line: str) -> None: ...


@dataclass(slots=True)
class Runner:
    """Puts questions to one endpoint, `size` at a time. `failures` holds what got no answer, and why."""

    endpoint: Endpoint
    api: Api
    store: Store
    watcher: Watcher
    size: int
    failures: dict[RequestId, str] = field(default_factory=dict[RequestId, str])
    patience: FailureLimit = field(default_factory=FailureLimit)

    async def ask(self, asks: Iterable[EvaluationRequest]) -> None:
        """Ask all of them. Raises EndpointError where the endpoint is down or refuses everything."""
        await bounded_gather(asks, self._ask, self.size)

    async def _ask(self, ask: EvaluationRequest) -> None:
        try:
            reply = await self._reply(ask)
        except GaveUp as error:
            self._give_up(ask, error)
            return
        self.patience.answered()
        self.store.append(record(ask.key, reply.body, reply.seconds, reply.tries))
        self.watcher.answered(self.api.output(reply.body))

    async def _reply(self, ask: EvaluationRequest) -> Reply:
        """The endpoint's reply; where it forbids something that can be done without, this and all others ask less."""
        api = self.api
        try:
            return await self.endpoint.post(api.path, api.body(ask), api.output)
        except Refused as error:
            less = api.without(error.param)
            if less is None:
                raise
            if self.api is api:
                self.api = less
                self.watcher.note(f"{error}; asking on without {error.param}: what it would show is not kept")
        return await self._reply(ask)

    def _give_up(self, ask: EvaluationRequest, error: GaveUp) -> None:
        self.failures[ask.key] = str(error)
        self.watcher.failed(ask.key, str(error))
        if self.patience.spent(error):
            base = self.endpoint.client.base_url
            raise EndpointError(f"{base}: {self.patience.limit} questions in a row got no answer, the last: {error}")


def record(key: RequestId, body: Any, seconds: float, tries: int) -> dict[str, Any]:
    """What is stored of one response: all of it."""
    return {**key._asdict(), "tries": tries, "seconds": round(seconds, 4), "at": round(time.time(), 3), "body": body}


def key_of(stored: dict[str, Any]) -> RequestId:
    """The request that a stored response answers."""
    return RequestId(stored["problem"], stored["sample"], stored["risk_threshold"])


def describe(failures: dict[RequestId, str]) -> list[str]:
    """One JSON line for each question without an answer."""
    return [json.dumps({**key._asdict(), "error": why}) for key, why in failures.items()]
