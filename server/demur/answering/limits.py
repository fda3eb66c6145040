"""What a caller may not ask: limits of the operator, checked before any work. Each error names the field."""

import json

from demur.answering.errors import InvalidRequest, NotAllowed
from demur.answering.params import RequestParams, UnresolvedRequest
from demur.settings import Settings


def check_limits(request: UnresolvedRequest, settings: Settings) -> None:
    """Check one request against the operator's limits.

    Raises InvalidRequest for a question that is empty or too long and for too many samples, and NotAllowed for withheld
    text or a risk threshold that this caller may not have.
    """
    _check_messages(request, settings)
    _check_permissions(request.params, settings)
    _check_threshold(request.params, settings)


def timeout_of(params: RequestParams, settings: Settings) -> float:
    """Seconds for the whole request. Raises InvalidRequest for more than the operator allows."""
    if params.timeout is not None and params.timeout > settings.max_timeout:
        raise InvalidRequest(f"timeout may be at most {settings.max_timeout:g} seconds", "timeout")
    return settings.timeout if params.timeout is None else params.timeout


def _check_messages(request: UnresolvedRequest, settings: Settings) -> None:
    if not request.messages[-1]["content"].strip():
        raise InvalidRequest("the question is empty", request.field)
    length = sum(len(message["content"]) for message in request.messages)
    if request.schema is not None:
        length += len(json.dumps(request.schema, ensure_ascii=False))
    if length > settings.max_question_chars:
        raise InvalidRequest(
            f"{length} characters; this server takes at most {settings.max_question_chars}", request.field
        )


def _check_permissions(params: RequestParams, settings: Settings) -> None:
    if params.include_withheld and not settings.withheld_allowed:
        raise NotAllowed("this server shows no withheld text", "include_withheld")
    if params.samples > settings.max_samples:
        raise InvalidRequest(f"samples may be at most {settings.max_samples}", "samples")


def _check_threshold(params: RequestParams, settings: Settings) -> None:
    least = settings.min_risk_threshold
    if params.risk_threshold is not None and params.risk_threshold < least:
        raise NotAllowed(f"you may ask with a risk_threshold of {least:g} or more", "risk_threshold")
