"""The samples of one request while they are read: what may be shown, when enough is known, what they come to."""

from collections.abc import Sequence
from typing import Protocol

from demur.answering import outcome
from demur.answering.answer import Outcome, Usage
from demur.answering.drawing import Piece
from demur.answering.events import Event, SampleDone
from demur.answering.plan import Plan
from demur.answering.sample import Sample
from demur.answering.showing import show
from demur.answering.votes import KeyOf, vote_of
from demur.core.answers import State
from demur.core.stopping import Vote, beyond_hope


class Round(Protocol):
    """Fed with what arrives from the engine until it is `over` or nothing more comes."""

    @property
    def samples(self) -> Sequence[Sample]: ...

    @property
    def stopped(self) -> Sequence[Sample]:
        """Those that did not come to their end."""
        ...

    @property
    def over(self) -> bool:
        """Whether the samples that still run cannot matter any more."""
        ...

    async def take(self, i: int, piece: Piece | None) -> list[Event]:
        """What the caller may see of the next piece of the i-th sample; None is the sample's end."""
        ...

    def outcome(self) -> Outcome:
        """What the samples come to. Raises SampleLost when one ended that nobody stopped."""
        ...

    @property
    def states(self) -> tuple[State, ...]:
        """How the confidences of the samples that came to their end could be read."""
        ...


def round_for(plan: Plan, key_of: KeyOf) -> Round:
    return OneSample(plan) if plan.samples == 1 else ManySamples(plan, key_of)


class OneSample:
    """Its text is shown as it comes where nothing can be withheld; with nothing left to hope for it may be given up."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._sample = Sample(plan)
        self._ended = False

    @property
    def samples(self) -> Sequence[Sample]:
        return [self._sample]

    @property
    def stopped(self) -> Sequence[Sample]:
        return [] if self._ended else [self._sample]

    @property
    def over(self) -> bool:
        hopeless = beyond_hope(self._sample.running_confidence, self._plan.risk_threshold)
        return self._plan.gives_up and hopeless and not self._ended

    async def take(self, i: int, piece: Piece | None) -> list[Event]:
        if piece is not None:
            return show(self._sample.take(piece), self._plan)
        self._ended = True
        return show(self._sample.close(), self._plan)

    def outcome(self) -> Outcome:
        return outcome.of_one(self._plan, self._sample) if self._ended else outcome.of_hopeless(self._sample)

    @property
    def states(self) -> tuple[State, ...]:
        return (self._sample.completion.state,) if self._ended else ()


class ManySamples:
    """Each sample votes when it ends; none of their text is shown before the vote is over."""

    def __init__(self, plan: Plan, key_of: KeyOf) -> None:
        self._plan = plan
        self._key_of = key_of
        self._samples = [Sample(plan) for _ in range(plan.samples)]
        self._vote = Vote(plan.rule, plan.samples, plan.stopping, plan.error_budget)

    @property
    def samples(self) -> Sequence[Sample]:
        return self._samples

    @property
    def stopped(self) -> Sequence[Sample]:
        ended = {voter.id for voter in self._vote.samples}
        return [sample for i, sample in enumerate(self._samples) if i not in ended]

    @property
    def over(self) -> bool:
        return self._vote.over

    async def take(self, i: int, piece: Piece | None) -> list[Event]:
        sample = self._samples[i]
        if piece is not None:
            sample.take(piece)
            return []
        sample.close()
        self._vote.add(await vote_of(i, sample.completion, self._key_of))
        return [SampleDone(i, sample.completion.confidence, sample.completion.state)]

    def outcome(self) -> Outcome:
        return outcome.of_vote(self._plan, self._vote, self._samples)

    @property
    def states(self) -> tuple[State, ...]:
        return tuple(sample.state for sample in self._vote.samples)


def written(current: Round) -> int:
    """Tokens of all samples so far; where the engine does not count them, chunks."""
    return sum(sample.tokens for sample in current.samples)


def spared(current: Round, max_tokens: int) -> int:
    """Tokens that the samples stopped before their end could still have cost, each up to `max_tokens`. They would
    hardly all have become that long: an upper bound."""
    return sum(max(max_tokens - sample.tokens, 0) for sample in current.stopped)


def usage_of(current: Round) -> Usage:
    """Tokens and samples so far, and for good once the round is over."""
    samples = current.samples
    written = [sample.completion_tokens for sample in samples if sample.chunks]
    known = [count for count in written if count is not None]
    drawn = len(current.states)
    return Usage(
        prompt_tokens=next((s.prompt_tokens for s in samples if s.prompt_tokens is not None), None),
        completion_tokens=sum(known) if len(known) == len(written) else None,
        samples_drawn=drawn,
        samples_aborted=len(samples) - drawn,
    )
