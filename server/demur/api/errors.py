"""Every error leaves in one shape, whatever went wrong and wherever; this is the only place that knows the statuses."""

import difflib
from collections.abc import Sequence
from math import ceil
from typing import Annotated, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from demur.answering import AnsweringError, RequestParams
from demur.answering.errors import (
    ContextTooLong,
    DeadlineExceeded,
    GuaranteeUnavailable,
    InvalidRequest,
    NotAllowed,
    SampleLost,
    UnknownModel,
)
from demur.engine.base import EngineDead, EngineError, EngineOverloaded, EngineRestarting, RequestRefused
from demur.engine.critic import CriticUnavailable

LONGEST_PAUSE = 3600.0
"""Seconds that a caller is told to stay away at most, whatever a host behind the engine says."""


_OPENAI_TYPES = {
    "invalid_request": "invalid_request_error",
    "method_not_allowed": "invalid_request_error",
    "not_found": "invalid_request_error",
    "authentication": "invalid_request_error",
    "permission": "permission_error",
    "rate_limited": "rate_limit_error",
    "guarantee_unavailable": "invalid_request_error",
}
"""What OpenAI's clients look for; everything else is a `server_error` to them."""
_CODES = {
    "authentication": "invalid_api_key",
    "permission": "permission_denied",
    "rate_limited": "rate_limit_exceeded",
    "abstention": "abstained",
    "guarantee_unavailable": "guarantee_unavailable",
}
_FAULTS = {"extra_forbidden": "unknown_parameter", "missing": "missing_required_parameter"}
_OPENAI_PATHS = ("/v1/chat/", "/v1/responses")


class ErrorBody(BaseModel):
    """What went wrong. `param` names the request field at fault; `request_id` is in the server's log, too.

    `code` says more than `type` where a program could act on it: `context_length_exceeded`, `model_not_found`,
    `invalid_api_key`, `permission_denied`, `rate_limit_exceeded`, `unknown_parameter`, `missing_required_parameter`,
    `invalid_value`, `abstained`, `guarantee_unavailable`. `smallest_max_error` comes with the last alone: the least
    error rate that can be asked for, where one can.
    """

    type: str
    code: str | None = None
    message: str
    param: str | None
    request_id: str
    smallest_max_error: Annotated[float | None, Field(exclude_if=lambda rate: rate is None)] = None


class ErrorReply(BaseModel):
    """Every reply with a status of 400 or more."""

    error: ErrorBody


class ApiError(Exception):
    """An error as it will be sent."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        param: str | None = None,
        headers: dict[str, str] | None = None,
        smallest_max_error: float | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.param = param
        self.headers = headers or {}
        self.smallest_max_error = smallest_max_error
        self.code = code or _CODES.get(kind)

    def body(self, request_id: str, path: str = "") -> ErrorBody:
        """In OpenAI's words where its clients ask, by the path; in this server's own elsewhere."""
        param = None if self.param is None else _plain(self.param)
        openai = path.startswith(_OPENAI_PATHS) and self.kind != "abstention"
        kind = _OPENAI_TYPES.get(self.kind, "server_error") if openai else self.kind
        return ErrorBody(
            type=kind,
            code=self.code,
            message=_plain(self.message),
            param=param,
            request_id=request_id,
            smallest_max_error=self.smallest_max_error,
        )


_ANSWERING: dict[type[AnsweringError], tuple[int, str]] = {
    InvalidRequest: (400, "invalid_request"),
    NotAllowed: (403, "permission"),
    ContextTooLong: (400, "invalid_request"),
    UnknownModel: (404, "not_found"),
    GuaranteeUnavailable: (409, "guarantee_unavailable"),
    DeadlineExceeded: (504, "timeout"),
    SampleLost: (502, "engine_error"),
}
_ANSWERING_CODES: dict[type[AnsweringError], str] = {
    ContextTooLong: "context_length_exceeded",
    UnknownModel: "model_not_found",
}
_NO_OBJECT = frozenset({"missing", "model_type", "model_attributes_type", "dict_type"})
"""What pydantic calls a body that is no JSON object, or none at all."""
DEAD = ApiError(503, "unavailable", "the model stopped; the server is going down", headers={"retry-after": "1"})
RESTARTING = ApiError(
    503, "unavailable", "the model stopped and is being started again; try again", headers={"retry-after": "5"}
)
NO_CRITIC = ApiError(503, "unavailable", "the critic of this model cannot be loaded; what it would say is not there")
REFUSED = ApiError(
    400, "invalid_request", "the model's host does not take this request; the prompt and max_tokens may be too long"
)
BROKEN = ApiError(500, "server_error", "something broke in the server; its log has the request id")


def stopping() -> ApiError:
    """For a request that a server on its way out will not finish."""
    return ApiError(503, "unavailable", "the server is stopping; try again", headers={"retry-after": "1"})


def as_api_error(error: Exception) -> ApiError:
    """The one translation from exceptions to what a caller is told. Words from behind the engine stay there."""
    match error:
        case ApiError():
            return error
        case AnsweringError():
            status, kind = _ANSWERING[type(error)]
            code, least = _ANSWERING_CODES.get(type(error)), getattr(error, "smallest_max_error", None)
            return ApiError(status, kind, str(error), error.param, code=code, smallest_max_error=least)
        case RequestValidationError():
            return _from_validation(error)
        case HTTPException():
            return _from_routing(error)
        case EngineOverloaded():
            pause = {} if error.retry_after is None else {"retry-after": _whole(error.retry_after)}
            return ApiError(429, "rate_limited", "the server is busy; try again later", headers=pause)
        case EngineDead():
            return DEAD
        case EngineRestarting():
            return RESTARTING
        case CriticUnavailable():
            return NO_CRITIC
        case RequestRefused(param=str(param)):
            return ApiError(400, "invalid_request", str(error), param)
        case RequestRefused():
            return REFUSED
        case EngineError():
            return ApiError(502, "engine_error", "the engine failed on this request")
        case _:
            return BROKEN


def _whole(seconds: float) -> str:
    """Retry-After takes whole seconds; what a host behind the engine asked for may be anything."""
    return str(ceil(min(max(seconds, 0.0), LONGEST_PAUSE)))


def error_response(error: ApiError, request_id: str, path: str = "") -> JSONResponse:
    """The error as JSON, with its status and headers; `path` tells which API's form the body has."""
    reply = ErrorReply(error=error.body(request_id, path))
    return JSONResponse(reply.model_dump(), status_code=error.status, headers=error.headers)


def _from_routing(error: HTTPException) -> ApiError:
    """What Starlette and FastAPI raise by themselves."""
    headers = dict(error.headers or {})
    match error.status_code:
        case 404:
            return ApiError(404, "not_found", "there is nothing at this path")
        case 405:
            return ApiError(405, "method_not_allowed", f"this path takes {headers['Allow']}", headers=headers)
        case status:
            return ApiError(status, "invalid_request", str(error.detail), headers=headers)


def _from_validation(error: RequestValidationError) -> ApiError:
    problem = error.errors()[0]
    param = field_name(problem["loc"])
    if problem["type"] == "json_invalid":
        where = problem["loc"][-1]
        return ApiError(400, "invalid_request", f"the body is no valid JSON, see character {where}")
    if param is None and problem["type"] in _NO_OBJECT:
        return ApiError(400, "invalid_request", "send a JSON object, with content-type: application/json")
    code = _FAULTS.get(problem["type"], "invalid_value")
    return ApiError(400, "invalid_request", _explain(problem, param), param, code=code)


def field_name(location: Sequence[int | str]) -> str | None:
    """`("body", "messages", 0, "role")` as `messages[0].role`; None for the body itself."""
    name = ""
    for part in location[1:]:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else part
    return name or None


def _explain(problem: dict[str, Any], param: str | None) -> str:
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(param)[:50], RequestParams.model_fields, n=1)
        return f"unknown field; did you mean {near[0]!r}?" if near else "unknown field"
    message = str(problem["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _plain(text: str) -> str:
    """Something that can be sent: what a caller put into it may be long or no valid Unicode."""
    return text[:500].encode("utf-8", "replace").decode()
