"""What is asked of an endpoint, and what its reply says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from demur.core.answers import Claim, ConfidenceStatus


class RequestId(NamedTuple):
    """Identifies one request of a run: problem, number of the sample, risk threshold."""

    problem: str
    sample: int
    risk_threshold: float | None


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """One request to make."""

    key: RequestId
    text: str


@dataclass(frozen=True, slots=True)
class Output:
    """One reply, read. `confidence` is None unless `state` is "value".

    `stated` is what the model itself wrote, which is another number where another signal gives the confidence. `raw` is
    the model's text where it is known. `settled` is how a server got last lines that the model had not written
    readably: it "continued" the reply, or "asked" for them. `signals` are those that were asked for and the one that
    decided, by name, each in [0, 1] or None where it is missing; `source` is the latter's. `conditions` are what a
    demur server says the answer was drawn under, `decision` what it decided, at which `granularity`, and `guarantee`
    which error rate that keeps.
    """

    answer: str | None
    confidence: float | None
    state: ConfidenceStatus
    text: str
    claims: tuple[Claim, ...] = ()
    idk: bool = False
    truncated: bool = False
    raw: str | None = None
    tokens: int = 0
    stated: float | None = None
    signals: Mapping[str, float | None] | None = None
    source: str = "verbalized"
    conditions: Mapping[str, Any] | None = None
    decision: str | None = None
    guarantee: Mapping[str, Any] | None = None
    settled: str | None = None
    granularity: str | None = None


class BadReply(Exception):
    """The endpoint answered with something that is no reply. The message says what."""


MOST_TOKENS = 10**9
"""A count of tokens beyond it is nonsense."""


def tokens_of(usage: Any) -> int:
    """The completion tokens in a reply's `usage`; 0 where it says nothing, or what cannot be."""
    count = usage.get("completion_tokens") if isinstance(usage, Mapping) else None
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else 0


class Api(Protocol):
    """One HTTP API that can be asked questions."""

    @property
    def path(self) -> str:
        """The path of the API under the base URL."""
        ...

    def body(self, ask: EvaluationRequest) -> dict[str, Any]:
        """The JSON to post."""
        ...

    def output(self, body: Any) -> Output:
        """What a reply says. Raises BadReply for JSON that is no reply of this API."""
        ...

    def without(self, param: str | None) -> "Api | None":
        """The same without this request field, for an endpoint that forbids it; None where it cannot be spared."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent with every question: the `fields` by their names, and `extra` ones, which win."""

    fields: Mapping[str, Any]
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def of(self, ask: EvaluationRequest) -> dict[str, Any]:
        """The fields for one question. Samples of one question get different seeds."""
        seed = self.fields.get("seed")
        seeded = {} if seed is None else {"seed": seed + ask.key.sample}
        return {**self.fields, **seeded, **self.extra}
