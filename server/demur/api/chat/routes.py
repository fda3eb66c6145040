"""`POST /v1/chat/completions`.

An abstention is an ordinary completion that says so in one sentence, or an error: see `abstain_as`. The whole reply is
beside the message, in `demur`.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from typing import Any, Protocol, TypeVar

from fastapi import APIRouter, Request, Response

from demur.answering import Answer, Final, new_id
from demur.answering.errors import InvalidRequest
from demur.api.auth import KeyedRoute
from demur.api.chat import render
from demur.api.chat.forms import Form
from demur.api.chat.schemas import AbstainAs, ChatCompletion, ChatRequest
from demur.api.context import Context, Shared, notice_headers
from demur.api.errors import ApiError, ErrorReply
from demur.api.openapi import errors, streamed
from demur.api.streams import EventStream, cancel, frame, unless_disconnected
from demur.settings import Settings

T = TypeVar("T")

router = APIRouter(tags=["chat completions"], route_class=KeyedRoute)

_CHUNKS = (
    "chunks as in OpenAI's protocol. Content comes once it is decided; until then comment lines keep the connection "
    "alive. The chunk with `finish_reason` has the whole reply in `demur`."
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
            on_error=chat.error_frame,
            late_headers=chat.headers,
        )
    reply = await unless_disconnected(request, chat.reply())
    return Response(reply.model_dump_json(), media_type="application/json", headers=chat.headers())


class Chat:
    """One request: n answers to one question, each with a decision of its own."""

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

    def headers(self) -> dict[str, str]:
        return notice_headers(self._active)

    async def reply(self) -> ChatCompletion:
        """All choices, in order."""
        finals: dict[int, Final] = {}
        async with aclosing(self._finals()) as ended:
            async for index, final in ended:
                finals[index] = final
        return render.completion(self._id, self._created, [finals[i] for i in sorted(finals)], self._style)

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """The choices as chunks, each when it is decided."""
        finals: list[Final] = []
        async with aclosing(self._finals()) as ended:
            async for index, final in ended:
                finals.append(final)
                for chunk in render.chunks(self._id, self._created, index, final, self._style):
                    yield frame(chunk.model_dump_json())
        if self._with_usage:
            yield frame(render.usage_chunk(self._id, self._created, finals).model_dump_json())
        yield frame("[DONE]")

    def error_frame(self, error: Exception) -> bytes:
        """How a stream that began ends when something fails: OpenAI's clients raise on it."""
        body = self._context.fail(self._request, error).body(self._request.state.request_id, self._request.url.path)
        return frame(ErrorReply(error=body).model_dump_json())

    async def _finals(self) -> AsyncGenerator[tuple[int, Final], None]:
        async with (
            self._context.admitted(self._request, self._active, self._choices),
            aclosing(_as_they_end([self._answer(i) for i in range(self._choices)])) as ended,
        ):
            async for index, final in ended:
                self._context.record(self._request, final)
                if self._style.abstain_as == "error" and final.answer.decision == "abstain":
                    raise abstained(final.answer)
                yield index, final

    def _answer(self, choice: int) -> Coroutine[Any, Any, Final]:
        return self._context.answerer.answer(self._active, answer_id=new_id("ans"), first_sample=choice * self._samples)


class Styled(Protocol):
    """A request that says how its replies should look."""

    @property
    def form(self) -> Form | None: ...
    @property
    def stops(self) -> Sequence[str]: ...
    @property
    def abstain_as(self) -> AbstainAs | None: ...


def style_of(asked: Styled, settings: Settings) -> render.Style:
    """How the caller, or else the caller's key or the operator, wants replies."""
    form = asked.form
    default = "content" if form is None else "refusal"
    return render.Style(asked.abstain_as or settings.abstain_as or default, form, asked.stops)


def abstained(answer: Answer) -> ApiError:
    """An abstention for callers who want it as an error."""
    return ApiError(422, "abstention", render.abstention(answer))


async def _as_they_end(works: Sequence[Coroutine[Any, Any, T]]) -> AsyncGenerator[tuple[int, T], None]:
    """(index, result) of each as it ends. The first that fails is raised, and the others are cancelled."""
    tasks = {asyncio.create_task(work): i for i, work in enumerate(works)}
    pending = set(tasks)
    try:
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=tasks.__getitem__):
                yield tasks[task], task.result()
    finally:
        await cancel(*tasks)
