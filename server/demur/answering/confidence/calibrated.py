"""P(correct) by a calibrator: a map from other signals, fitted on graded answers of the operator's own."""

from typing import TYPE_CHECKING

from demur.answering.confidence.base import Needs, Scorer, ScoringServices

if TYPE_CHECKING:
    from demur.answering.params import RequestParams

CALIBRATED = "calibrated"


class Calibrated:
    """P(correct) by a calibrator: the confidence that decides wherever one fits the request and no other is named.

    Which one fits, and with it what it is computed from, is known once the whole request is: see
    `demur.answering.calibrator_choice`. A request that none fits is decided on by what the model states, with a notice
    where one would have changed that.
    """

    per_claim = True
    votes = False

    def needs(self, services: ScoringServices) -> Needs:
        return Needs()

    def unavailable(self, services: ScoringServices) -> str | None:
        return None if services.calibrators else "no calibrator is loaded: demur serve --calibrator FILE"

    def refusal(self, params: "RequestParams", services: ScoringServices) -> str | None:
        return None

    def scorer(self, services: ScoringServices) -> Scorer | None:
        return None
