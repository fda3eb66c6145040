"""The confidence that the model wrote into its output (arXiv:2512.19920, section 3.2)."""

from typing import TYPE_CHECKING

from demur.answering.confidence.base import Scorer, ScoringServices

if TYPE_CHECKING:
    from demur.answering.params import RequestParams


class Verbalized:
    """Needs nothing: the parser reads it, for the response or claim by claim."""

    per_claim = True

    def unavailable(self, services: ScoringServices) -> str | None:
        return None

    def refusal(self, params: "RequestParams") -> str | None:
        return None

    def scorer(self, services: ScoringServices) -> Scorer | None:
        return None
