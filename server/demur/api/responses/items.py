"""Output items of a response: a message or a function call, whole or as the events that build it up."""

from collections.abc import Iterator
from typing import Any, Protocol

from demur.answering import new_id
from demur.api.chat.schemas import ChatReplyMessage

Json = dict[str, Any]
Event = tuple[str, Json]


class Numbered(Protocol):
    """Makes a server-sent event with the next `sequence_number`."""

    def __call__(self, kind: str, /, **data: Any) -> Event: ...


class FunctionItem:
    """A `function_call` item: the arguments of a forced function, as they stream."""

    def __init__(self, event: Numbered, name: str) -> None:
        self._event, self._name, self._arguments = event, name, ""
        self._id, self._call = new_id("fc"), new_id("call")

    def begin(self) -> Iterator[Event]:
        yield self._event("response.output_item.added", output_index=0, item=self.whole("in_progress"))

    def more(self, text: str) -> Iterator[Event]:
        self._arguments += text
        yield self._event("response.function_call_arguments.delta", item_id=self._id, output_index=0, delta=text)

    def end(self, status: str) -> Iterator[Event]:
        said = {"item_id": self._id, "name": self._name, "arguments": self._arguments}
        yield self._event("response.function_call_arguments.done", output_index=0, **said)
        yield self._event("response.output_item.done", output_index=0, item=self.whole(status))

    def whole(self, status: str) -> Json:
        item = {"type": "function_call", "id": self._id, "call_id": self._call, "status": status}
        return item | {"name": self._name, "arguments": self._arguments}


class MessageItem:
    """A `message` item: output text or a refusal, as it streams."""

    def __init__(self, event: Numbered, place: int = 0, *, refused: bool = False) -> None:
        self._event, self._place, self._text, self._id = event, place, "", new_id("msg")
        self._kind, self._field = ("refusal", "refusal") if refused else ("output_text", "text")
        self._noted: Json = {} if refused else {"logprobs": []}

    def begin(self) -> Iterator[Event]:
        begun: Json = {**self.whole("in_progress"), "content": []}
        yield self._event("response.output_item.added", output_index=self._place, item=begun)
        yield self._event("response.content_part.added", **self._at, part=self._part)

    def more(self, text: str) -> Iterator[Event]:
        self._text += text
        yield self._event(f"response.{self._kind}.delta", **self._at, delta=text, **self._noted)

    def end(self, status: str) -> Iterator[Event]:
        yield self._event(f"response.{self._kind}.done", **self._at, **{self._field: self._text}, **self._noted)
        yield self._event("response.content_part.done", **self._at, part=self._part)
        yield self._event("response.output_item.done", output_index=self._place, item=self.whole(status))

    def whole(self, status: str) -> Json:
        item = {"type": "message", "id": self._id, "status": status, "role": "assistant"}
        return item | {"content": [self._part]}

    @property
    def _at(self) -> Json:
        return {"item_id": self._id, "output_index": self._place, "content_index": 0}

    @property
    def _part(self) -> Json:
        part = {"type": self._kind, self._field: self._text}
        return part | ({"annotations": [], "logprobs": []} if self._noted else {})


def item_for(event: Numbered, said: ChatReplyMessage) -> FunctionItem | MessageItem:
    """The empty output item of a reply: a function call where a tool was forced, else a message."""
    if said.tool_calls:
        return FunctionItem(event, said.tool_calls[0].function.name or "")
    return MessageItem(event, refused=said.refusal is not None)


def text_of(said: ChatReplyMessage) -> str:
    """The text of a reply's item: arguments, refusal or content."""
    called = said.tool_calls[0].function.arguments if said.tool_calls else None
    return called if called is not None else said.refusal or said.content or ""
