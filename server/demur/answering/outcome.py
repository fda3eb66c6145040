"""From samples that were read to what the reply says: one sample, one that was given up, or a vote."""

from collections.abc import Sequence
from dataclasses import replace

from demur.answering.answer import Outcome, SampleGroup, SampleMember, SampleReport
from demur.answering.plan import Plan
from demur.answering.sample import Sample
from demur.core.answers import Completion, Decision
from demur.core.selection import Group, Selection
from demur.core.stopping import Vote
from demur.core.threshold import decide


def of_one(plan: Plan, sample: Sample) -> Outcome:
    """The only sample decides."""
    return _decided(plan, sample.completion, sample)


def of_hopeless(sample: Sample) -> Outcome:
    """A sample stopped half-way, because its claims so far are below the threshold and more can only lower them."""
    confidence = sample.running_confidence
    sample.cut()
    completion = replace(sample.completion, confidence=confidence, state="value")
    return Outcome(
        completion=completion, decision=Decision("abstain", "below_threshold"), raw=sample.raw, ending="stop"
    )


def of_vote(plan: Plan, vote: Vote, samples: Sequence[Sample]) -> Outcome:
    """The winner of the vote speaks, with the confidence of its group."""
    selection = vote.result()
    voters = [samples[voter.id] for voter in vote.samples]
    if selection.sample is not None:
        winner = samples[selection.sample.id]
        completion = winner.completion
    else:
        winner = next((sample for sample in voters if sample.ending == "stop"), voters[0])
        completion = replace(winner.completion, answer=None)
    completion = replace(completion, confidence=selection.confidence, state=selection.state)
    outcome = _decided(plan, completion, winner)
    return replace(outcome, samples=_report(plan, vote, selection, samples, outcome.decision))


def _decided(plan: Plan, completion: Completion, sample: Sample) -> Outcome:
    decision = decide(
        completion, plan.risk_threshold, granularity=plan.granularity, truncated=sample.ending == "length"
    )
    return Outcome(
        completion=completion,
        decision=decision,
        raw=sample.raw,
        ending=sample.ending,
        tokens=tuple(sample.token_ids),
        values=sample.values,
    )


def _report(
    plan: Plan, vote: Vote, selection: Selection, samples: Sequence[Sample], decision: Decision
) -> SampleReport:
    groups = {member: place for place, group in enumerate(selection.groups) for member in group.members}
    answered = decision.decision == "answer"
    return SampleReport(
        drawn=vote.drawn,
        aborted=len(samples) - vote.drawn,
        tokens=sum(sample.tokens for sample in samples),
        tokens_saved=_saved(samples, [samples[voter.id] for voter in vote.samples]),
        stopped_by=vote.settled,
        groups=tuple(_group(g, shown=plan.include_withheld or (answered and g.chosen)) for g in selection.groups),
        members=tuple(
            SampleMember(id=s.id, group=groups.get(s.id), confidence=s.confidence, state=s.state) for s in vote.samples
        ),
    )


def _group(group: Group, *, shown: bool) -> SampleGroup:
    return SampleGroup(
        answer=group.answer if shown else None,
        members=group.members,
        vote_share=group.vote_share,
        mean_confidence=group.mean_confidence,
        max_confidence=group.max_confidence,
        chosen=group.chosen,
    )


def _saved(samples: Sequence[Sample], ended: Sequence[Sample]) -> int:
    """Tokens that the aborted samples would still have cost, had they become as long as the ended ones on average."""
    usual = sum(sample.tokens for sample in ended) / len(ended)
    return round(sum(max(0.0, usual - sample.tokens) for sample in samples if sample not in ended))
