"""`POST /v1/chat/completions`.

An abstention is an ordinary completion that says so in one sentence, or an error: see `abstain_as`. The whole reply is
beside the message, in `demur`.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol

from fastapi import APIRouter, Request, Response

from demur.answering import Answer, Event, Final, new_id
from demur.answering.deadline import Deadline
from demur.answering.errors import InvalidRequest
from demur.answering.redaction import can_stream_text
from demur.api.auth import KeyedRoute
from demur.api.chat import render
from demur.api.chat.choice_stream import ChoiceStream
from demur.api.chat.forms import Form
from demur.api.chat.schemas import AbstainAs, ChatCompletion, ChatRequest
from demur.api.context import Context, Shared, notice_headers
from demur.api.errors import ApiError, ErrorReply
from demur.api.openapi import errors, streamed
from demur.api.streams import EventStream, frame, together, unless_disconnected
from demur.settings import Settings

router = APIRouter(tags=["chat completions"], route_class=KeyedRoute)

_CHUNKS = (
    "chunks as in OpenAI's protocol. Text comes once it is decided, JSON of a schema value by value where no doubt can "
    "withhold it; until then comment lines keep the connection alive. The chunk with `finish_reason` has the whole "
    "reply in `demur`."
)
_CHUNK = {"type": "object", "required": ["data"], "properties": {"data": {"type": "string"}}}
_EXAMPLE = 'data: {"object": "chat.completion.chunk", "choices": []}\n\ndata: [DONE]\n\n'
_REPLIES = errors() | streamed(_CHUNKS, _CHUNK, _EXAMPLE)


@router.post("/v1/chat/completions", response_model=ChatCompletion, responses=_REPLIES)
async def create_chat_completion(asked: ChatRequest, request: Request, context: Shared) -> Response:
    """Answer the last message of a conversation, or abstain, in the form of a chat completion."""
    chat = Chat(context, request, asked)
    if asked.stream:
        return EventStream(
            chat.frames(),
            keep_alive=context.answerer.settings.keep_alive,
            deadline=chat.deadline,
            on_error=chat.error_frame,
            late_headers=chat.headers,
        )
    reply = await unless_disconnected(request, chat.reply())
    return Response(reply.model_dump_json(), media_type="application/json", headers=chat.headers())


class Chat:
    """One chat completion request: `n` choices, each an answer with a decision of its own."""

    def __init__(self, context: Context, request: Request, asked: ChatRequest) -> None:
        self._context = context
        self._request = request
        self._active = context.open(request, asked.to_request())
        self._style = style_of(asked, context.settings_for(request))
        if asked.tools and self._style.form is None and asked.tool_choice != "none":
            self._active.notices.append("no tool is called unless tool_choice forces one")
        self._samples = asked.samples
        self._choices = asked.n or 1
        self._with_usage = asked.stream_options is not None and asked.stream_options.include_usage
        self._id, self._created = new_id("chatcmpl"), int(time.time())
        most = context.most_samples(request)
        if self._choices * self._samples > most:
            raise InvalidRequest(f"n times samples may be at most {most}", "n")

    @property
    def deadline(self) -> Deadline:
        return self._active.deadline

    def headers(self) -> dict[str, str]:
        return notice_headers(self._active)

    async def reply(self) -> ChatCompletion:
        """All choices, in order."""
        finals: dict[int, Final] = {}
        async with aclosing(self._events(watched=False)) as events:
            async for index, event in events:
                if isinstance(event, Final):
                    finals[index] = event
        return render.completion(self._id, self._created, [finals[i] for i in sorted(finals)], self._style)

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """The choices as chunks: JSON value by value, text when it is decided."""
        finals: list[Final] = []
        name = self._context.answerer.manifest.name
        choices = [ChoiceStream(self._style, self._id, self._created, name, i) for i in range(self._choices)]
        async with aclosing(self._events(watched=self._shows_text_early)) as events:
            async for index, event in events:
                for chunk in choices[index].take(event):
                    yield frame(chunk.model_dump_json())
                finals += [event] if isinstance(event, Final) else []
        if self._with_usage:
            yield frame(render.usage_chunk(self._id, self._created, finals).model_dump_json())
        yield frame("[DONE]")

    @property
    def _shows_text_early(self) -> bool:
        """Whether a stream gives anything out before it is decided."""
        may_end_as_error = self._style.abstain_as == "error"
        return self._style.form is not None and not may_end_as_error and can_stream_text(self._active.request)

    def error_frame(self, error: Exception) -> bytes:
        """How a stream that began ends when something fails: OpenAI's clients raise on it."""
        body = self._context.fail(self._request, error).body(self._request.state.request_id, self._request.url.path)
        return frame(ErrorReply(error=body).model_dump_json())

    async def _events(self, *, watched: bool) -> AsyncGenerator[tuple[int, Event], None]:
        async with (
            self._context.admitted(self._request, self._active, self._choices),
            aclosing(together([self._answer(i, watched) for i in range(self._choices)])) as events,
        ):
            async for index, event in events:
                if isinstance(event, Final):
                    self._context.record(self._request, event)
                    if self._style.abstain_as == "error" and event.answer.decision == "abstain":
                        raise abstained(event.answer)
                yield index, event

    def _answer(self, choice: int, watched: bool) -> AsyncGenerator[Event, None]:
        first = choice * self._samples
        return self._context.answerer.stream(self._active, answer_id=new_id("ans"), first_sample=first, watched=watched)


class Styled(Protocol):
    """A request that may set `response_format`, `stop` and `abstain_as`."""

    @property
    def form(self) -> Form | None: ...
    @property
    def stops(self) -> Sequence[str]: ...
    @property
    def abstain_as(self) -> AbstainAs | None: ...


def style_of(asked: Styled, settings: Settings) -> render.Style:
    """The style of a request's replies: the caller's own settings first, then the key's, then the operator's."""
    form = asked.form
    default = "content" if form is None else "refusal"
    return render.Style(asked.abstain_as or settings.abstain_as or default, form, asked.stops)


def abstained(answer: Answer) -> ApiError:
    """The error that stands for an abstention with `abstain_as` "error"."""
    return ApiError(422, "abstention", render.abstention(answer))
