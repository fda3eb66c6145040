"""What came back, or did not -> the error it means. No I/O: the body has been read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, cast

import httpx

from . import errors

_BY_STATUS: Mapping[int, type[errors.StatusError]] = {
    401: errors.AuthenticationError,
    403: errors.PermissionDeniedError,
    404: errors.NotFoundError,
    409: errors.GuaranteeUnavailableError,
    429: errors.RateLimitError,
}
_TRANSIENT = (httpx.NetworkError, httpx.ConnectTimeout, httpx.RemoteProtocolError, httpx.ProxyError)


def from_response(response: httpx.Response) -> errors.StatusError | None:
    """The error that a reply stands for, None for a success. The body has to have been read."""
    status = response.status_code
    if response.is_success:
        return None
    words = error_words(_parsed(response.text))
    failure = _class_of(status)(
        words.get("message") or f"the server answered {status} {response.reason_phrase}".rstrip(),
        status=status,
        type=words.get("type"),
        param=words.get("param"),
        request_id=words.get("request_id") or request_id(response),
        body=response.text,
        retry_after=retry_after(response.headers.get("retry-after"), datetime.now(timezone.utc)),
    )
    if failure.type == "timeout":  # the caller's own limit: the same request would take as long again
        failure.may_retry = False
    return failure


def request_id(response: httpx.Response) -> str | None:
    """What the server's log calls this request."""
    return response.headers.get("x-request-id")


def from_request_error(error: httpx.RequestError) -> errors.ConnectionFailedError:
    """The error that a failed exchange stands for, before any reply began."""
    address = f"{error.request.url.scheme}://{error.request.url.netloc.decode('ascii', 'replace')}"
    if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
        return errors.RequestTimeoutError(f"no reply from {address} within the client's timeout")
    failure = errors.ConnectionFailedError(f"cannot reach {address}: {str(error) or type(error).__name__}")
    failure.may_retry = isinstance(error, _TRANSIENT)
    return failure


def error_words(body: object) -> dict[str, str]:
    """The texts in an error as it is on the wire, with or without the `error` around it; {} for anything else."""
    if not isinstance(body, dict):
        return {}
    fields = cast(dict[str, Any], body)
    inner = fields.get("error", fields)
    if not isinstance(inner, dict):
        return {}
    return {name: value for name, value in cast(dict[str, Any], inner).items() if isinstance(value, str)}


def retry_after(header: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for: a number, or a date. None for what cannot be read."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (_aware(parsedate_to_datetime(header)) - now).total_seconds()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def _class_of(status: int) -> type[errors.StatusError]:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return errors.ServerError
    return errors.InvalidRequestError if status >= 400 else errors.StatusError


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
