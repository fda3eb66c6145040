"""The reply to one question, as values. What of a model's output it may show is decided in `redaction`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from demur.answering.confidence import SOURCES
from demur.answering.tail_forcing import Settlement
from demur.core.answers import (
    Aggregation,
    ClaimDecision,
    ConfidenceStatus,
    Granularity,
    Reason,
    ResponseDecision,
)
from demur.core.contracts import ALL_CONTRACTS
from demur.core.stopping import StopReason
from demur.field_types import KeyOf


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenClaim:
    """One claim as the caller sees it. `span` is [start, end) in Unicode code points of the answer's text."""

    text: str
    span: tuple[int, int]
    confidence: float | None
    explanation: str
    decision: ClaimDecision
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """What an abstention does not give: the answer, with the text it stands in."""

    answer: str | None
    text: str
    claims: tuple[GivenClaim, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenValue:
    """One token of the output and the critic's value once it stands: the expected success of the whole answer.

    A picture of where hope rose or fell. It says nothing of whether a step is right. `value` is null for the last
    token, after which the critic was never trained; the texts join to the model's output.
    """

    text: str
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalCost:
    """What one signal took beside the samples: calls to the model, tokens of their prompts, how many of these the
    engine had in its prefix cache (null where it does not tell), tokens written, and milliseconds waited."""

    calls: int
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSignal:
    """One signal about the answer: `value` in [0, 1], or null with the reason in `missing`. `cost` is null for one that
    took no further call."""

    value: float | None
    missing: str | None
    cost: SignalCost | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenField:
    """One plain value of a JSON answer. `path` is a JSON Pointer (RFC 6901) into the answer.

    `value` is null where it is withheld: after an abstention, and where `on_doubt` emptied it. `agreement` is the share
    of several samples that have the same value at this path. A field below the risk threshold is a `highlight`.
    """

    path: str
    value: JsonValue
    confidence: float | None
    decision: ClaimDecision
    explanation: str
    agreement: Annotated[float | None, Field(exclude_if=lambda share: share is None)] = None
    signals: Annotated[
        dict[Annotated[str, KeyOf(SOURCES)], GivenSignal] | None,
        Field(exclude_if=lambda signals: signals is None, description="Those of `include_signals` that fields have."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationSet:
    """The graded answers that a promise was made from: `rows` independent ones certified it. `kind` is `split` (by
    answers that had no part in the map), `raw` (without a map) or `cross-fit` (approximate); `questions` says in a few
    words what was asked, null where nobody said it."""

    id: str
    rows: int
    made: str
    kind: Literal["split", "cross-fit", "raw"]
    questions: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenGuarantee:
    """At most `max_error` of the answers given at `threshold` are wrong, with probability 1 - `delta` over the choice
    of the graded answers, for questions like those. Where `exact` is false this is an approximation and no promise.

    At granularity `claims` it is about asserted claims, one drawn from each problem. `expected_coverage` is the share
    of the graded answers that the threshold lets through.
    """

    max_error: float
    delta: float
    threshold: float
    exact: bool
    expected_coverage: float
    calibration: CalibrationSet


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleGroup:
    """Samples that gave the same answer. `answer` is null where it is withheld, or where the group declined.

    `vote_share` is the share of all samples drawn. The confidences are null where no member states one.
    """

    answer: str | None
    members: tuple[int, ...]
    vote_share: float
    mean_confidence: float | None
    max_confidence: float | None
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleMember:
    """One sample drawn. `group` is its place in the list of groups, null without a readable answer."""

    id: int
    group: int | None
    confidence: float | None
    state: ConfidenceStatus
    settled: Annotated[Settlement | None, Field(exclude_if=lambda settled: settled is None)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleReport:
    """What several samples said. `drawn` came to their end and voted, `aborted` were stopped before.

    `tokens` were generated by all of them. `tokens_saved` is an estimate: as if the aborted ones had become as long as
    the drawn ones are on average.
    """

    drawn: int
    aborted: int
    tokens: int
    tokens_saved: int
    stopped_by: StopReason | None
    groups: tuple[SampleGroup, ...]
    members: tuple[SampleMember, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of all samples of one answer, the prompt counted once; null where the engine does not count.

    `samples_drawn` came to their end, `samples_aborted` were stopped before. `signal_tokens` were read anew and written
    by further calls for signals, and are in neither count; absent where there was no such call.
    """

    prompt_tokens: int | None
    completion_tokens: int | None
    samples_drawn: int
    samples_aborted: int
    signal_tokens: Annotated[int | None, Field(exclude_if=lambda tokens: tokens is None)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply: answered or abstained, with the confidence either way.

    After an abstention `answer` is null. `text` and `claims` then hold what a stream of the same request shows before
    its end: with one sample, at granularity `claims` and at a risk threshold of 0, the text that was read, which may be
    cut off; null where there is none, and everywhere else. `token_values` is only there when it was asked for and the
    text of its tokens may be seen.
    """

    id: str
    object: Literal["answer"] = "answer"
    created: int
    model: str
    calibrated: bool
    contract: Annotated[str, KeyOf(ALL_CONTRACTS)]
    granularity: Granularity
    risk_threshold: float
    decision: ResponseDecision
    reason: Reason | None
    answer: Annotated[str | None, Field(description="Null after an abstention.")]
    confidence: float | None
    confidence_source: Annotated[str, KeyOf(SOURCES, "none")]
    aggregation: Aggregation | None
    text: Annotated[
        str | None,
        Field(
            description="What a person reads, the answer line aside. After an abstention it is null, except where a "
            "stream shows text before the decision (one sample, granularity `claims` or `risk_threshold` 0): what was "
            "shown stays, and `reason` says why it is no answer."
        ),
    ]
    claims: Annotated[
        tuple[GivenClaim, ...] | None,
        Field(description="The steps in `text`; null where `text` is, and where the contract has none."),
    ]
    fields: Annotated[
        tuple[GivenField, ...] | None,
        Field(
            exclude_if=lambda fields: fields is None,
            description="With a schema: every plain value of the answer with its confidence.",
        ),
    ] = None
    withheld: Annotated[
        Withheld | None,
        Field(description="With `include_withheld`, after an abstention: all that was read, the answer with it."),
    ]
    raw: str | None
    token_values: Annotated[tuple[TokenValue, ...] | None, Field(exclude_if=lambda values: values is None)] = None
    settled: Annotated[
        Settlement | None,
        Field(
            exclude_if=lambda settled: settled is None,
            description="Only there where the output did not end in a readable answer and its last lines were forced.",
        ),
    ] = None
    signals: Annotated[
        dict[Annotated[str, KeyOf(SOURCES)], GivenSignal] | None,
        Field(exclude_if=lambda signals: signals is None, description="What `include_signals` asked for, by name."),
    ] = None
    samples: SampleReport | None
    usage: Usage
    guarantee: Annotated[
        GivenGuarantee | None,
        Field(exclude_if=lambda held: held is None, description="With `max_error`: what is promised, and by what."),
    ] = None
    notice: Annotated[
        str | None,
        Field(
            exclude_if=lambda notice: notice is None,
            description="Why no calibrator was applied, where the server has some.",
        ),
    ] = None
    conditions: Annotated[
        dict[str, str | int | float | None] | None,
        Field(
            exclude_if=lambda conditions: conditions is None,
            description="With `include_conditions`: what the answer was drawn under, by name; texts as hashes.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a reply says about itself and the model behind it."""

    id: str
    created: int
    model: str
    calibrated: bool
