"""Bodies and replies of `/v1/feedback`."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from demur.api.errors import ErrorBody
from demur.api.messages import Text
from demur.field_types import WHOLE, BoundedModel

MOST_AT_ONCE = 1000
AnswerId = Annotated[str, Field(pattern=r"^ans_[0-9A-Z]{26}$")]
Index = Annotated[int, Field(ge=0, le=10_000), WHOLE]


def _one_verdict(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [{"required": [name]} for name in ("correct", "skip", "gold")]
    for name in ("skip", "gold"):  # null would say nothing; None stands for "left out"
        described = schema["properties"][name]
        kept = [kind for kind in described.pop("anyOf") if kind != {"type": "null"}]
        schema["properties"][name] = {**kept[0], **described}
        del schema["properties"][name]["default"]


class FeedbackRequest(BoundedModel):
    """A verdict on one answer, or on one of its claims or samples. Sent again it changes nothing."""

    model_config = ConfigDict(json_schema_extra=_one_verdict)

    answer_id: AnswerId
    correct: bool | None = Field(default=None, description="Whether it was right; null takes the verdict back.")
    claim: Index | None = Field(default=None, description="The claim that is meant, counted from 0.")
    sample: Index | None = Field(default=None, description="The sample that is meant, counted from 0.")
    lease: Annotated[str, Field(max_length=60)] | None = Field(
        default=None, description="What the queue gave with the item; without it a verdict is volunteered."
    )
    skip: Literal["later", "for_good", "release"] | None = Field(
        default=None,
        description="Put the item behind the others; say that it cannot be judged, which counts as wrong in audits; or "
        "give it back.",
    )
    gold: Annotated[Text, Field(max_length=2000)] | None = Field(
        default=None, description="The known answer: whether the given one means the same is decided here."
    )

    judge: bool = Field(
        default=False, description="A model gave the verdict, for an item from the queue. Audits take none by default."
    )

    @model_validator(mode="after")
    def _one_of(self) -> "FeedbackRequest":
        given = [name for name in ("correct", "skip", "gold") if name in self.model_fields_set]
        if len(given) != 1:
            raise ValueError("give exactly one of correct, skip and gold")
        if (self.skip is None and given == ["skip"]) or (self.gold is None and given == ["gold"]):
            raise ValueError(f"{given[0]} may be left out, but not null")
        return self


class FeedbackReply(BaseModel):
    """The verdict as it is kept. `source` says what it counts for: a queue, or nothing but itself."""

    object: Literal["feedback"] = "feedback"
    answer_id: str
    claim: int | None
    sample: int | None
    verdict: Literal["right", "wrong", "undone", "skipped", "later", "release"]
    source: Literal["audit", "learn", "volunteered", "gold", "judge"]
    at: int = Field(description="When it was given, in seconds since 1970.")
    repeated: bool = Field(description="It was there already.")


class FeedbackBatch(BoundedModel):
    """Up to 1,000 verdicts, each kept or refused by itself."""

    items: Annotated[list[FeedbackRequest], Field(min_length=1, max_length=MOST_AT_ONCE)]


class FeedbackBatchReply(BaseModel):
    """In the order of the request: the verdict as it is kept, or why it is not."""

    items: list[FeedbackReply | ErrorBody]


class QueueClaim(BaseModel):
    """One claim of an answer."""

    text: str
    confidence: float | None


class QueueItem(BaseModel):
    """An answer to be graded, withheld or not. The confidence is left out: it would tell what to think."""

    answer_id: str
    lease: str
    lease_until: int
    messages: list[dict[str, str]]
    answer: str | None
    text: str
    claims: list[QueueClaim]
    granularity: Literal["response", "claims"] = Field(description="claims: each of them was decided on by itself.")
    gold: str | None
    decision: Literal["answer", "abstain"]
    created: int


class Progress(BaseModel):
    """Of one queue. `planned` is null where nothing was planned."""

    planned: int | None
    graded: int
    skipped: int
    open: int


class Queue(BaseModel):
    """Items that are now the caller's to grade, until their leases run out."""

    object: Literal["feedback.queue"] = "feedback.queue"
    queue: Literal["audit", "learn"]
    items: list[QueueItem]
    progress: Progress


class DriftReport(BaseModel):
    """The drift test of a calibrator, or of a model's own confidence."""

    watched: str
    max_error: float
    threshold: float
    audits: int
    wrong: int
    e_value: float = Field(description="The mean of `processes`; the alarm rings when it reaches `alarm_at`.")
    processes: dict[str, float] = Field(
        description="Evidence against the promise, and under a calibrator that its probabilities are too high."
    )
    alarm_at: float
    drifted_since: int | None = Field(description="When the alarm began, in seconds since 1970; null for no drift.")


class GraderReport(BaseModel):
    """One key. `right` is the share of its audits that it calls right, `deviation` from the others in standard errors;
    `agreed` of `compared` verdicts are what others said about the same thing."""

    grader: str
    graded: int
    audits: int
    right: float | None
    deviation: float | None
    compared: int
    agreed: int
    remarkable: bool


class DecisionCounts(BaseModel):
    """By which calibrator they are given."""

    both: int = 0
    only_served: int = 0
    only_shadow: int = 0
    neither: int = 0


class ShadowReport(DecisionCounts):
    """A calibrator that computes beside the served one, without effect on replies: what it would have decided about the
    same answers, or claims where those are decided on. `right` and `wrong` are the graded audits among them."""

    calibrator: str
    served: str
    decisions: int
    right: DecisionCounts
    wrong: DecisionCounts


class FeedbackSummary(BaseModel):
    """What was kept and graded. Nothing here says what a calibrator would promise: see "No peeking" in the docs."""

    object: Literal["feedback.summary"] = "feedback.summary"
    answers: int = Field(description="Since the shares and the model are what they are.")
    audit_share: float
    learn_share: float
    audit: Progress
    learn: Progress
    volunteered: int
    gold: int
    judge: int = Field(description="Verdicts of judge models.")
    drift: list[DriftReport]
    graders: list[GraderReport] | None = Field(description="For keys that may calibrate.")
    shadows: list[ShadowReport] | None = Field(default=None, description="For keys that may calibrate.")


class RefitRequest(BoundedModel):
    level: Literal["response", "claims"] = Field(
        default="response", description="Whole answers, or the claims of answers that were decided on by claim."
    )
    since: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0.0, description="Seconds since 1970; older answers are left out."
    )
    judge: bool = Field(
        default=True,
        description="False leaves out what a judge graded; a 409 where audits are among that, since the others are no"
        " plain sample then.",
    )


class RefitRowReply(BaseModel):
    problem: str
    answer_id: str
    claim: int | None
    correct: bool
    signals: dict[str, float | None]
    queue: Literal["audit", "learn"]
    weight: float
    judged: bool = Field(description="A model gave the verdict on this answer or claim.")


class RefitReply(BaseModel):
    """Graded rows for `demur calibrate`, without any text. `look` counts the looks at unfinished plans, from 1."""

    object: Literal["feedback.refit"] = "feedback.refit"
    level: Literal["response", "claims"]
    model: str
    fingerprint: str
    conditions: dict[str, Any]
    look: int
    planned: int
    audits: int = Field(description="Audited answers; each has a row, or one for each of its claims.")
    left_out: int
    unjudged: int = Field(description="Claims of audits that nobody judged, which count as wrong.")
    put_off: int = Field(description="Audits that were put off until later, which count as wrong.")
    beyond: int = Field(description="Audits beyond the planned number, which a first look leaves out.")
    rows: list[RefitRowReply]


class Deleted(BaseModel):
    object: Literal["feedback.deleted"] = "feedback.deleted"
    answer_id: str
