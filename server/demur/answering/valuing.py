"""What a critic says of one output: which tokens it is shown, which of its values count, and as what."""

from collections.abc import Sequence
from dataclasses import dataclass

from demur import manifest
from demur.core.answers import Reading
from demur.engine.base import EngineError, Prompt
from demur.engine.critic import Critic

INVALID = Reading("invalid")


@dataclass(frozen=True, slots=True)
class Values:
    """The expected success of one output after its prompt and after each of its tokens but the last, in [0, 1].

    That is one value for each token: the i-th knows what stands before the i-th token. None where the critic gave no
    number. Training never reaches the critic's output at the last token (paper section 3.2, GAE in verl), which is
    the end token of an output that came to its end.
    """

    before: tuple[float | None, ...]

    @property
    def confidence(self) -> Reading:
        """The value before the last token, where the whole answer has been seen."""
        last = self.before[-1]
        return INVALID if last is None else Reading("value", last)

    @property
    def after(self) -> tuple[float | None, ...]:
        """One value for each token, with that token seen; None for the last one."""
        return *self.before[1:], None


class Valuer:
    """A critic, and the scale that its model's manifest gives it."""

    def __init__(self, critic: Critic, described: manifest.Critic) -> None:
        self._critic = critic
        self._described = described

    async def value(self, prompt: Prompt, written: Sequence[int], *, request_id: str) -> Values:
        """Values of the generator's own token ids: one prefill, nothing generated. Raises EngineError."""
        if not prompt.token_ids or not written:
            raise EngineError("a critic needs the tokens of prompt and output, and this engine does not tell them")
        seen = [*prompt.token_ids, *written[:-1]]
        values = await self._critic.values(seen, request_id=f"{request_id}-critic")
        return Values(tuple(self._described.probability(value) for value in values[-len(written) :]))
