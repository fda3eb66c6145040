"""From samples that were read to what was decided: one sample, one that was given up, or a vote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from demur.answering.confidence import Ballot, FieldSignals, Score, Scores, Signal, Signals, ValueEstimates
from demur.answering.confidence.verbalized import stated
from demur.answering.doubt import emptied, with_agreement
from demur.answering.resolved_request import ResolvedRequest
from demur.answering.response import SampleMember, TokenValue
from demur.answering.sample_reader import Ending, SampleReader
from demur.answering.tail_forcing import Settlement
from demur.core.aggregation import aggregate
from demur.core.answers import Completion, Decision, ParsedConfidence
from demur.core.decision_rules import unreadable
from demur.core.selection import Group, Selection
from demur.core.stopping import StopReason, Vote
from demur.core.threshold import decide

BELOW = Decision("abstain", "below_threshold")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteOutcome:
    """What several samples said, before anything is withheld; see `SampleReport`."""

    drawn: int
    aborted: int
    tokens: int
    tokens_saved: int
    stopped_by: StopReason | None
    groups: tuple[Group, ...]
    members: tuple[SampleMember, ...]

    @property
    def ballot(self) -> Ballot:
        """How many gave the chosen answer; none where no answer could be read."""
        return Ballot(next((len(group.members) for group in self.groups if group.chosen), 0), self.drawn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What the samples of one request came to, before its signals are complete: the chosen one's completion.

    `as_read` is what that sample itself says, without an answer where none was chosen; `completion` carries the
    confidence of its group. `raw` is the output it was read from, `token_ids` are its own, and `ending` how it ended.
    `scores` are the signals that are known by now.
    """

    sample: SampleReader
    completion: Completion
    ending: Ending
    scores: Scores
    vote: VoteOutcome | None = None
    given_up: bool = False
    """It was stopped half-way, because it could not reach the threshold any more."""

    @property
    def tokens_past_decision(self) -> int:
        """Tokens that were generated in vain, at most. A vote is decided when a sample ends, and stops the others
        there: what they had by then was drawn before."""
        return self.sample.tokens_past_decision if self.given_up else 0

    @property
    def as_read(self) -> Completion:
        return replace(self.sample.as_read, answer=self.completion.answer)

    @property
    def raw(self) -> str:
        return self.sample.raw

    @property
    def token_ids(self) -> tuple[int, ...]:
        return tuple(self.sample.token_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the samples of one request came to: the chosen one's completion with the confidence that was decided on.

    `raw` is the output it was read from, `token_ids` are its own, and `ending` how it ended. `signals` are those that
    the request needed, `values` a critic's, where one was asked before the decision; `token_values` are what of them
    was asked for.
    """

    completion: Completion
    decision: Decision
    raw: str
    ending: Ending
    token_ids: tuple[int, ...] = ()
    signals: Signals = field(default_factory=dict[str, Signal])
    field_signals: FieldSignals = ()
    values: ValueEstimates | None = None
    token_values: tuple[TokenValue, ...] | None = None
    vote: VoteOutcome | None = None
    settled: Settlement | None = None


def of_one(sample: SampleReader) -> Candidate:
    """The only sample."""
    scores = {"verbalized": Score(stated(sample.completion))}
    return Candidate(sample=sample, completion=sample.completion, ending=sample.ending, scores=scores)


def of_early_abstention(sample: SampleReader) -> Candidate:
    """A sample stopped half-way, because its claims so far are below the threshold and more can only lower them."""
    confidence = sample.running_confidence
    sample.cut()
    completion = replace(sample.completion, confidence=confidence, state="value")
    scores = {"verbalized": Score(stated(completion))}
    return Candidate(sample=sample, completion=completion, ending="stop", scores=scores, given_up=True)


def of_vote(request: ResolvedRequest, vote: Vote, samples: Sequence[SampleReader]) -> Candidate:
    """What a vote chose: the completion that stands for the winning group, with the confidence of that group."""
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
    return Candidate(
        sample=winner,
        completion=completion,
        ending=winner.ending,
        scores=_voted(request, winner, selection),
        vote=_described(vote, selection, samples),
    )


def outcome_of(request: ResolvedRequest, candidate: Candidate, scores: Scores) -> Outcome:
    """The outcome, once the signal that decides is among `scores`."""
    completion, critic = candidate.completion, scores.get("critic")
    if candidate.given_up:
        decision = Decision("abstain", "below_threshold")
    else:
        deciding = _deciding(request, candidate, scores)
        scores = {**scores, request.deciding_source: Score(deciding, scores[request.confidence_source].values)}
        completion = replace(completion, confidence=deciding.value, state=deciding.state)
        truncated = candidate.ending == "length"
        decision = decide(completion, request.risk_threshold, granularity=request.granularity, truncated=truncated)
        decision = _within_guarantee(request, decision, deciding)
    if request.schema is not None and request.on_doubt == "null":
        left = emptied(completion, request.risk_threshold, request.aggregation, request.schema)
        completion, decision = (completion, BELOW) if left is None else (left, decision)
    return Outcome(
        completion=completion,
        decision=decision,
        raw=candidate.raw,
        ending=candidate.ending,
        token_ids=candidate.token_ids,
        signals={name: score.signal for name, score in scores.items()},
        values=None if critic is None else critic.values,
        vote=candidate.vote,
        settled=candidate.sample.settled,
    )


def _deciding(request: ResolvedRequest, candidate: Candidate, scores: Scores) -> Signal:
    """The signal that is compared with the threshold. Where claims are calibrated it is made of theirs."""
    source, served = scores[request.confidence_source].signal, request.calibration
    if served is None:
        return source
    if request.granularity == "claims":
        claims = [served.of_claim(claim.confidence) for claim in candidate.completion.claims]
        found = aggregate(claims, request.aggregation)
    else:
        read = {name: ParsedConfidence(one.signal.state, one.signal.value) for name, one in scores.items()}
        found = served.confidence(read)
    missing = "every signal that the calibrator takes is missing"
    return Signal.of(found, source.reason or missing, source.reason or missing)


def _within_guarantee(request: ResolvedRequest, decision: Decision, deciding: Signal) -> Decision:
    """A guarantee covers answers with a confidence alone: at a certified threshold of 0 one without abstains too."""
    uncovered = request.guarantee is not None and request.granularity == "response" and deciding.value is None
    if uncovered and decision.decision == "answer":
        return unreadable("invalid" if deciding.state == "invalid" else "missing")
    return decision


def _voted(request: ResolvedRequest, winner: SampleReader, selection: Selection) -> Mapping[str, Score]:
    """What the samples voted with is the group's; what the winner states beside that is its own."""
    confidence = ParsedConfidence(selection.state, selection.confidence)
    said = "no sample of the chosen answer has one"
    voted = Signal.of(confidence, said, "no sample of the chosen answer has one that is a probability")
    own = {} if winner.score is None else {"verbalized": Score(stated(winner.as_read))}
    return own | {request.voting_source: Score(voted, None if winner.score is None else winner.score.values)}


def _described(vote: Vote, selection: Selection, samples: Sequence[SampleReader]) -> VoteOutcome:
    groups = {member: place for place, group in enumerate(selection.groups) for member in group.members}
    return VoteOutcome(
        drawn=vote.drawn,
        aborted=len(samples) - vote.drawn,
        tokens=sum(sample.tokens for sample in samples),
        tokens_saved=_saved(samples, [samples[voter.id] for voter in vote.samples]),
        stopped_by=vote.stopped_by,
        groups=selection.groups,
        members=tuple(
            SampleMember(
                id=s.id,
                group=groups.get(s.id),
                confidence=s.confidence,
                state=s.state,
                settled=samples[s.id].settled,
            )
            for s in vote.samples
        ),
    )


def _saved(samples: Sequence[SampleReader], ended: Sequence[SampleReader]) -> int:
    """Tokens that the aborted samples would still have cost, had they become as long as the ended ones on average."""
    usual = sum(sample.tokens for sample in ended) / len(ended)
    return round(sum(max(0.0, usual - sample.tokens) for sample in samples if sample not in ended))
