"""An answer as it is kept: what is known about it, and its texts where the operator wants them kept."""

import hashlib
import json
from collections.abc import Mapping
from random import Random
from typing import Any

from demur.answering import Final
from demur.answering.confidence import CALIBRATED
from demur.answering.outcome import Outcome
from demur.answering.resolved_request import ResolvedRequest
from demur.feedback.draws import Draw, draw
from demur.feedback.options import FeedbackOptions

Row = Mapping[str, Any]
"""A row of the table `answers`, without its epoch."""


def row_of(
    final: Final,
    request: ResolvedRequest,
    caller: str,
    conditions: Mapping[str, Any],
    options: FeedbackOptions,
    rng: Random,
    now: float,
) -> Row:
    """The row of one answer, drawn into a queue by chance. `conditions` are what it was drawn under.

    A withheld answer is kept as well: an error rate is measured on all that was asked.
    """
    answer, outcome = final.answer, final.outcome
    drawn = draw(answer.confidence, options.audit_share, options.learn_share, rng)
    promise = _promise(request, options)
    return {
        "id": answer.id,
        "created": now,
        "caller": caller,
        "problem": problem_of(request),
        "risk_threshold": answer.risk_threshold,
        "decision": answer.decision,
        "reason": answer.reason,
        "max_error": None if request.guarantee is None else request.guarantee.max_error,
        "confidence": answer.confidence,
        "confidence_source": answer.confidence_source,
        **promise,
        **_watched(request, outcome, promise["promise_threshold"], rng),
        "signals": {} if outcome is None else _signals(outcome),
        "conditions": conditions,
        "samples": request.samples,
        "queue": drawn.queue,
        "probability": drawn.probability,
        "rank": drawn.rank,
        "state": "open",
        "skips": 0,
        **_texts(request, outcome, keeps_text(options, drawn)),
    }


def _signals(outcome: Outcome) -> dict[str, float | None]:
    """The raw numbers; what a calibrator made of them is none to make another one of."""
    return {name: one.value for name, one in outcome.signals.items() if name != CALIBRATED}


def _promise(request: ResolvedRequest, options: FeedbackOptions) -> dict[str, Any]:
    """What drift is tested against: the calibrator's certified level, where it has one, else the operator's word."""
    served = request.calibration
    held = None if served is None else served.calibrator.guarantee_for(options.max_error)
    if served is None or held is None or held.threshold is None:
        calibrator = None if served is None else served.calibrator.id
        return {
            "calibrator": calibrator,
            "promise_error": options.max_error,
            "promise_threshold": options.threshold,
        }
    return {
        "calibrator": served.calibrator.id,
        "promise_error": held.max_error,
        "promise_threshold": held.threshold,
    }


def _watched(request: ResolvedRequest, outcome: Outcome | None, threshold: float, rng: Random) -> dict[str, Any]:
    """Where claims are decided on, the one that drift looks at: one of those that are asserted, else one of all, by
    chance, since claims of one answer stand and fall together."""
    if outcome is None or request.granularity != "claims":
        return {"drift_claim": None, "drift_confidence": None}
    served = request.calibration
    stated = [claim.confidence for claim in outcome.completion.claims]
    sure = {i: p for i, one in enumerate(stated) if (p := one if served is None else served.of_claim(one)) is not None}
    drawn_from = [i for i, p in sure.items() if p >= threshold] or list(sure)
    if not drawn_from:
        return {"drift_claim": None, "drift_confidence": None}
    claim = rng.choice(drawn_from)
    return {"drift_claim": claim, "drift_confidence": sure[claim]}


def keeps_text(options: FeedbackOptions, drawn: Draw) -> bool:
    """Whether the texts of an answer are kept: what nobody will read is not."""
    return options.store_text == "all" or (options.store_text == "audited" and drawn.queue is not None)


def problem_of(request: ResolvedRequest) -> str:
    """The same 20 hex digits for the same conversation."""
    told = json.dumps(request.messages, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _texts(request: ResolvedRequest, outcome: Outcome | None, kept: bool) -> dict[str, Any]:
    if outcome is None:
        return {"claims": [], "messages": None, "answer": None, "text": None}
    done = outcome.completion
    claims = [[_plain(claim.text) if kept else None, claim.confidence] for claim in done.claims]
    if not kept:
        return {"claims": claims, "messages": None, "answer": None, "text": None}
    messages = [{"role": one["role"], "content": _plain(one["content"])} for one in request.messages]
    answer = None if done.answer is None else _plain(done.answer)
    return {"claims": claims, "messages": messages, "answer": answer, "text": _plain(done.text)}


def _plain(text: str) -> str:
    """Something that every database keeps: no NUL, no half of a surrogate pair."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
