"""What can go wrong, as types.

DemurError
├── StatusError              the server said no: an HTTP status of 300 or more
│   ├── InvalidRequestError    400, 413, 422 and other 4xx: `param` names the field
│   ├── AuthenticationError    401: no key, or a wrong one
│   ├── PermissionDeniedError  403: the operator does not allow it
│   ├── NotFoundError          404: no such model, or no such server here
│   ├── GuaranteeUnavailableError  409: no error rate can be promised as asked; `smallest_max_error` could be
│   ├── RateLimitError         429: `retry_after` seconds, where the server said so
│   └── ServerError            5xx
├── ConnectionFailedError      no reply came: nobody listens, or the connection broke
│   └── RequestTimeoutError    the reply took longer than the client's timeout
├── StreamError                a stream that had begun ended without an answer; it is never repeated
├── ClientClosedError      the client was closed before
├── ReplyError                 what came back is no reply this client can read
└── RedecideError              `Answer.at` lacks what it needs

An abstention is no error: it is an answer whose `decision` is "abstain".
"""

from __future__ import annotations

import json


class DemurError(Exception):
    """Every failure of this package. Fields that are not known are None.

    `type`, `code`, `param` and `request_id` are the server's words; `status` is the HTTP status, `body` the reply as it
    came. `retry_after` is in seconds, where the server said after how long to try again.
    """

    may_retry = False
    """Whether the same request, sent again, could go well."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        type: str | None = None,
        param: str | None = None,
        code: str | None = None,
        request_id: str | None = None,
        body: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.type = type
        self.param = param
        self.code = code
        self.request_id = request_id
        self.body = body
        self.retry_after = retry_after

    def __str__(self) -> str:
        """The message, with whatever helps to find the request in the server's log."""
        known = {"status": self.status, "type": self.type, "param": self.param, "request": self.request_id}
        notes = ", ".join(f"{name} {value}" for name, value in known.items() if value is not None)
        return f"{self.message} ({notes})" if notes else self.message


class StatusError(DemurError):
    """The server answered with an HTTP status that is no success."""


class InvalidRequestError(StatusError):
    """The request itself is at fault; `param` names the field."""


class AuthenticationError(StatusError):
    """No API key, or one that the server does not know."""


class PermissionDeniedError(StatusError):
    """The operator does not allow what was asked for."""


class NotFoundError(StatusError):
    """No such model, or the address is not that of a demur server."""


class GuaranteeUnavailableError(StatusError):
    """No error rate can be promised as `max_error` asks: nothing certified is that small, or no calibrator fits."""

    @property
    def smallest_max_error(self) -> float | None:
        """The least error rate that could be asked for, where there is one."""
        try:
            found = json.loads(self.body or "")["error"]["smallest_max_error"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return float(found) if type(found) in (int, float) else None


class RateLimitError(StatusError):
    """The server is busy or the key's share is used up; `retry_after` is in seconds where the server named it."""

    may_retry = True


class ServerError(StatusError):
    """The server failed."""

    may_retry = True


class ConnectionFailedError(DemurError):
    """No reply came."""

    may_retry = True


class RequestTimeoutError(ConnectionFailedError):
    """The reply took longer than the client's timeout. Not repeated: the caller's time is up."""

    may_retry = False


class ClientClosedError(DemurError):
    """The client was closed before it was asked."""


class StreamError(DemurError):
    """A stream that had begun ended without an answer."""


class ReplyError(DemurError):
    """The reply is no JSON, or not of the shape that an answer has."""


class RedecideError(DemurError):
    """Another threshold needs what this answer does not hold: withheld text, or a new prompt."""
