"""The port for confidence sources: where the probability comes from that is compared with the risk threshold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from demur.core.answers import ParsedConfidence
from demur.engine.base import Engine, Prompt
from demur.engine.critic import Critic
from demur.manifest import Manifest

if TYPE_CHECKING:
    from demur.answering.confidence.critic import ValueEstimates
    from demur.answering.params import RequestParams


@dataclass(frozen=True, slots=True)
class ScoringServices:
    """What a server has that a confidence can be computed with. `critic` is the one that the manifest describes."""

    engine: Engine
    manifest: Manifest
    critic: Critic | None = None


@dataclass(frozen=True, slots=True)
class FinishedSample:
    """One sample that came to its end. `token_ids` are the generator's own, empty where the engine tells none."""

    prompt: Prompt
    token_ids: Sequence[int]
    text: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Score:
    """The confidence of one sample. `values` are the critic's estimates it comes from, where it comes from them."""

    confidence: ParsedConfidence
    values: "ValueEstimates | None" = None


class Scorer(Protocol):
    """Computes the confidence of one sample after the other; there is one for each server."""

    async def score(self, sample: FinishedSample) -> Score:
        """Raises EngineError."""
        ...


class ConfidenceSource(Protocol):
    """One way to get a confidence; the value of `confidence_source` is its key in `SOURCES`."""

    @property
    def per_claim(self) -> bool:
        """Whether single claims get a confidence, from which the response's is aggregated while it is written.

        Otherwise there is one for the whole response, after it has ended.
        """
        ...

    def unavailable(self, services: ScoringServices) -> str | None:
        """Why this server cannot compute it, for the caller who asked; None where it can."""
        ...

    def refusal(self, params: "RequestParams") -> str | None:
        """Why this request cannot have it; None where it can."""
        ...

    def scorer(self, services: ScoringServices) -> Scorer | None:
        """What computes it; None where the parser reads it from the output."""
        ...
