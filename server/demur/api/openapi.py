"""What the OpenAPI document says beyond what FastAPI derives: every error reply, and the event stream."""

from typing import Any

from demur.api.errors import ErrorReply

Responses = dict[int | str, dict[str, Any]]

_ERRORS = {
    400: "The request is wrong; `param` names the field.",
    401: "No key, or one that does not open this server.",
    403: "The operator forbids what was asked for.",
    404: "No such model.",
    409: "No error rate can be promised as `max_error` asks.",
    413: "The body is too large.",
    429: "The server is busy; try again after `retry-after` seconds.",
    500: "Something broke in the server.",
    502: "The engine failed on this request.",
    503: "The model stopped and is being started again, or the server is on its way out; try again.",
    504: "The request's timeout passed.",
}


def errors(*statuses: int) -> Responses:
    """Documentation of error replies; of every possible one when none is named."""
    described: Responses = {
        status: {"model": ErrorReply, "description": _ERRORS[status]} for status in statuses or _ERRORS
    }
    return {**described, "4XX": {"model": ErrorReply, "description": "Any other mistake of the caller."}}


def streamed(description: str, event: dict[str, Any], example: str) -> Responses:
    """Documentation of a 200 that is a stream when the request says `stream`; `event` is the schema of one event."""
    return {
        200: {
            "description": f"The reply. With `stream`: {description}",
            "content": {"text/event-stream": {"itemSchema": event, "example": example}},
        }
    }


def one_of_events(**data: dict[str, Any]) -> dict[str, Any]:
    """The schema of a server-sent event: its data, which is JSON, by its name."""
    return {"oneOf": [_event(name, schema) for name, schema in data.items()]}


def _event(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
    return {
        "type": "object",
        "required": ["event", "data"],
        "properties": {"event": {"const": name}, "data": data},
    }
