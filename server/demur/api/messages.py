"""Chat messages as they come over the wire, and the conversation that is made of them."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema, field_validator

from demur.answering.errors import InvalidRequest
from demur.engine.base import Message
from demur.field_types import BoundedModel, Name

MAX_MESSAGES = 1_000
"""Of one request."""
MAX_PARTS = 256
"""Of one message's content."""
MAX_PART_FIELDS = 16
"""Of one part: its type, its text, and what says nothing to a model."""
MAX_CALLS = 128
"""Tool calls of one message."""
LONGEST_REFUSAL = 10_000
"""Characters; an earlier reply's, sent back as it came."""
_TEXT_PARTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Type of a part -> the name of its text; the middle ones are those of the responses API."""
_PARTS_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_PARTS,
            "items": {
                "type": "object",
                "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
                "required": ["type", "text"],
                "maxProperties": MAX_PART_FIELDS,
            },
        },
        {"type": "null"},
    ]
}


def _join_parts(content: object) -> object:
    """A list of text parts is their concatenation; what stands beside the text of a part says nothing to a model."""
    if not isinstance(content, list):
        return content
    parts = cast("list[Any]", content)
    if len(parts) > MAX_PARTS:
        raise ValueError(f"at most {MAX_PARTS} parts, not {len(parts)}")
    if not parts:
        raise ValueError("content has no parts")
    return "".join(_text_of(part) for part in parts)


def _text_of(part: Any) -> str:
    fields = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
    if len(fields) > MAX_PART_FIELDS:
        raise ValueError(f"a part has at most {MAX_PART_FIELDS} fields, not {len(fields)}")
    named = _TEXT_PARTS.get(str(fields.get("type")))
    if named is None:
        raise ValueError("only text parts are taken: {'type': 'text', 'text': '...'}")
    if not isinstance(text := fields.get(named), str):
        raise ValueError("the text of a part has to be a string")
    return text


def _whole_characters(text: str) -> str:
    """JSON can spell half a surrogate pair, which is no text: it cannot be encoded for a model or a reply."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no character") from None
    return text


Text = Annotated[str, AfterValidator(_whole_characters)]
Content = Annotated[Text | None, BeforeValidator(_join_parts), WithJsonSchema(_PARTS_SCHEMA)]


class CalledFunction(BoundedModel):
    """What an earlier reply wanted to have called; `arguments` is JSON as the model wrote it."""

    name: Name
    arguments: Text = ""


class ToolCall(BoundedModel):
    id: Name | None = None
    type: Literal["function"] = "function"
    function: CalledFunction
    index: Any = None


def _only_assistants_say_nothing(schema: dict[str, Any]) -> None:
    roles = schema["properties"]["role"]["enum"]
    said = {"properties": {"content": {"type": ["string", "array"]}, "role": {"enum": [*roles]}}}
    said["properties"]["role"]["enum"].remove("assistant")
    schema["anyOf"] = [
        {"properties": {"role": {"enum": ["assistant"]}}},
        {**said, "required": ["content"]},
    ]


class ChatMessage(BoundedModel):
    """One message of a conversation; the last one has to be the user's, or what a tool returned.

    Without effect: `annotations`, `audio` and an earlier reply's reasoning.
    """

    model_config = ConfigDict(json_schema_extra=_only_assistants_say_nothing)

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content = Field(default=None, validate_default=True, description="Only the assistant's may be null.")
    name: Name | None = None
    refusal: Annotated[Text, Field(max_length=LONGEST_REFUSAL)] | None = None
    tool_calls: Annotated[list[ToolCall], Field(max_length=MAX_CALLS, fail_fast=True)] | None = None
    tool_call_id: Name | None = None
    function_call: CalledFunction | None = None
    annotations: Any = None
    audio: Any = None
    reasoning: Any = None
    reasoning_content: Any = None

    @field_validator("content", mode="after")
    @classmethod
    def _said_something(cls, content: str | None, info: ValidationInfo) -> str | None:
        if content is None and info.data.get("role") != "assistant":
            raise ValueError("has to be text, or a list of text parts")
        return content

    @property
    def calls(self) -> list[CalledFunction]:
        called = [call.function for call in self.tool_calls or []]
        return [*called, self.function_call] if self.function_call is not None else called


Messages = Annotated[list[ChatMessage], Field(min_length=1, max_length=MAX_MESSAGES, fail_fast=True)]
_RETURNS = ("tool", "function")


def conversation(messages: Sequence[ChatMessage], field: str = "messages") -> tuple[Message, ...]:
    """What the engine gets: turns of system, user and assistant alone, which every chat template knows.

    What a tool returned is told as a turn of the user's, joined with what the user says next. At the end of a
    conversation it is followed by the user's last question, which it is the answer's material for. Raises
    InvalidRequest unless the last message is the user's or a tool's.
    """
    if messages[-1].role not in ("user", *_RETURNS):
        raise InvalidRequest("the last message has to be the user's, or what a tool returned", field)
    names = {call.id: call.function.name for message in messages for call in message.tool_calls or [] if call.id}
    turns: list[Message] = []
    after_tool = False
    for message in messages:
        is_return = message.role in _RETURNS
        content = _returned(message, names) if is_return else _said(message)
        if turns and turns[-1]["role"] == "user" and (is_return or (after_tool and message.role == "user")):
            content = f"{turns.pop()['content']}\n\n{content}"
        turns.append(Message(role="user" if is_return else _ROLES.get(message.role, message.role), content=content))
        after_tool = is_return
    question = next((m.content for m in reversed(messages) if m.role == "user"), None)
    if after_tool and question:
        turns[-1] = Message(role="user", content=f"{turns[-1]['content']}\n\n{question}")
    return tuple(turns)


def _returned(message: ChatMessage, names: dict[str, str]) -> str:
    name = message.name or names.get(message.tool_call_id or "") or "the tool"
    return f"Result of {name}:\n{message.content}"


def _said(message: ChatMessage) -> str:
    """Text of a turn; calls are told in words, since not every chat template has a place for them."""
    calls = [f"Call {call.name}({call.arguments})" for call in message.calls]
    text = message.content if message.content is not None else message.refusal or ""
    return "\n".join([text, *calls] if text else calls)


_ROLES = {"developer": "system"}
"""Newer name, same thing: the chat templates of open models know only the older one."""
