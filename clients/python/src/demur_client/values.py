"""The parts of an answer, as the server sends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

Contract = Literal["response", "claims", "explicit_risk", "fields"]
OnDoubt = Literal["keep", "null", "abstain"]
Granularity = Literal["response", "claims"]
Decision = Literal["answer", "abstain"]
ClaimDecision = Literal["assert", "highlight"]
ConfidenceSource = Literal["verbalized", "critic", "answer_logprob", "agreement", "p_true", "calibrated", "none"]
Aggregation = Literal["min", "product"]
Selection = Literal["majconf", "maxconf", "majority"]
Stopping = Literal["none", "decided", "confident"]
State = Literal["value", "missing", "invalid"]
Reason = Literal["below_threshold", "confidence_missing", "confidence_invalid", "answer_missing", "truncated", "idk"]


class Message(TypedDict):
    """One turn of a conversation; `role` is "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One step of the answer with its own confidence in [0, 1], None where the model wrote none that can be read.

    `span` is [start, end) in Unicode code points of the answer's `text`. `decision` is "highlight" for a claim
    below the risk threshold. `explanation` is the model's own doubt in a few words.
    """

    text: str
    span: tuple[int, int]
    confidence: float | None
    explanation: str
    decision: ClaimDecision
    problems: tuple[str, ...] = ()

    @property
    def highlighted(self) -> bool:
        """Whether the claim is below the risk threshold."""
        return self.decision == "highlight"


@dataclass(frozen=True, slots=True)
class Field:
    """One plain value of a structured answer. `path` is a JSON Pointer (RFC 6901) into it.

    `value` is None where it is withheld or was emptied. `confidence` is in [0, 1]. `agreement` is the share of several
    samples that have the same value at this path. `signals` are those of `include_signals` that single values have,
    by name. `decision` is "highlight" below the risk threshold.
    """

    path: str
    value: Any
    confidence: float | None
    decision: ClaimDecision
    explanation: str = ""
    agreement: float | None = None
    signals: Mapping[str, Signal] | None = None

    @property
    def highlighted(self) -> bool:
        """Whether the value is below the risk threshold."""
        return self.decision == "highlight"


@dataclass(frozen=True, slots=True)
class Content:
    """What an answer says: the part that an abstention withholds. `claims` is empty where the contract has none."""

    answer: str | None
    text: str | None
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and samples that the answer took; tokens are None where the server's engine does not count them."""

    prompt_tokens: int | None
    completion_tokens: int | None
    samples_drawn: int
    samples_aborted: int
    signal_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class SignalCost:
    """What one signal took beside the samples: further calls, their tokens, and milliseconds; None where not counted.

    `cached_tokens` of the `prompt_tokens` were not computed again.
    """

    calls: int
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Signal:
    """A raw number in [0, 1] about an answer. `value` is None where it is missing, and `missing` then says why."""

    value: float | None
    missing: str | None = None
    cost: SignalCost | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """How the last lines of an output came about where the model did not write them readably.

    `by` is "continued" where its own tokens were, "asked" where it was asked for them in a further turn; `after` is how
    it had ended before, "stop" or "length".
    """

    by: str
    after: str


@dataclass(frozen=True, slots=True)
class Member:
    """One sample: the group of equal answers it is in (None when it has no answer) and its confidence."""

    id: int
    group: int | None
    confidence: float | None
    state: State
    settled: Settlement | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Samples that gave the same answer. `answer` is None where it is withheld or the group declined; `members` are
    sample ids.

    `vote_share` is the share in [0, 1] of all samples drawn. The confidences are in [0, 1], None where no member states
    one.
    """

    answer: str | None
    members: tuple[int, ...]
    vote_share: float
    mean_confidence: float | None
    max_confidence: float | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class Samples:
    """How several samples became one answer. `stopped_by` names what ended the sampling early, if anything did.

    `drawn` came to their end and voted, `aborted` were stopped before. `tokens` were generated by all of them;
    `tokens_saved` is the server's estimate of what the aborted ones would have added.
    """

    drawn: int
    aborted: int
    tokens: int
    tokens_saved: int
    stopped_by: str | None
    groups: tuple[Group, ...]
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class CalibrationSet:
    """The graded answers that a promise was made from. `questions` says in a few words what was asked."""

    id: str
    rows: int
    made: str
    kind: str
    questions: str | None


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What `max_error` was answered with: at most `max_error` of the answers given at `threshold` are wrong, with
    probability 1 - `delta` over the choice of the graded answers, for questions like those.

    Where `exact` is false it is an approximation and no promise.
    """

    max_error: float
    delta: float
    threshold: float
    exact: bool
    expected_coverage: float
    calibration: CalibrationSet


class Sent:
    """Room for what the client leaves on an answer so that it can be graded; it is no part of the value."""

    __slots__ = ("_feedback",)


@dataclass(frozen=True, slots=True)
class AnswerValues(Sent):
    """What one reply of the server holds; `Answer` adds what can be done with it."""

    id: str
    created: int
    model: str
    calibrated: bool
    contract: Contract
    granularity: Granularity
    risk_threshold: float
    decision: Decision
    reason: Reason | None
    answer: str | None
    confidence: float | None
    confidence_source: ConfidenceSource
    aggregation: Aggregation | None
    text: str | None
    claims: tuple[Claim, ...]
    withheld: Content | None
    raw: str | None
    samples: Samples | None
    usage: Usage
    signals: Mapping[str, Signal] | None = field(default=None, hash=False)
    guarantee: Guarantee | None = None
    notice: str | None = None
    settled: Settlement | None = None
    fields: tuple[Field, ...] | None = None
    parsed: Any = field(default=None, compare=False)
    request_id: str | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return self.decision == "answer"

    @property
    def abstained(self) -> bool:
        """Whether the answer was withheld."""
        return not self

    @property
    def highlighted(self) -> tuple[Claim, ...]:
        """The claims below the risk threshold."""
        return tuple(claim for claim in self.claims if claim.highlighted)
