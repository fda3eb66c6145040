"""How many of the other samples gave the same answer (self-consistency, arXiv:2203.11171), as a confidence."""

from typing import TYPE_CHECKING

from demur.answering.confidence.base import FinishedSample, Needs, Score, ScoringServices
from demur.answering.confidence.signal import Signal
from demur.core.answers import FieldValue

if TYPE_CHECKING:
    from demur.answering.params import RequestParams


ONE_SAMPLE = "only one sample was drawn"


class Agreement:
    """Self-consistency as a confidence in [0, 1]: the share of the other samples that agree with the chosen answer.

    (members of the chosen group - 1) / (samples drawn - 1), so that an answer that stands alone gets 0.
    A sample without a readable answer agrees with none. It costs the further samples that the request asks for.
    """

    per_claim = False
    votes = False

    def needs(self, services: ScoringServices) -> Needs:
        return Needs(selection="majority", samples=2)

    def unavailable(self, services: ScoringServices) -> str | None:
        return None

    def refusal(self, params: "RequestParams", services: ScoringServices) -> str | None:
        return "agreement compares several samples: set samples to 2 or more" if params.samples == 1 else None

    def scorer(self, services: ScoringServices) -> "Agreement":
        return self

    async def score(self, sample: FinishedSample) -> Score:
        ballot = sample.ballot
        if ballot is None or ballot.drawn < 2:
            return Score(Signal.missing(ONE_SAMPLE))
        if not ballot.members:
            return Score(Signal.missing("no sample has an answer that could be read"))
        if sample.read().answer is None:
            return Score(Signal.missing("most samples declined, so there is no answer to agree on"))
        return Score(Signal((ballot.members - 1) / (ballot.drawn - 1)))

    def of_field(self, field: FieldValue, sample: FinishedSample) -> Signal:
        """The share of the other samples that have this value at this path; missing for a single sample."""
        drawn = 0 if sample.ballot is None else sample.ballot.drawn
        if drawn < 2 or field.agreement is None:
            return Signal.missing(ONE_SAMPLE)
        return Signal((round(field.agreement * drawn) - 1) / (drawn - 1))
