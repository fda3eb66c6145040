"""Stopping rules: when more samples cannot, or almost surely will not, change a vote, and when more text cannot change
a decision. `demur.answering.collector` acts on them."""

from collections.abc import Mapping
from typing import Literal

from demur.core.selection import RULES, GroupTally, Sample, Selection, SelectionRule, select, standing

Stopping = Literal["none", "decided", "confident"]
StopReason = Literal["decided", "confident"]


def winner_is_certain(tallies: Mapping[str, GroupTally], remaining: int, rule: SelectionRule) -> bool:
    """Whether no completion of a vote can change its winner. `tallies` are by key; samples to come may say anything.

    A rank never falls when members join, so the worst that can happen is that all samples to come join one rival with
    confidence 1, and none the leader. The rival may be an answer that nobody gave yet, and then its key may win a tie.
    """
    if remaining == 0:
        return True
    if not tallies:
        return False
    leader = _leader(tallies, rule)
    held = standing(tallies[leader], leader, rule)
    if standing(GroupTally().plus(1.0, remaining), "", rule) < held:
        return False
    rivals = (key for key in tallies if key != leader)
    return all(standing(tallies[key].plus(1.0, remaining), key, rule) > held for key in rivals)


def winner_is_likely(
    tallies: Mapping[str, GroupTally], k: int, remaining: int, rule: SelectionRule, error_budget: float
) -> bool:
    """Whether the leader wins the full vote with probability at least 1 - error_budget, as `vote_posterior` models it.

    The model takes samples to be exchangeable: it is too optimistic where short wrong answers end first.
    """
    if remaining == 0:
        return True
    if not tallies:
        return False
    leader = _leader(tallies, rule)
    others = [tally for key, tally in tallies.items() if key != leader]
    return RULES[rule].may_stop([tallies[leader], *others], k, remaining, error_budget)


def _leader(tallies: Mapping[str, GroupTally], rule: SelectionRule) -> str:
    return min(tallies, key=lambda key: standing(tallies[key], key, rule))


class Vote:
    """A vote over k samples that says when it may stop. Feed it with `add` as samples end, in any order.

    `stopping` is none, decided (lossless) or confident (also stops when the winner is as good as certain). Once
    stopped it stays stopped: samples that were under way may still be added, and count in `result`.

    Raises ValueError for k below 1 or an error budget outside (0, 1).
    """

    def __init__(self, rule: SelectionRule, k: int, stopping: Stopping = "none", error_budget: float = 0.01) -> None:
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        if not 0 < error_budget < 1:
            raise ValueError(f"error_budget must lie between 0 and 1, not {error_budget}")
        self.rule: SelectionRule = rule
        self.k = k
        self.stopping: Stopping = stopping
        self.error_budget = error_budget
        self._samples: dict[int, Sample] = {}
        self._tallies: dict[str, GroupTally] = {}
        self._stopped_by: StopReason | None = None

    def add(self, sample: Sample) -> StopReason | None:
        """Count one more sample; what stopped the vote, if anything has.

        Raises ValueError for a sample whose id was counted before, and once all k samples are in.
        """
        if sample.id in self._samples:
            raise ValueError(f"sample {sample.id} is in this vote already")
        if len(self._samples) == self.k:
            raise ValueError(f"this vote has all of its {self.k} samples")
        self._samples[sample.id] = sample
        if sample.key is not None:
            self._tallies[sample.key] = self._tallies.get(sample.key, GroupTally()).plus(sample.confidence)
        self._stopped_by = self._stopped_by or self._judge()
        return self._stopped_by

    @property
    def drawn(self) -> int:
        """Samples counted so far."""
        return len(self._samples)

    @property
    def stopped_by(self) -> StopReason | None:
        """What stopped the vote before its k-th sample; None while it is open, and when it took all k."""
        return self._stopped_by

    @property
    def over(self) -> bool:
        """Whether no further sample is wanted."""
        return self._stopped_by is not None or self.drawn == self.k

    @property
    def samples(self) -> tuple[Sample, ...]:
        """What was counted, by id."""
        return tuple(self._samples[id] for id in sorted(self._samples))

    def result(self) -> Selection:
        """The winner among the samples counted so far."""
        return select(self._samples.values(), self.rule)

    def _judge(self) -> StopReason | None:
        remaining = self.k - self.drawn
        if self.stopping == "none" or remaining == 0:
            return None
        if winner_is_certain(self._tallies, remaining, self.rule):
            return "decided"
        if self.stopping == "confident" and winner_is_likely(
            self._tallies, self.k, remaining, self.rule, self.error_budget
        ):
            return "confident"
        return None


def cannot_reach_threshold(running_confidence: float | None, risk_threshold: float) -> bool:
    """Whether an answer will be abstained on whatever claims follow (contract claims, granularity response).

    `running_confidence` is the min or product of the claims closed so far, None while there is none. More claims can
    only lower it; only a second final solution could void them, and that is not waited for.
    """
    return running_confidence is not None and running_confidence < risk_threshold
