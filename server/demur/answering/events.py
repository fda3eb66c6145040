"""What happens while a question is answered, in the order a caller may see it. The last event is always `Final`."""

from dataclasses import dataclass

from demur.answering.outcome import Outcome
from demur.answering.response import Answer, GivenClaim
from demur.answering.sample_reader import Ending
from demur.core.answers import ConfidenceStatus
from demur.engine.base import TokenLogprob


@dataclass(frozen=True, slots=True)
class Progress:
    """Something was generated that cannot be shown, at least not yet. `tokens` is the total so far."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Delta:
    """More of the visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class ClaimGiven:
    """A claim closed."""

    index: int
    claim: GivenClaim


@dataclass(frozen=True, slots=True)
class Reset:
    """Text and claims so far are void."""

    reason: str


@dataclass(frozen=True, slots=True)
class SampleDone:
    """One sample ended. Carries none of its text."""

    id: int
    confidence: float | None
    state: ConfidenceStatus


@dataclass(frozen=True, slots=True)
class Final:
    """The answer, with what metrics and log need: how the samples could be read, how the chosen one ended, and how many
    tokens those stopped early could still have cost at most. `logprobs` are those of the text, where they were asked
    for. `tokens_past_decision` were generated in vain, after a sample had shown what decided.

    `outcome` is all of it, what the answer withholds included: for audits, never for the caller.
    """

    answer: Answer
    states: tuple[ConfidenceStatus, ...]
    finish_reason: Ending
    tokens_saved_upper_bound: int = 0
    outcome: Outcome | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    tokens_past_decision: int = 0


Event = Progress | Delta | ClaimGiven | Reset | SampleDone | Final
