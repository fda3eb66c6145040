"""The confidence that the model wrote into its output (arXiv:2512.19920, section 3.2)."""

from typing import TYPE_CHECKING

from demur.answering.confidence.base import FinishedSample, Needs, Score, ScoringServices
from demur.answering.confidence.signal import Signal
from demur.core.answers import Completion, ParsedConfidence

if TYPE_CHECKING:
    from demur.answering.params import RequestParams


class Verbalized:
    """The verbalized confidence: the probability that the model states in its output, for the response or each claim.

    It costs nothing: the parser reads it.
    """

    per_claim = True
    votes = True

    def needs(self, services: ScoringServices) -> Needs:
        return Needs()

    def unavailable(self, services: ScoringServices) -> str | None:
        return None

    def refusal(self, params: "RequestParams", services: ScoringServices) -> str | None:
        return None

    def scorer(self, services: ScoringServices) -> "Verbalized":
        return self

    async def score(self, sample: FinishedSample) -> Score:
        return Score(stated(sample.read()))


def stated(completion: Completion) -> Signal:
    """What an output says of its own confidence, or why it says nothing."""
    confidence = ParsedConfidence(completion.state, completion.confidence)
    return Signal.of(confidence, "the output states no confidence", "what the output states is no probability")
