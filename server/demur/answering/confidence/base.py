"""The port for confidence sources: signals, any of which may be compared with the risk threshold.

A signal is computed only where something needs it: it decides, it is shown, or another source is made of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from demur.answering.confidence.signal import Signal, Signals
from demur.calibration.store import CalibratorStore
from demur.core.answers import Completion
from demur.engine.base import Engine, Prompt, TokenLogprob
from demur.engine.critic import Critic
from demur.manifest import Manifest

if TYPE_CHECKING:
    from demur.answering.confidence.critic import ValueEstimates
    from demur.answering.params import RequestParams


@dataclass(frozen=True, slots=True)
class ScoringServices:
    """What a server has that a signal can be computed with. `critic` is the one that the manifest describes."""

    engine: Engine
    manifest: Manifest
    critic: Critic | None = None
    calibrators: CalibratorStore = field(default_factory=CalibratorStore)


@dataclass(frozen=True, slots=True)
class Ballot:
    """How a vote ended for the answer it chose: `members` of the `drawn` samples gave it."""

    members: int
    drawn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSample:
    """One sample that came to its end. `token_ids` are the generator's own, empty where the engine tells none.

    `logprobs` are there where `Needs.logprobs` asks for them and the engine tells them. `read` gives what it says, and
    `answer_span` where in `text` its answer stands, [start, end) in code points. `ballot` is there when a vote has
    chosen it, and `signals` are those of `Needs.signals`.
    """

    prompt: Prompt
    token_ids: Sequence[int]
    text: str
    request_id: str
    read: Callable[[], Completion]
    answer_span: Callable[[str], tuple[int, int] | None]
    logprobs: Sequence[TokenLogprob] = ()
    ballot: Ballot | None = None
    signals: Signals = field(default_factory=dict[str, Signal])


@dataclass(frozen=True, slots=True)
class Score:
    """A signal of one sample. `values` are the critic's estimates it comes from, where it comes from them."""

    signal: Signal
    values: "ValueEstimates | None" = None


Scores = Mapping[str, Score]
"""By the name of the source."""


class Scorer(Protocol):
    """Computes one signal of one sample after the other; there is one for each server."""

    async def score(self, sample: FinishedSample) -> Score:
        """The signal of one sample, in [0, 1] or missing with the reason. Raises EngineError where the engine or the
        critic fails."""
        ...


@dataclass(frozen=True, slots=True)
class Needs:
    """What has to be there before a signal can be computed.

    `signals` are other sources by name, which are then in `FinishedSample.signals`. `selection` is the rule of the vote
    that it comes from, where it decides.
    """

    signals: tuple[str, ...] = ()
    selection: str | None = None
    logprobs: bool = False
    """Those of the tokens that are drawn."""
    samples: int = 1
    """How many at least."""
    calls: int = 0
    """Further calls to the model for each answer."""


class ConfidenceSource(Protocol):
    """One way to get a signal; the value of `confidence_source` is its key in `SOURCES`."""

    @property
    def per_claim(self) -> bool:
        """Whether single claims get a confidence, from which the response's is aggregated while it is written.

        Otherwise there is one for the whole response, after it has ended.
        """
        ...

    @property
    def votes(self) -> bool:
        """Whether it is computed for each of several samples as it ends, which then votes with it.

        Otherwise it is computed once, for the answer that a vote by what the samples state has chosen.
        """
        ...

    def needs(self, services: ScoringServices) -> Needs:
        """What has to be there first."""
        ...

    def unavailable(self, services: ScoringServices) -> str | None:
        """Why this server cannot compute it, for the caller who asked; None where it can."""
        ...

    def refusal(self, params: "RequestParams", services: ScoringServices) -> str | None:
        """Why this request cannot have it, and what to change; None where it can."""
        ...

    def scorer(self, services: ScoringServices) -> Scorer | None:
        """What computes it; None where it is unavailable."""
        ...
