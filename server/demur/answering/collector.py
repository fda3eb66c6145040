"""Collects the samples of one request: what may be shown of them, when to stop early, what they come to."""

from collections.abc import Sequence
from typing import Protocol

from demur.answering import outcome
from demur.answering.answer_equivalence import EquivalenceKey, vote_of
from demur.answering.events import Event, SampleDone
from demur.answering.outcome import Candidate
from demur.answering.redaction import visible_events
from demur.answering.resolved_request import ResolvedRequest
from demur.answering.response import Usage
from demur.answering.sample_reader import SampleReader
from demur.answering.sampler import Piece, SampleBatch
from demur.core.answers import ConfidenceStatus
from demur.core.stopping import Vote, cannot_reach_threshold


class SampleCollector(Protocol):
    """Collects the samples of one request: fed with what arrives from the engine until it is `over`."""

    @property
    def samples(self) -> Sequence[SampleReader]: ...

    @property
    def stopped(self) -> Sequence[SampleReader]:
        """The samples that did not come to their end."""
        ...

    @property
    def over(self) -> bool:
        """Whether the samples that still run cannot matter any more."""
        ...

    async def take(self, i: int, piece: Piece | None) -> list[Event]:
        """What the caller may see of the next piece of the i-th sample; None is the sample's end."""
        ...

    def candidate(self) -> Candidate:
        """What the samples come to, before it is decided. Raises SampleLost when one ended that nobody stopped."""
        ...

    @property
    def states(self) -> tuple[ConfidenceStatus, ...]:
        """How the confidences of the samples that came to their end could be read."""
        ...


def collector_for(request: ResolvedRequest, key_of: EquivalenceKey) -> SampleCollector:
    """What reads the samples of `request`: one that is streamed, or several that vote."""
    return SingleSample(request) if request.samples == 1 else VotingSamples(request, key_of)


class SingleSample:
    """One sample: its text is streamed where nothing can be withheld, and it may be stopped by early abstention."""

    def __init__(self, request: ResolvedRequest) -> None:
        self._request = request
        self._sample = SampleReader(request)
        self._ended = False

    @property
    def samples(self) -> Sequence[SampleReader]:
        return [self._sample]

    @property
    def stopped(self) -> Sequence[SampleReader]:
        return [] if self._ended else [self._sample]

    @property
    def over(self) -> bool:
        too_low = cannot_reach_threshold(self._sample.running_confidence, self._request.risk_threshold)
        return self._request.abstains_early and too_low and not self._ended

    async def take(self, i: int, piece: Piece | None) -> list[Event]:
        if piece is not None:
            return visible_events(self._sample.take(piece), self._request)
        self._ended = True
        return visible_events(self._sample.close(), self._request)

    def candidate(self) -> Candidate:
        return outcome.of_one(self._sample) if self._ended else outcome.of_early_abstention(self._sample)

    @property
    def states(self) -> tuple[ConfidenceStatus, ...]:
        return (self._sample.completion.state,) if self._ended else ()


class VotingSamples:
    """Each sample votes when it ends; none of their text is shown before the vote is over."""

    def __init__(self, request: ResolvedRequest, key_of: EquivalenceKey) -> None:
        self._request = request
        self._key_of = key_of
        self._samples = [SampleReader(request) for _ in range(request.samples)]
        self._vote = Vote(request.counting_rule, request.samples, request.stopping, request.error_budget)

    @property
    def samples(self) -> Sequence[SampleReader]:
        return self._samples

    @property
    def stopped(self) -> Sequence[SampleReader]:
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

    def candidate(self) -> Candidate:
        return outcome.of_vote(self._request, self._vote, self._samples)

    @property
    def states(self) -> tuple[ConfidenceStatus, ...]:
        return tuple(sample.state for sample in self._vote.samples)


def tokens_so_far(collector: SampleCollector) -> int:
    """Output tokens of all samples so far; where the engine does not count them, chunks."""
    return sum(sample.tokens for sample in collector.samples)


def tokens_saved_upper_bound(collector: SampleCollector, max_tokens: int) -> int:
    """Tokens that the samples stopped before their end could still have cost, each up to `max_tokens`. They would
    hardly all have become that long."""
    return sum(max(max_tokens - sample.tokens, 0) for sample in collector.stopped)


def count_untold(collector: SampleCollector, batch: SampleBatch) -> None:
    """Add to the stopped samples the tokens that they had generated and that are in no chunk."""
    for sample, sampling in zip(collector.samples, batch.samplings, strict=True):
        if sampling.untold is not None:
            sample.count_untold(sampling.untold)


def usage_of(collector: SampleCollector) -> Usage:
    """Tokens and samples so far, and for good once the collector is over."""
    samples = collector.samples
    written = [sample.completion_tokens for sample in samples if sample.tokens]
    known = [count for count in written if count is not None]
    drawn = len(collector.states)
    return Usage(
        prompt_tokens=next((s.prompt_tokens for s in samples if s.prompt_tokens is not None), None),
        completion_tokens=sum(known) if len(known) == len(written) else None,
        samples_drawn=drawn,
        samples_aborted=len(samples) - drawn,
    )
