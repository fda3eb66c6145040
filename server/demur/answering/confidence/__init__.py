"""The confidence sources: what is compared with the risk threshold. A new one is one module and one line here."""

from demur.answering.confidence.agreement import Agreement
from demur.answering.confidence.answer_logprob import AnswerLogprob
from demur.answering.confidence.base import (
    Ballot,
    ConfidenceSource,
    FinishedSample,
    Needs,
    Score,
    Scorer,
    Scores,
    ScoringServices,
)
from demur.answering.confidence.calibrated import CALIBRATED, Calibrated
from demur.answering.confidence.critic import CriticScorer, CriticValue, ValueEstimates
from demur.answering.confidence.of_fields import FieldSignals, FieldSource
from demur.answering.confidence.p_true import PTrue
from demur.answering.confidence.signal import Cost, Signal, Signals
from demur.answering.confidence.verbalized import Verbalized

__all__ = [
    "CALIBRATED",
    "SOURCES",
    "Ballot",
    "ConfidenceSource",
    "Cost",
    "CriticScorer",
    "FieldSignals",
    "FieldSource",
    "FinishedSample",
    "Needs",
    "Score",
    "Scorer",
    "Scores",
    "ScoringServices",
    "Signal",
    "Signals",
    "ValueEstimates",
]

SOURCES: dict[str, ConfidenceSource] = {
    "verbalized": Verbalized(),
    "critic": CriticValue(),
    "answer_logprob": AnswerLogprob(),
    "agreement": Agreement(),
    "p_true": PTrue(),
    CALIBRATED: Calibrated(),
}
"""By the value of `confidence_source`, the default first."""
