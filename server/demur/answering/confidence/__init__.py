"""The confidence sources: what is compared with the risk threshold. A new one is one module and one line here."""

from demur.answering.confidence.base import ConfidenceSource, FinishedSample, Score, Scorer, ScoringServices
from demur.answering.confidence.critic import CriticScorer, CriticValue, ValueEstimates
from demur.answering.confidence.verbalized import Verbalized

__all__ = [
    "SOURCES",
    "ConfidenceSource",
    "CriticScorer",
    "FinishedSample",
    "Score",
    "Scorer",
    "ScoringServices",
    "ValueEstimates",
]

SOURCES: dict[str, ConfidenceSource] = {"verbalized": Verbalized(), "critic": CriticValue()}
"""By the value of `confidence_source`, the default first."""
