"""Several samples of one question -> one answer (arXiv:2512.19920, section 4.4: Maxconf, Majconf and Majority).

A rule ranks groups of samples whose answers mean the same. Which answer wins depends on the samples alone, never on
the order in which they came: sums are kept in whole billionths, and ties are broken by

1. what the rule counts: the highest confidence (maxconf), their sum (majconf), the members (majority);
2. maxconf: the sum, then the members that state a confidence; majconf: the members; majority: the sum;
3. the smaller canonical answer. Declining ("I don't know", explicit-risk contract) comes before every answer.

A sample without a confidence counts for nothing in maxconf, 0 in majconf and 1 in majority. One without a readable
answer is in no group.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import exp, fsum, log

from demur.core.answers import Completion, ConfidenceStatus
from demur.core.vote_posterior import MARGIN, certain, stopping_level

SelectionRule = str
"""A key of `RULES`."""

SCALE = 10**9
"""Confidences are added up as whole multiples of 1 / SCALE: 0.1 + 0.2 ties with 0.3."""

IDK = "!idk"
"""The key of the samples that declined. It sorts before every `answer_key`."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample's vote. `key` is its `answer_key`, None when it has no readable answer; `answer` is as written.

    `confidence` is in [0, 1], and None unless `state` is "value". `id` tells samples of one vote apart.
    """

    id: int
    key: str | None
    answer: str | None
    confidence: float | None
    state: ConfidenceStatus

    @property
    def idk(self) -> bool:
        return self.key == IDK


def sample_of(id: int, completion: Completion, key: str | None) -> Sample:
    """A completion as a vote. `key` is the `answer_key` of its answer."""
    if completion.idk:
        return Sample(id, IDK, None, completion.confidence, completion.state)
    return Sample(id, key, completion.answer if key else None, completion.confidence, completion.state)


@dataclass(frozen=True, slots=True)
class GroupTally:
    """What the rules may know of one group. `total` and `top` in units of 1 / SCALE; `top` is -1 if none is stated.

    `stated` members have a confidence, `at_top` of them the highest one.
    """

    members: int = 0
    stated: int = 0
    total: int = 0
    top: int = -1
    at_top: int = 0

    def plus(self, confidence: float | None, times: int = 1) -> "GroupTally":
        """With `times` more members of that confidence."""
        if times == 0:
            return self
        if confidence is None:
            return replace(self, members=self.members + times)
        units = round(confidence * SCALE)
        before = self.at_top if units <= self.top else 0
        return GroupTally(
            members=self.members + times,
            stated=self.stated + times,
            total=self.total + units * times,
            top=max(self.top, units),
            at_top=before + (times if units >= self.top else 0),
        )


Rank = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that chooses one group of equal answers.

    `rank` orders groups, best highest, and must not fall when members join. `confidence` turns the confidences stated
    in the chosen group into the answer's. `may_stop` says whether a vote may stop with probability 1 - error budget of
    keeping its winner: (the leader's tally, then the others'; k; samples to come; error budget) -> bool.
    """

    rank: Callable[[GroupTally], Rank]
    confidence: Callable[[list[float]], float]
    may_stop: Callable[[list[GroupTally], int, int, float], bool]


@dataclass(frozen=True, slots=True)
class Group:
    """Samples that gave the same answer. `answer` is the representative's, None for declining.

    `vote_share` is of all samples, readable or not. The confidences are None where no member states one.
    """

    key: str
    answer: str | None
    representative: Sample
    members: tuple[int, ...]
    vote_share: float
    mean_confidence: float | None
    max_confidence: float | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """The outcome of a vote. `groups` are ranked, the chosen one first; `sample` stands for it.

    `sample` is None when no sample has a readable answer. `confidence` is the chosen answer's, and `state` says why
    there is none.
    """

    groups: tuple[Group, ...]
    sample: Sample | None
    confidence: float | None
    state: ConfidenceStatus

    @property
    def answer(self) -> str | None:
        return self.sample.answer if self.sample else None

    @property
    def idk(self) -> bool:
        """Whether declining won."""
        return self.sample is not None and self.sample.idk


def select(samples: Iterable[Sample], rule: SelectionRule) -> Selection:
    """The winner among samples, in any order. Raises ValueError for two samples with one id."""
    by_id = sorted(samples, key=lambda sample: sample.id)
    if len({sample.id for sample in by_id}) < len(by_id):
        raise ValueError("two samples have the same id")
    groups = _grouped(by_id)
    ranked = sorted(groups, key=lambda key: standing(tally(groups[key]), key, rule))
    if not ranked:
        return Selection((), None, None, _why_none(by_id))
    winners = groups[ranked[0]]
    stated = [sample.confidence for sample in winners if sample.confidence is not None]
    confidence = RULES[rule].confidence(stated) if stated else None
    described = tuple(_described(key, groups[key], len(by_id), key == ranked[0]) for key in ranked)
    state = "value" if stated else _why_none(winners)
    return Selection(described, described[0].representative, confidence, state)


def standing(counted: GroupTally, key: str, rule: SelectionRule) -> tuple[Rank, str]:
    """The sort key of a group of equal answers, the best group first: the rule's rank, then the smaller answer key."""
    return tuple(-value for value in RULES[rule].rank(counted)), key


def tally(samples: Iterable[Sample]) -> GroupTally:
    """Members and summed confidences of a group of samples."""
    counted = GroupTally()
    for sample in samples:
        counted = counted.plus(sample.confidence)
    return counted


def _grouped(samples: Iterable[Sample]) -> dict[str, list[Sample]]:
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        if sample.key is not None:
            groups.setdefault(sample.key, []).append(sample)
    return groups


def _described(key: str, members: list[Sample], drawn: int, chosen: bool) -> Group:
    stated = [sample.confidence for sample in members if sample.confidence is not None]
    best = min(members, key=lambda s: (s.confidence is None, -(s.confidence or 0.0), s.answer or "", s.id))
    return Group(
        key=key,
        answer=best.answer,
        representative=best,
        members=tuple(sample.id for sample in members),
        vote_share=len(members) / drawn,
        mean_confidence=fsum(stated) / len(stated) if stated else None,
        max_confidence=max(stated, default=None),
        chosen=chosen,
    )


def _why_none(samples: Iterable[Sample]) -> ConfidenceStatus:
    """Why there is no confidence: one that is no probability says more than one that is missing."""
    return "invalid" if any(sample.state == "invalid" for sample in samples) else "missing"


def _highest(confidences: list[float]) -> float:
    """The highest confidence a member states.

    smECE / Brier on five calibrated populations, k = 4, 16, 64 (`python -m bench chosen`): maxconf 0.040 / 0.074, the
    members' mean 0.100 / 0.088, their share of all confidence 0.100 / 0.144; majconf 0.054 / 0.061, 0.097 / 0.066,
    0.078 / 0.142. On the embedded model, k = 16 (`python -m bench replay`): majconf 0.047 / 0.109, 0.046 / 0.109,
    0.157 / 0.148. It inherits the model's miscalibration: 0.12 to 0.19 where log odds are 1.5 too high.
    """
    return max(confidences)


def _central(confidences: list[float]) -> float:
    """The mean of the members' log odds. Clipped to [0.01, 0.99], so that none is infinite.

    As above, for majority: 0.073 / 0.049; the highest 0.081 / 0.064, the vote share 0.087 / 0.155. Log odds added up
    are better there, 0.052 / 0.046, but take samples of one model for independent witnesses: on the embedded model they
    come to 0.150 / 0.143, the mean to 0.048 / 0.107, the highest to 0.042 / 0.106.
    """
    clipped = [min(max(p, 0.01), 0.99) for p in confidences]
    return 1 / (1 + exp(-fsum(log(p / (1 - p)) for p in clipped) / len(clipped)))


def _by_members(tallies: list[GroupTally], k: int, remaining: int, error_budget: float) -> bool:
    return certain([t.members for t in tallies], remaining, stopping_level(k, error_budget))


def _by_total(tallies: list[GroupTally], k: int, remaining: int, error_budget: float) -> bool:
    """Each vote to come is taken to weigh a full 1, whatever was stated so far: one sure sample outweighs many doubtful
    ones. A missing confidence weighs nothing, so a vote in which none was stated yet stays open."""
    return certain([t.total / SCALE for t in tallies], remaining, stopping_level(k, error_budget))


def _by_top(tallies: list[GroupTally], k: int, remaining: int, error_budget: float) -> bool:
    """The highest of k confidences is among those to come with probability remaining / k, and then in another group as
    often as the samples seen say (with one more of each kind). Where the highest is shared, the sums decide too."""
    stated, highest = sum(t.stated for t in tallies), max(t.top for t in tallies)
    elsewhere = (stated - tallies[0].stated + 1) / (stated + 2)
    if not stated or remaining / k * elsewhere > MARGIN * error_budget:
        return False
    shared = sum(t.at_top for t in tallies if t.top == highest) > 1
    return not shared or _by_total(tallies, k, remaining, error_budget)


RULES: dict[str, Rule] = {
    "maxconf": Rule(lambda t: (t.top, t.total, t.stated, t.members * (t.stated == 0)), _highest, _by_top),
    "majconf": Rule(lambda t: (t.total, t.members), _highest, _by_total),
    "majority": Rule(lambda t: (t.members, t.total), _central, _by_members),
}
"""A new rule is one `Rule` (rank, confidence, may_stop) and one line here. Ranks are plain arithmetic:
`demur.core.scaling` evaluates them on arrays."""
