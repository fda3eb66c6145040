"""One choice of a streamed chat completion: answer events -> `chat.completion.chunk` deltas."""

from collections.abc import Iterator

from demur.answering import Event, Final, new_id
from demur.answering.events import Delta
from demur.api.chat import render
from demur.api.chat.logprobs import chat_logprobs
from demur.api.chat.schemas import (
    CalledFunction,
    ChatChunk,
    ChatDelta,
    ChatLogprobs,
    ChatReplyMessage,
    ChunkChoice,
    ToolCallPiece,
)


class ChoiceStream:
    """JSON of a schema is passed on value by value; text comes in lines once it is decided.

    Nothing is shown before the decision where an abstention has to be an error. An abstention behind JSON that was
    shown is a refusal, whatever was asked for: as content it would be taken for a part of the JSON.
    """

    def __init__(self, style: render.Style, chat_id: str, created: int, model: str, index: int) -> None:
        self._style, self._id, self._created, self._model, self._index = style, chat_id, created, model, index
        self._tool = None if style.form is None else style.form.tool
        self._live = style.form is not None and style.abstain_as != "error"
        self._begun = False
        self._shown = ""

    def take(self, event: Event) -> Iterator[ChatChunk]:
        """The chunks of the next event; the last one has the finish reason and the whole answer."""
        if isinstance(event, Final):
            yield from self._ended(event)
        elif isinstance(event, Delta) and self._live:
            yield from self._json(event.text)

    def _ended(self, final: Final) -> Iterator[ChatChunk]:
        said, answer = render.message(final.answer, self._style), final.answer
        if answer.decision == "answer" and self._style.form is not None:
            yield from self._json((answer.answer or "")[len(self._shown) :])
        elif self._shown:
            yield self._chunk(ChatDelta(refusal=said.refusal or said.content))
        else:
            yield from self._said(said, chat_logprobs(final.logprobs))
        reason = render.finish_reason(final, said, self._style)
        yield self._of(ChunkChoice(index=self._index, delta=ChatDelta(), finish_reason=reason, demur=answer))

    def _json(self, text: str) -> Iterator[ChatChunk]:
        """More of the JSON; before the first piece what it is a part of."""
        if not self._begun:
            self._begun = True
            yield self._chunk(self._beginning())
        self._shown += text
        if text and self._tool is None:
            yield self._chunk(ChatDelta(content=text))
        elif text:
            yield self._chunk(ChatDelta(tool_calls=[ToolCallPiece(function=CalledFunction(arguments=text))]))

    def _beginning(self) -> ChatDelta:
        if self._tool is None:
            return ChatDelta(role="assistant", content="")
        called = CalledFunction(name=self._tool, arguments="")
        return ChatDelta(
            role="assistant", tool_calls=[ToolCallPiece(id=new_id("call"), type="function", function=called)]
        )

    def _said(self, said: ChatReplyMessage, logprobs: ChatLogprobs | None) -> Iterator[ChatChunk]:
        yield self._chunk(ChatDelta(role="assistant", content=""))
        deltas = [ChatDelta(content=line) for line in (said.content or "").splitlines(keepends=True)]
        for delta in deltas or [ChatDelta(refusal=said.refusal)]:
            yield self._chunk(delta, logprobs)
            logprobs = None

    def _chunk(self, delta: ChatDelta, logprobs: ChatLogprobs | None = None) -> ChatChunk:
        return self._of(ChunkChoice(index=self._index, delta=delta, logprobs=logprobs))

    def _of(self, choice: ChunkChoice) -> ChatChunk:
        return ChatChunk(id=self._id, created=self._created, model=self._model, choices=[choice])
