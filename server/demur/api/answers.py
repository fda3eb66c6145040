"""`POST /v1/answers`: a question in, an answer with its confidence out, in one piece or as events."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter

from demur.answering import ActiveRequest, Answer, Event, Final, new_id
from demur.answering.events import ClaimGiven, Delta, Progress, Reset, SampleDone
from demur.answering.response import GivenClaim
from demur.api.auth import KeyedRoute
from demur.api.context import Context, Shared, notice_headers
from demur.api.openapi import errors, one_of_events, streamed
from demur.api.schemas import AnswerRequest
from demur.api.streams import EventStream, frame, unless_disconnected

router = APIRouter(tags=["answers"], route_class=KeyedRoute)
ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)
CLAIM: TypeAdapter[GivenClaim] = TypeAdapter(GivenClaim)

_STREAM = (
    "the events `progress`, `delta`, `claim`, `reset` and `sample` while the answer is made, then `answer` with the "
    "whole reply, or `error`. No event carries text that may still be withheld: what `delta` and `claim` showed is "
    "also in the whole reply, whatever its decision."
)
_EVENTS = one_of_events(
    progress={"type": "object", "properties": {"tokens": {"type": "integer"}}, "required": ["tokens"]},
    delta={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    claim={
        "allOf": [{"$ref": "#/components/schemas/GivenClaim"}],
        "properties": {"index": {"type": "integer"}},
        "required": ["index"],
    },
    reset={"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]},
    sample={
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "confidence": {"type": ["number", "null"]},
            "state": {"enum": ["value", "missing", "invalid"]},
        },
        "required": ["id", "confidence", "state"],
    },
    answer={"$ref": "#/components/schemas/Answer"},
    error={"$ref": "#/components/schemas/ErrorBody"},
)
_EXAMPLE = 'event: progress\ndata: {"tokens": 12}\n\nevent: answer\ndata: {"decision": "abstain"}\n\n'


@router.post("/v1/answers", response_model=Answer, responses=errors() | streamed(_STREAM, _EVENTS, _EXAMPLE))
async def create_answer(asked: AnswerRequest, request: Request, context: Shared) -> Response:
    """Answer a question, or abstain when the confidence is below the risk threshold."""
    active, answer_id = context.open(request, asked.to_request()), new_id("ans")
    if asked.stream:
        return EventStream(
            _frames(context, request, active, answer_id),
            keep_alive=context.answerer.settings.keep_alive,
            deadline=active.deadline,
            on_error=lambda error: _error_frame(context, request, error),
            late_headers=lambda: notice_headers(active),
        )
    final = await unless_disconnected(request, _answer(context, request, active, answer_id))
    return Response(ANSWER.dump_json(final.answer), media_type="application/json", headers=notice_headers(active))


async def _answer(context: Context, request: Request, active: ActiveRequest, answer_id: str) -> Final:
    async with context.admitted(request, active):
        final = await context.answerer.answer(active, answer_id=answer_id)
    context.record(request, final)
    return final


async def _frames(
    context: Context, request: Request, active: ActiveRequest, answer_id: str
) -> AsyncGenerator[bytes, None]:
    async with (
        context.admitted(request, active),
        aclosing(context.answerer.stream(active, answer_id=answer_id)) as events,
    ):
        async for event in events:
            if isinstance(event, Final):
                context.record(request, event)
            name, data = on_the_wire(event)
            yield frame(data, name)


def on_the_wire(event: Event) -> tuple[str, str]:
    """Name and JSON of one event."""
    match event:
        case Delta():
            return "delta", _json({"text": event.text})
        case Progress():
            return "progress", _json({"tokens": event.tokens})
        case ClaimGiven():
            return "claim", _json({"index": event.index} | CLAIM.dump_python(event.claim))
        case Reset():
            return "reset", _json({"reason": event.reason})
        case SampleDone():
            return "sample", _json({"id": event.id, "confidence": event.confidence, "state": event.state})
        case Final():
            return "answer", ANSWER.dump_json(event.answer).decode()


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _error_frame(context: Context, request: Request, error: Exception) -> bytes:
    body = context.fail(request, error).body(request.state.request_id)
    return frame(body.model_dump_json(), "error")
