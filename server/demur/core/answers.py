"""Values that the packages share: what was read from a completion, and what is decided about it."""

from dataclasses import dataclass
from typing import Any, Literal

ContractName = str
"""A key of `demur.core.contracts.CONTRACTS`."""
Granularity = Literal["response", "claims"]
Aggregation = Literal["min", "product"]
ParseMode = Literal["strict", "lenient"]

ConfidenceStatus = Literal["value", "missing", "invalid"]
"""Of a confidence: it was read, it was not there, or it was there and is no probability."""

ClaimDecision = Literal["assert", "highlight"]
ResponseDecision = Literal["answer", "abstain"]
Reason = Literal["below_threshold", "confidence_missing", "confidence_invalid", "answer_missing", "truncated", "idk"]


@dataclass(frozen=True, slots=True)
class ParsedConfidence:
    """One number somebody wrote down as a confidence.

    `value` is in [0, 1] when `state` is "value" and None otherwise. `problems` says what was done to it ("rescaled",
    "clipped") or why it is no confidence: "confidence_missing", "not_a_number", "not_understood", "range", "several",
    "scale_unclear", "out_of_range".
    """

    state: ConfidenceStatus
    value: float | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """One step of a final solution with its own confidence (arXiv:2512.19920, section 3.3).

    `span` is [start, end) in Unicode code points of the text it stands in. `confidence` is None when the model
    wrote none that can be read; `problems` then says why.
    """

    text: str
    span: tuple[int, int]
    confidence: float | None
    explanation: str
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One plain value of a JSON answer. `path` is a JSON Pointer (RFC 6901), `confidence` is in [0, 1].

    `confidence` is None where no percentage could be read. `agreement` is the share of several samples that have the
    same value at this path, None where there was one sample. `span` is where the value stands in the output, [start,
    end) in code points, without the quotation marks around it. `lead` is the plain JSON between the last
    value and this one.
    """

    path: str
    value: Any
    confidence: float | None
    explanation: str = ""
    agreement: float | None = None
    span: tuple[int, int] | None = None
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What one model output says, read under one contract. Nothing is decided yet.

    `text` is what a person reads: no tags, no private reasoning. `confidence` is the stated one, for claims the
    aggregate; it is None unless `state` is "value". `idk` marks an explicit-risk output that declined.
    In strict mode any entry in `problems` that `is_violation` names makes the output a format violation.
    """

    contract: ContractName
    answer: str | None
    confidence: float | None
    state: ConfidenceStatus
    text: str
    claims: tuple[Claim, ...] = ()
    fields: tuple[FieldValue, ...] = ()
    idk: bool = False
    problems: tuple[str, ...] = ()
    violation: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Answer or abstain, and why when abstaining."""

    decision: ResponseDecision
    reason: Reason | None = None
