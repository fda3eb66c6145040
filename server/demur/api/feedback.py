"""`/v1/feedback`: verdicts on answers, the queues of what is to be graded, and what was graded so far."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from demur.api.auth import KeyedRoute
from demur.api.context import Context, Right, Shared
from demur.api.errors import ApiError, ErrorBody
from demur.api.feedback_schemas import (
    AnswerId,
    Deleted,
    DriftReport,
    FeedbackBatch,
    FeedbackBatchReply,
    FeedbackReply,
    FeedbackRequest,
    FeedbackSummary,
    GraderReport,
    Progress,
    Queue,
    QueueClaim,
    QueueItem,
    RefitReply,
    RefitRequest,
    ShadowReport,
)
from demur.api.openapi import errors

if TYPE_CHECKING:
    from demur.feedback.errors import FeedbackError
    from demur.feedback.grades import Given, Grader, Kept
    from demur.feedback.service import Feedback
    from demur.feedback.watching import Watched

router = APIRouter(prefix="/v1/feedback", tags=["feedback"], route_class=KeyedRoute)

OFF = ApiError(404, "not_found", "this server keeps no answers; start it with --feedback")
_RIGHTS = {
    "grade": "this key may not grade what others were answered; demur keys create NAME --grade makes one that may",
    "calibrate": "this key may not do that; demur keys create NAME --calibrate makes one that may",
}
_ERRORS = errors(400, 401, 403, 404, 413, 429)


@router.post("", responses=_ERRORS)
async def give_feedback(given: FeedbackRequest, request: Request, context: Shared) -> FeedbackReply:
    """Say whether an answer was right. It is on disk when the reply comes.

    A key may grade what it was answered itself; with the right `grade` also what others were.
    """
    (result,) = await _kept(context).give([_given(given)], _grader(request, context))
    if isinstance(result, Exception):
        raise _refusal(result)
    return _reply(result)


@router.post("/batch", responses=_ERRORS)
async def give_feedback_batch(batch: FeedbackBatch, request: Request, context: Shared) -> FeedbackBatchReply:
    """Up to 1,000 verdicts at once; one that is refused costs no other."""
    feedback = _kept(context)
    results = await feedback.give([_given(each) for each in batch.items], _grader(request, context))
    return FeedbackBatchReply(items=[_reply_or_error(each, request) for each in results])


@router.get("/queue", responses=_ERRORS)
async def take_from_queue(
    request: Request,
    response: Response,
    context: Shared,
    queue: Literal["audit", "learn"] = "audit",
    limit: Annotated[int, Query(ge=0, le=100)] = 1,
) -> Queue:
    """Take items to grade: nobody else gets them until the lease runs out. Needs the right `grade`."""
    feedback = _kept(context)
    _check_right(request, context, "grade")
    response.headers["cache-control"] = "no-store"
    grader = _grader(request, context)
    items = await feedback.claim(queue, grader.name, limit) if limit else []
    counted = await feedback.progress(queue)
    planned = feedback.options.planned if queue == "audit" else None
    return Queue(queue=queue, items=[_item(each) for each in items], progress=Progress(planned=planned, **counted))


@router.get("/summary", responses=_ERRORS)
async def summarize_feedback(request: Request, context: Shared) -> FeedbackSummary:
    """What was kept and graded, and whether the share of wrong answers has risen. Needs `grade` or `calibrate`."""
    feedback = _kept(context)
    if not context.may(request, "calibrate"):
        _check_right(request, context, "grade")
    found = await feedback.summarize(graders=context.may(request, "calibrate"))
    graders = (
        None
        if found.graders is None
        else [GraderReport(**asdict(each), remarkable=each.remarkable) for each in found.graders]
    )
    return FeedbackSummary(
        answers=found.answers,
        audit_share=found.audit_share,
        learn_share=found.learn_share,
        audit=Progress(planned=found.planned, **found.audit),
        learn=Progress(planned=None, **found.learn),
        volunteered=found.volunteered,
        gold=found.gold,
        judge=found.judge,
        drift=[drift_report(each) for each in found.drift],
        graders=graders,
        shadows=None if found.shadows is None else [ShadowReport.model_validate(asdict(one)) for one in found.shadows],
    )


@router.post("/refits", responses=_ERRORS)
async def take_refit_rows(asked: RefitRequest, request: Request, context: Shared) -> RefitReply:
    """The graded rows for a new calibrator. Each call counts as a look. Needs the right `calibrate`."""
    feedback = _kept(context)
    _check_right(request, context, "calibrate")
    from demur.feedback.errors import FeedbackError

    try:
        taken = await feedback.refit(asked.since, _grader(request, context).name, asked.level, judge=asked.judge)
    except FeedbackError as error:
        raise _refusal(error) from None
    return RefitReply.model_validate(asdict(taken))


@router.delete("/{answer_id}", responses=_ERRORS)
async def delete_answer(answer_id: AnswerId, request: Request, context: Shared) -> Deleted:
    """Delete a kept answer with its texts and verdicts. Needs the right `calibrate`."""
    feedback = _kept(context)
    _check_right(request, context, "calibrate")
    from demur.feedback.errors import FeedbackError

    try:
        await feedback.remove(answer_id)
    except FeedbackError as error:
        raise _refusal(error) from None
    return Deleted(answer_id=answer_id)


def drift_report(test: "Watched") -> DriftReport:
    """A drift test for callers: the alarm rings at 1 / alpha."""
    return DriftReport(
        watched=test.name,
        max_error=test.max_error,
        threshold=test.threshold,
        audits=test.count,
        wrong=test.wrong,
        e_value=test.e_value,
        processes=dict(test.processes),
        alarm_at=1 / test.alpha,
        drifted_since=None if test.alarm_at is None else int(test.alarm_at),
    )


def _kept(context: Context) -> "Feedback":
    if context.feedback is None:
        raise OFF
    return context.feedback


def _check_right(request: Request, context: Context, right: Right) -> None:
    if not context.may(request, right):
        raise ApiError(403, "permission", _RIGHTS[right])


def _grader(request: Request, context: Context) -> "Grader":
    from demur.feedback.grades import Grader

    return Grader(name=request.scope["state"]["caller"].name, may_grade=context.may(request, "grade"))


def _given(asked: FeedbackRequest) -> "Given":
    from demur.feedback.grades import Given

    words: dict[Any, Any] = {True: "right", False: "wrong", None: "undone"}
    skips: dict[Any, Any] = {"for_good": "skipped", "later": "later", "release": "release"}
    verdict = words[asked.correct] if asked.skip is None else skips[asked.skip]
    return Given(
        answer_id=asked.answer_id,
        verdict=verdict,
        claim=asked.claim,
        sample=asked.sample,
        lease=asked.lease,
        gold=asked.gold,
        judge=asked.judge,
    )


def _refusal(error: "FeedbackError") -> ApiError:
    from demur.feedback.errors import JudgedAudits, LeaseLost, UnknownAnswer

    if isinstance(error, UnknownAnswer):
        return ApiError(404, "not_found", str(error), error.param)
    if isinstance(error, LeaseLost | JudgedAudits):
        return ApiError(409, "conflict", str(error), error.param)
    return ApiError(400, "invalid_request", str(error), error.param)


def _reply(kept: "Kept") -> FeedbackReply:
    return FeedbackReply(
        answer_id=kept.answer_id,
        claim=kept.claim,
        sample=kept.sample,
        verdict=kept.verdict,
        source=kept.source,
        at=int(kept.at),
        repeated=kept.repeated,
    )


def _reply_or_error(result: "Kept | FeedbackError", request: Request) -> FeedbackReply | ErrorBody:
    return _refusal(result).body(request.state.request_id) if isinstance(result, Exception) else _reply(result)


def _item(row: dict[str, Any]) -> QueueItem:
    return QueueItem(
        answer_id=row["id"],
        lease=row["lease"],
        lease_until=int(row["leased_until"]),
        messages=row["messages"],
        answer=row["answer"],
        text=row["text"] or "",
        claims=[QueueClaim(text=text or "", confidence=confidence) for text, confidence in row["claims"]],
        granularity="claims" if row["conditions"].get("granularity") == "claims" else "response",
        gold=row["gold"],
        decision=row["decision"],
        created=int(row["created"]),
    )
