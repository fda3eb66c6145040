"""`POST /v1/responses`: one answer as OpenAI's responses API has it. Nothing is stored; `demur` has the whole reply."""

import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict

from demur.answering import Answer, Final, new_id
from demur.answering.deadline import Deadline
from demur.answering.events import Delta
from demur.api.auth import KeyedRoute
from demur.api.chat.routes import abstained, style_of
from demur.api.context import Context, Shared, notice_headers
from demur.api.openapi import errors, streamed
from demur.api.responses.render import Rendering
from demur.api.responses.schemas import ResponsesRequest
from demur.api.streams import EventStream, frame, unless_disconnected

router = APIRouter(tags=["responses"], route_class=KeyedRoute)

_EVENT = {"type": "object", "required": ["event", "data"], "properties": {"data": {"type": "string"}}}
_EXAMPLE = 'event: response.created\ndata: {"type": "response.created", "sequence_number": 0}\n\n'
_STREAM = (
    "events as in OpenAI's protocol; text comes once it is decided, JSON of a schema value by value, and "
    "`response.completed` has the whole object."
)


class ResponseObject(BaseModel):
    """The part of a response that is always there."""

    model_config = ConfigDict(extra="allow")

    id: str
    object: str
    created_at: int
    status: str
    model: str
    output: list[dict[str, Any]]
    usage: dict[str, Any] | None
    demur: Answer


@router.post("/v1/responses", response_model=ResponseObject, responses=errors() | streamed(_STREAM, _EVENT, _EXAMPLE))
async def create_response(asked: ResponsesRequest, request: Request, context: Shared) -> Response:
    """Answer the last message of the input, or abstain, in the form of a response."""
    reply = _Reply(context, request, asked)
    if asked.stream:
        return EventStream(
            reply.frames(),
            keep_alive=context.answerer.settings.keep_alive,
            deadline=reply.deadline,
            on_error=reply.error_frame,
            late_headers=reply.headers,
        )
    whole = await unless_disconnected(request, reply.whole())
    return JSONResponse(whole, headers=reply.headers())


class _Reply:
    """One response request, and its stream of server-sent events."""

    def __init__(self, context: Context, request: Request, asked: ResponsesRequest) -> None:
        self._context, self._request = context, request
        self._active = context.open(request, asked.to_request())
        self._style = style_of(asked, context.settings_for(request))
        self._rendering = Rendering(asked, self._style, context.answerer.manifest.name, int(time.time()))
        if asked.tools and self._style.form is None and asked.tool_choice != "none":
            self._active.notices.append("no tool is called unless tool_choice forces one")

    @property
    def deadline(self) -> Deadline:
        return self._active.deadline

    def headers(self) -> dict[str, str]:
        return notice_headers(self._active)

    async def whole(self) -> dict[str, Any]:
        """The response in one piece."""
        async with self._context.admitted(self._request, self._active):
            final = await self._context.answerer.answer(self._active, answer_id=new_id("ans"))
        return self._rendering.whole(self._decided(final))

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """The response as events; the first ones wait until something was generated."""
        begun = False
        async with (
            self._context.admitted(self._request, self._active),
            aclosing(self._context.answerer.stream(self._active, answer_id=new_id("ans"))) as events,
        ):
            async for event in events:
                final = self._decided(event) if isinstance(event, Final) else None
                for name, data in () if begun else self._rendering.begun():
                    yield _frame(name, data)
                begun = True
                for name, data in self._rendering.more(event.text) if isinstance(event, Delta) else ():
                    yield _frame(name, data)
                for name, data in () if final is None else self._rendering.ended(final):
                    yield _frame(name, data)

    def error_frame(self, error: Exception) -> bytes:
        """How a stream that began ends when something fails."""
        body = self._context.fail(self._request, error).body(self._request.state.request_id, self._request.url.path)
        name, data = self._rendering.error(body.code or body.type, body.message, body.param)
        return _frame(name, data)

    def _decided(self, final: Final) -> Final:
        self._context.record(self._request, final)
        if self._style.abstain_as == "error" and final.answer.decision == "abstain":
            raise abstained(final.answer)
        return final


def _frame(name: str, data: dict[str, Any]) -> bytes:
    return frame(json.dumps(data, ensure_ascii=False), name)
