"""From samples that were read to what was decided: one sample, one that was given up, or a vote."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from demur.answering.confidence import ValueEstimates
from demur.answering.doubt import emptied, with_agreement
from demur.answering.resolve import ResolvedRequest
from demur.answering.response import SampleMember, TokenValue
from demur.answering.sample_reader import Ending, SampleReader
from demur.core.answers import Completion, Decision
from demur.core.selection import Group, Selection
from demur.core.stopping import Settled, Vote
from demur.core.threshold import decide

BELOW = Decision("abstain", "below_threshold")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteOutcome:
    """What several samples said, before anything is withheld; see `SampleReport`."""

    drawn: int
    aborted: int
    tokens: int
    tokens_saved: int
    stopped_by: Settled | None
    groups: tuple[Group, ...]
    members: tuple[SampleMember, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the samples of one request came to: the chosen one's completion with the confidence that was decided on.

    `raw` is the output it was read from, `token_ids` are its own, and `ending` how it ended. `values` are a critic's,
    where one was asked before the decision; `token_values` are what of them was asked for.
    """

    completion: Completion
    decision: Decision
    raw: str
    ending: Ending
    token_ids: tuple[int, ...] = ()
    values: ValueEstimates | None = None
    token_values: tuple[TokenValue, ...] | None = None
    vote: VoteOutcome | None = None


def of_one(request: ResolvedRequest, sample: SampleReader) -> Outcome:
    """The only sample decides."""
    return _decided(request, sample.completion, sample)


def of_early_abstention(sample: SampleReader) -> Outcome:
    """A sample stopped half-way, because its claims so far are below the threshold and more can only lower them."""
    confidence = sample.running_confidence
    sample.cut()
    completion = replace(sample.completion, confidence=confidence, state="value")
    return Outcome(completion=completion, decision=BELOW, raw=sample.raw, ending="stop")


def of_vote(request: ResolvedRequest, vote: Vote, samples: Sequence[SampleReader]) -> Outcome:
    """The outcome of a vote: the completion that stands for the winning group, with the confidence of that group."""
    selection = vote.result()
    voters = [samples[voter.id] for voter in vote.samples]
    if selection.sample is not None:
        winner = samples[selection.sample.id]
        completion = winner.completion
    else:
        winner = next((sample for sample in voters if sample.ending == "stop"), voters[0])
        completion = replace(winner.completion, answer=None)
    completion = replace(completion, confidence=selection.confidence, state=selection.state)
    completion = with_agreement(completion, [voter.completion for voter in voters])
    return replace(_decided(request, completion, winner), vote=_described(vote, selection, samples))


def _decided(request: ResolvedRequest, completion: Completion, sample: SampleReader) -> Outcome:
    decision = decide(
        completion, request.risk_threshold, granularity=request.granularity, truncated=sample.ending == "length"
    )
    if request.schema is not None and request.on_doubt == "null":
        left = emptied(completion, request.risk_threshold, request.aggregation, request.schema)
        completion, decision = (completion, BELOW) if left is None else (left, decision)
    return Outcome(
        completion=completion,
        decision=decision,
        raw=sample.raw,
        ending=sample.ending,
        token_ids=tuple(sample.token_ids),
        values=None if sample.score is None else sample.score.values,
    )


def _described(vote: Vote, selection: Selection, samples: Sequence[SampleReader]) -> VoteOutcome:
    groups = {member: place for place, group in enumerate(selection.groups) for member in group.members}
    return VoteOutcome(
        drawn=vote.drawn,
        aborted=len(samples) - vote.drawn,
        tokens=sum(sample.tokens for sample in samples),
        tokens_saved=_saved(samples, [samples[voter.id] for voter in vote.samples]),
        stopped_by=vote.settled,
        groups=selection.groups,
        members=tuple(
            SampleMember(id=s.id, group=groups.get(s.id), confidence=s.confidence, state=s.state) for s in vote.samples
        ),
    )


def _saved(samples: Sequence[SampleReader], ended: Sequence[SampleReader]) -> int:
    """Tokens that the aborted samples would still have cost, had they become as long as the ended ones on average."""
    usual = sum(sample.tokens for sample in ended) / len(ended)
    return round(sum(max(0.0, usual - sample.tokens) for sample in samples if sample not in ended))
