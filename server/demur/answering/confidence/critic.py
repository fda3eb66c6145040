"""The confidence that a critic gives: the value head of a PPO run, over the generator's tokens.

Reference: arXiv:2512.19920, section 3.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.answering.confidence.base import FinishedSample, Needs, Score, ScoringServices
from demur.answering.confidence.signal import Signal
from demur.core.answers import ParsedConfidence
from demur.engine.base import EngineError, Prompt
from demur.engine.critic import Critic
from demur.manifest import Critic as CriticDescription

if TYPE_CHECKING:
    from demur.answering.params import RequestParams


@dataclass(frozen=True, slots=True)
class ValueEstimates:
    """The expected success of one output after its prompt and after each of its tokens but the last, in [0, 1].

    That is one value for each token: the i-th knows what stands before the i-th token. None where the critic gave no
    number. Training never reaches the critic's output at the last token (arXiv:2512.19920, section 3.2; GAE in verl),
    which is the end token of an output that came to its end.
    """

    before: tuple[float | None, ...]

    @property
    def confidence(self) -> ParsedConfidence:
        """The value before the last token, where the whole answer has been seen."""
        last = self.before[-1]
        return ParsedConfidence("invalid") if last is None else ParsedConfidence("value", last)

    @property
    def after(self) -> tuple[float | None, ...]:
        """One value for each token, with that token seen; None for the last one."""
        return *self.before[1:], None


class CriticScorer:
    """Scores outputs with a critic (value model), on the scale that its model's manifest gives it."""

    def __init__(self, critic: Critic, description: CriticDescription) -> None:
        self._critic = critic
        self._description = description

    async def score(self, sample: FinishedSample) -> Score:
        """The critic's confidence in the whole answer: one prefill, nothing generated. Raises EngineError as `estimate`
        does."""
        values = await self.estimate(sample.prompt, sample.token_ids, request_id=sample.request_id)
        said = "the critic gave no number"
        return Score(Signal.of(values.confidence, said, said), values)

    async def estimate(self, prompt: Prompt, output: Sequence[int], *, request_id: str) -> ValueEstimates:
        """The expected success before each token of `output`, the generator's own token ids.

        Raises EngineError where the critic fails, and where the engine does not tell the tokens of prompt and output.
        """
        if not prompt.token_ids or not output:
            raise EngineError("a critic needs the tokens of prompt and output, and this engine does not tell them")
        seen = [*prompt.token_ids, *output[:-1]]
        values = await self._critic.values(seen, request_id=f"{request_id}-critic")
        return ValueEstimates(tuple(self._description.probability(value) for value in values[-len(output) :]))


class CriticValue:
    """The critic's value once the whole answer stands. It says nothing of single claims."""

    per_claim = False
    votes = True

    def needs(self, services: ScoringServices) -> Needs:
        return Needs()

    def unavailable(self, services: ScoringServices) -> str | None:
        return None if self.scorer(services) else "no critic is served with this model; use 'verbalized'"

    def refusal(self, params: "RequestParams", services: ScoringServices) -> str | None:
        return None

    def scorer(self, services: ScoringServices) -> CriticScorer | None:
        described = services.manifest.critic
        return None if services.critic is None or described is None else CriticScorer(services.critic, described)
