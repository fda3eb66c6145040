"""The confidence sources: what is compared with the risk threshold. A new one is one module and one line here."""

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
from demur.answering.confidence.critic import CriticScorer, CriticValue, ValueEstimates
from demur.answering.confidence.signal import Cost, Signal, Signals
from demur.answering.confidence.verbalized import Verbalized

__all__ = [
    "SOURCES",
    "Ballot",
    "ConfidenceSource",
    "Cost",
    "CriticScorer",
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

SOURCES: dict[str, ConfidenceSource] = {"verbalized": Verbalized(), "critic": CriticValue()}
"""By the value of `confidence_source`, the default first."""
