"""Chat messages as they come over the wire, and the conversation that is made of them."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from demur.answering.errors import InvalidRequest
from demur.engine.base import Message
from demur.fields import BoundedModel, Name

MAX_MESSAGES = 1_000
"""Of one request."""
MAX_PARTS = 256
"""Of one message's content."""
LONGEST_REFUSAL = 10_000
"""Characters; an earlier reply's, sent back as it came."""
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
                "additionalProperties": False,
            },
        },
    ]
}


def _join_parts(content: object) -> object:
    """A list of text parts is their concatenation."""
    if not isinstance(content, list):
        return content
    parts = cast("list[Any]", content)
    if len(parts) > MAX_PARTS:
        raise ValueError(f"at most {MAX_PARTS} parts, not {len(parts)}")
    for part in parts:
        if not isinstance(part, dict) or part.keys() != {"type", "text"} or part["type"] != "text":
            raise ValueError("only text parts are taken: {'type': 'text', 'text': '...'}")
        if not isinstance(part["text"], str):
            raise ValueError("the text of a part has to be a string")
    if not parts:
        raise ValueError("content has no parts")
    return "".join(part["text"] for part in parts)


def _whole_characters(text: str) -> str:
    """JSON can spell half a surrogate pair, which is no text: it cannot be encoded for a model or a reply."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no character") from None
    return text


Text = Annotated[str, AfterValidator(_whole_characters)]
Content = Annotated[Text, BeforeValidator(_join_parts), WithJsonSchema(_PARTS_SCHEMA)]
Nothing = Annotated[list[Any], Field(max_length=0)] | None
"""A field that earlier replies carry empty, so that they can be sent back as they came."""


class ChatMessage(BoundedModel):
    """One message of a conversation; the last one has to be the user's."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Content
    name: Name | None = None
    refusal: Annotated[str, Field(max_length=LONGEST_REFUSAL)] | None = None
    annotations: Nothing = None
    tool_calls: Nothing = None
    function_call: None = None
    audio: None = None


Messages = Annotated[list[ChatMessage], Field(min_length=1, max_length=MAX_MESSAGES, fail_fast=True)]


def conversation(messages: Sequence[ChatMessage]) -> tuple[Message, ...]:
    """What the engine gets. Raises InvalidRequest unless the last message is the user's."""
    if messages[-1].role != "user":
        raise InvalidRequest("the last message has to be the user's", "messages")
    return tuple(Message(role=_ROLES.get(m.role, m.role), content=m.content) for m in messages)


_ROLES = {"developer": "system"}
"""Newer name, same thing: the chat templates of open models know only the older one."""
