"""Signals: raw numbers about one answer, each in [0, 1] or missing with the reason, and what getting them cost."""

from collections.abc import Mapping
from dataclasses import dataclass

from demur.core.answers import ConfidenceStatus, ParsedConfidence


@dataclass(frozen=True, slots=True)
class Cost:
    """What a signal took beside the samples themselves: further calls to the model and their tokens.

    `cached_tokens` of the `prompt_tokens` were in the engine's prefix cache already; None where the engine does not
    tell. `milliseconds` is what the reply waited for it.
    """

    calls: int = 0
    prompt_tokens: int | None = 0
    cached_tokens: int | None = None
    completion_tokens: int | None = 0
    milliseconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens that the engine read anew and wrote, as far as it counts them."""
        return max((self.prompt_tokens or 0) - (self.cached_tokens or 0), 0) + (self.completion_tokens or 0)


@dataclass(frozen=True, slots=True)
class Signal:
    """One number in [0, 1] about an answer. `value` is None unless `state` is "value"; `reason` then says why.

    A missing signal is never a number: 0 would say that the answer is surely wrong.
    """

    value: float | None
    state: ConfidenceStatus = "value"
    reason: str | None = None
    cost: Cost | None = None

    @classmethod
    def missing(cls, reason: str, cost: Cost | None = None) -> "Signal":
        """A signal that is not there. `reason` is shown to callers, so it must hold no text of an output."""
        return cls(None, "missing", reason, cost)

    @classmethod
    def of(cls, confidence: ParsedConfidence, missing: str, invalid: str) -> "Signal":
        """A confidence that was read; the texts say why there is none where there is none."""
        if confidence.value is not None:
            return cls(confidence.value)
        return cls(None, confidence.state, invalid if confidence.state == "invalid" else missing)


Signals = Mapping[str, Signal]
"""By the name of the source."""


def tokens_of(signals: Signals) -> int | None:
    """The tokens of all further calls; None where there was none."""
    costs = [signal.cost for signal in signals.values() if signal.cost is not None]
    return sum(cost.tokens for cost in costs) if costs else None
