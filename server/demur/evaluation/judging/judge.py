"""A judge model behind any OpenAI-compatible endpoint. A verdict that was given once is never asked for again."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from demur.engine.base import Message
from demur.evaluation.asking.chat import content_of
from demur.evaluation.asking.endpoint import Endpoint, FailureLimit, GaveUp
from demur.evaluation.asking.store import Store
from demur.evaluation.errors import EndpointError

T = TypeVar("T")

ATTEMPTS = 3
"""How often a verdict is asked for when what comes back is none."""

RETRY_TEMPERATURE = 0.7
"""Of the later attempts: at temperature 0 a judge would repeat itself."""


class Malformed(Exception):
    """What the judge wrote is no verdict. The message says why not."""


@dataclass(frozen=True, slots=True)
class Case(Generic[T]):
    """One thing to judge: what the judge is told, and how its words become a verdict (`parse` raises Malformed)."""

    messages: list[Message]
    parse: Callable[[str], T]


@dataclass(slots=True)
class Judge:
    """Asks for verdicts and keeps them. `malformed` and `unanswered` count the cases that got none."""

    endpoint: Endpoint
    model: str
    cache: Store
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    malformed: int = 0
    unanswered: int = 0
    last_trouble: str | None = None
    patience: FailureLimit = field(default_factory=FailureLimit)
    _known: dict[str, str] = field(default_factory=dict[str, str])

    def load(self) -> None:
        """Take up the verdicts of earlier runs. One that a changed prompt no longer asks for does no harm."""
        self._known = {entry["case"]: entry["content"] for entry in self.cache.records()}

    async def verdict(self, case: Case[T]) -> T | None:
        """The judge's verdict; None when it gave none, which is counted. Raises EndpointError where it is down."""
        name = self._name(case.messages)
        if name in self._known:
            try:
                return case.parse(self._known[name])
            except Malformed:  # kept when such words passed for a verdict
                del self._known[name]
        for attempt in range(ATTEMPTS):
            try:
                content = await self._content(case.messages, attempt)
            except GaveUp as error:
                self._give_up(error)
                return None
            self.patience.answered()
            try:
                verdict = case.parse(content)
            except Malformed as error:
                self.last_trouble = str(error)
                continue
            self._keep(name, content)
            return verdict
        self.malformed += 1
        return None

    def _give_up(self, error: GaveUp) -> None:
        self.unanswered, self.last_trouble = self.unanswered + 1, str(error)
        if self.patience.spent(error):
            raise EndpointError(
                f"the judge at {self.endpoint.client.base_url} gave no reply on {self.patience.limit} cases in a row,"
                f" the last: {error}; answers and verdicts so far are kept: the same command goes on"
            )

    async def _content(self, messages: list[Message], attempt: int) -> str:
        temperature = RETRY_TEMPERATURE if attempt else 0.0
        body = {"model": self.model, "messages": messages, "temperature": temperature, **self.extra}
        return content_of((await self.endpoint.post("/v1/chat/completions", body, content_of)).body)

    def _keep(self, name: str, content: str) -> None:
        self._known[name] = content
        self.cache.append({"case": name, "judge": self.model, "content": content})

    def _name(self, messages: list[Message]) -> str:
        """Names a case by all that the judge is told, so that a changed prompt is another case."""
        told = json.dumps([self.model, messages, self.extra], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()
