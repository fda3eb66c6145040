"""Moving the risk threshold of an answer that is already here: abstain if and only if confidence < t."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from .errors import RedecideError
from .values import AnswerValues, Claim, ClaimDecision, Content, Reason

A = TypeVar("A", bound=AnswerValues)


def redecide(answer: A, t: float) -> A:
    """`answer` at the threshold t. See `Answer.at`."""
    t = _checked(t)
    if answer.guarantee is not None:
        if t == answer.risk_threshold:
            return answer
        answer = replace(answer, guarantee=None)  # only the thresholds that were tested keep an error rate
    if answer.confidence_source == "none":
        raise RedecideError(
            "this answer was given under the explicit_risk contract: its threshold was part of the prompt and it "
            "has no confidence to compare; ask again with the other risk_threshold"
        )
    answer = replace(answer, claims=_marked(answer.claims, t))
    content = Content(answer.answer, answer.text, answer.claims) if answer else answer.withheld
    if content is not None:
        content = replace(content, claims=_marked(content.claims, t))
    reason = _reason(answer, content, t)
    if reason is not None:
        return _abstaining(answer, t, reason, content)
    if content is None:
        raise RedecideError(
            f"at a risk threshold of {t:g} this would be answered, but its text was withheld and never sent; "
            "ask with include_withheld=True, where the operator allows it"
        )
    return _answering(answer, t, content)


def _reason(answer: AnswerValues, content: Content | None, t: float) -> Reason | None:
    """Why to abstain at t, None to answer; the same order of questions as the server's."""
    if _unanswerable(answer, content) or answer.granularity == "claims":
        return answer.reason
    if t <= 0:
        return None
    if answer.confidence is None:
        return answer.reason or _no_confidence(content)
    return "below_threshold" if answer.confidence < t else None


def _unanswerable(answer: AnswerValues, content: Content | None) -> bool:
    """Whether the model gave no answer at all, which no threshold changes."""
    if answer.reason in ("answer_missing", "idk"):
        return True
    cut_before_answer = answer.reason == "truncated" and answer.confidence is not None
    return cut_before_answer or (content is not None and content.answer is None)


def _no_confidence(content: Content | None) -> Reason:
    """A response answered at t = 0 does not say whether its confidence was absent or unreadable; claims do."""
    return "confidence_invalid" if content is not None and content.claims else "confidence_missing"


def _marked(claims: tuple[Claim, ...], t: float) -> tuple[Claim, ...]:
    return tuple(replace(claim, decision=_mark(claim, t)) for claim in claims)


def _mark(claim: Claim, t: float) -> ClaimDecision:
    return "highlight" if claim.confidence is None or claim.confidence < t else "assert"


def _answering(answer: A, t: float, content: Content) -> A:
    return replace(
        answer,
        risk_threshold=t,
        decision="answer",
        reason=None,
        answer=content.answer,
        text=content.text,
        claims=content.claims,
        withheld=None,
    )


def _abstaining(answer: A, t: float, reason: Reason, content: Content | None) -> A:
    """As the server: one sample keeps its text where a stream would have shown it before the decision."""
    read = content or Content(None, answer.text or "", answer.claims)
    live = answer.samples is None and (answer.granularity == "claims" or t <= 0)
    kept = live and bool(read.text or read.claims)
    return replace(
        answer,
        risk_threshold=t,
        decision="abstain",
        reason=reason,
        answer=None,
        text=read.text if kept else None,
        claims=read.claims if kept else (),
        withheld=content,
    )


def _checked(t: object) -> float:
    if isinstance(t, bool) or not isinstance(t, (int, float)) or not 0 <= t <= 1:
        raise ValueError(f"risk_threshold has to be a number from 0 to 1, not {t!r}")
    return float(t)
