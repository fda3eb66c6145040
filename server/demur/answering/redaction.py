"""Which text of a model's output a caller may see: every rule about withholding is here.

Doubtful claims are never withheld: they are shown, marked `highlight`. Doubtful JSON values are emptied in `doubt`.
An abstention withholds the answer and the text it stands in: in replies, in events before the decision, among the
groups of a vote and in logs, which note nothing but what the reply gives.
"""

from collections.abc import Iterable
from dataclasses import asdict

from demur.answering import doubt
from demur.answering.confidence import Signal
from demur.answering.events import ClaimGiven, Delta, Event, Reset
from demur.answering.outcome import Outcome, VoteOutcome
from demur.answering.resolved_request import ResolvedRequest
from demur.answering.response import (
    Answer,
    CalibrationSet,
    GivenClaim,
    GivenField,
    GivenGuarantee,
    GivenSignal,
    Identity,
    SampleGroup,
    SampleReport,
    SignalCost,
    Usage,
    Withheld,
)
from demur.calibration.calibrator import Guarantee
from demur.calibration.matching import ServedCalibrator
from demur.core import parsing
from demur.core.answers import Claim, Completion, Decision, FieldValue
from demur.core.fields import plain
from demur.core.selection import Group
from demur.core.threshold import decide_claim

WITHHELD = Signal.missing("withheld with the answer")


def text_is_public(request: ResolvedRequest) -> bool:
    """Whether the text is shown even where the server abstains.

    It takes a single sample and one of these: granularity `claims`, where each claim carries its confidence; a risk
    threshold of 0; JSON with `on_doubt: null` whose schema allows null for every value.
    """
    if request.schema is not None and request.on_doubt == "null":
        return request.samples == 1 and request.empties_anywhere
    at_no_risk = request.risk_threshold == 0 and request.contract.states_confidence and request.guarantee is None
    return request.samples == 1 and (request.granularity == "claims" or at_no_risk)


def can_stream_text(request: ResolvedRequest) -> bool:
    """Whether text may be shown before the decision: nothing that is shown could still be withheld."""
    raw = request.samples == 1 and request.include_withheld and request.on_doubt != "null"
    return text_is_public(request) or raw


def is_visible(request: ResolvedRequest, decision: Decision) -> bool:
    """Whether the caller may see the text that was decided on, and with it whatever tells of its tokens."""
    return decision.decision == "answer" or request.include_withheld


def output_is_visible(request: ResolvedRequest, decision: Decision) -> bool:
    """Whether the caller may see the output as it was: also what `on_doubt` has emptied stands in it."""
    return is_visible(request, decision) and (request.on_doubt != "null" or request.include_withheld)


def logprobs_are_visible(request: ResolvedRequest, decision: Decision) -> bool:
    """Whether the caller gets the log-probabilities of the answer's tokens, which tell its text."""
    return decision.decision == "answer" and request.shows_logprobs


def visible_events(events: Iterable[parsing.Event], request: ResolvedRequest) -> list[Event]:
    """The parser's events as the caller gets them, text that is told at once in one: none while what they tell may
    still be withheld."""
    return (
        [_visible_event(event, request) for event in parsing.merge_deltas(events)] if can_stream_text(request) else []
    )


def visible_group(request: ResolvedRequest, decision: Decision, group: Group) -> SampleGroup:
    """One group of a vote. Its answer is told where it is the answer that is given, or where nothing is withheld."""
    told = request.include_withheld or (output_is_visible(request, decision) and group.chosen)
    return SampleGroup(
        answer=group.answer if told else None,
        members=group.members,
        vote_share=group.vote_share,
        mean_confidence=group.mean_confidence,
        max_confidence=group.max_confidence,
        chosen=group.chosen,
    )


def build_answer(identity: Identity, request: ResolvedRequest, outcome: Outcome, usage: Usage) -> Answer:
    """The reply: what the outcome's decision lets the caller see."""
    completion, decision, contract = outcome.completion, outcome.decision, request.contract
    given = tuple(_given(claim, request) for claim in completion.claims) if contract.has_claims else None
    answered, visible = decision.decision == "answer", is_visible(request, decision)
    told = answered or (text_is_public(request) and bool(completion.text or completion.claims))
    withheld = Withheld(answer=completion.answer, text=completion.text, claims=given)
    return Answer(
        id=identity.id,
        created=identity.created,
        model=identity.model,
        calibrated=identity.calibrated or request.calibration is not None,
        contract=contract.name,
        granularity=request.granularity,
        risk_threshold=request.risk_threshold,
        decision=decision.decision,
        reason=decision.reason,
        answer=completion.answer if answered else None,
        confidence=completion.confidence,
        confidence_source=request.deciding_source if contract.states_confidence else "none",
        aggregation=request.aggregation if request.claims_decide else None,
        text=_text(completion, request, answered=answered) if told else None,
        claims=given if told else None,
        fields=_given_fields(outcome, request, visible=visible) if contract.takes_schema else None,
        withheld=withheld if visible and not answered else None,
        raw=outcome.raw if request.include_raw and output_is_visible(request, decision) else None,
        token_values=outcome.token_values
        if request.include_token_values and output_is_visible(request, decision)
        else None,
        settled=outcome.settled,
        signals=_signals(request, outcome) if request.include_signals else None,
        samples=None if outcome.vote is None else _report(outcome.vote, request, decision),
        usage=usage,
        guarantee=None if request.guarantee is None else _guarantee(request.guarantee, request.calibration),
        notice=request.notice,
        conditions=None if request.conditions is None else dict(request.conditions),
    )


def _text(completion: Completion, request: ResolvedRequest, *, answered: bool) -> str:
    """What a stream has shown as well."""
    if answered or not request.contract.takes_schema:
        return completion.text
    return doubt.told(completion, request.risk_threshold, request.on_doubt)


def _guarantee(held: Guarantee, served: ServedCalibrator | None) -> GivenGuarantee | None:
    """What is promised, and by which graded answers."""
    if served is None or held.threshold is None:
        return None
    calibrator = served.calibrator
    return GivenGuarantee(
        max_error=held.max_error,
        delta=calibrator.certification.delta,
        threshold=held.threshold,
        exact=calibrator.certification.exact,
        expected_coverage=held.coverage,
        calibration=CalibrationSet(
            id=calibrator.id,
            rows=calibrator.certification.rows,
            made=calibrator.made,
            kind=calibrator.certification.mode,
            questions=calibrator.questions,
        ),
    )


def _signals(request: ResolvedRequest, outcome: Outcome) -> dict[str, GivenSignal]:
    """What was asked for. Of an answer that is withheld nothing is told but what decided, which is the confidence: with
    the same model at hand, the likelihood of an answer's tokens tells which answer it was."""
    visible = is_visible(request, outcome.decision)
    return {
        name: _signal(outcome.signals[name] if visible or name == request.deciding_source else WITHHELD)
        for name in request.include_signals
    }


def _signal(signal: Signal) -> GivenSignal:
    cost = None if signal.cost is None else SignalCost(**asdict(signal.cost))
    return GivenSignal(value=signal.value, missing=signal.reason, cost=cost)


def _report(vote: VoteOutcome, request: ResolvedRequest, decision: Decision) -> SampleReport:
    return SampleReport(
        drawn=vote.drawn,
        aborted=vote.aborted,
        tokens=vote.tokens,
        tokens_saved=vote.tokens_saved,
        stopped_by=vote.stopped_by,
        groups=tuple(visible_group(request, decision, group) for group in vote.groups),
        members=vote.members,
    )


def _visible_event(event: parsing.Event, request: ResolvedRequest) -> Event:
    match event:
        case parsing.Delta():
            return Delta(event.text)
        case parsing.ClaimRead():
            return ClaimGiven(event.index, _given(event.claim, request))
        case parsing.FieldRead():
            empty = request.on_doubt == "null" and doubt.is_doubtful(event.field, request.risk_threshold)
            return Delta(plain([event.field], [event.field.path] if empty else ()))
        case parsing.Reset():
            return Reset(event.reason)


def _given_fields(outcome: Outcome, request: ResolvedRequest, *, visible: bool) -> tuple[GivenField, ...]:
    return tuple(
        GivenField(
            path=field.path,
            value=field.value if visible else None,
            confidence=field.confidence,
            decision=decide_claim(field.confidence, request.risk_threshold),
            explanation=field.explanation if visible else "",
            agreement=field.agreement,
            signals=_field_signals(outcome, i, shown=visible and not _is_emptied(field, request)),
        )
        for i, field in enumerate(doubt.fields_of(outcome.completion))
    )


def _is_emptied(field: FieldValue, request: ResolvedRequest) -> bool:
    emptied = request.on_doubt == "null" and doubt.is_doubtful(field, request.risk_threshold)
    return emptied and not request.include_withheld


def _field_signals(outcome: Outcome, i: int, *, shown: bool) -> dict[str, GivenSignal] | None:
    """Of a value that is not given none is told, as of answers."""
    if not outcome.field_signals:
        return None
    return {name: _signal(one if shown else WITHHELD) for name, one in outcome.field_signals[i].items()}


def _given(claim: Claim, request: ResolvedRequest) -> GivenClaim:
    confidence, served = claim.confidence, request.calibration
    if served is not None and request.granularity == "claims":
        confidence = served.of_claim(confidence)
    return GivenClaim(
        text=claim.text,
        span=claim.span,
        confidence=confidence,
        explanation=claim.explanation,
        decision=decide_claim(confidence, request.risk_threshold),
        problems=claim.problems,
    )
