"""The body of `POST /v1/responses`, and the conversation that is made of its input."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema

from demur.answering import RequestParams, UnresolvedRequest
from demur.answering.errors import InvalidRequest
from demur.api.chat.fields import HarmlessFields, Ignored, WithoutEffect
from demur.api.chat.forms import (
    MOST_TOOLS,
    ChosenFunction,
    ChosenTool,
    Description,
    Form,
    Function,
    JsonObject,
    JsonObjectFormat,
    JsonSchema,
    JsonSchemaFormat,
    ResponseFormat,
    TextFormat,
    Tool,
    form_of,
)
from demur.api.chat.schemas import AbstainAs
from demur.api.messages import MAX_MESSAGES, CalledFunction, ChatMessage, Content, Text, ToolCall, conversation
from demur.field_types import BoundedModel, Count, Name


class MessageItem(BoundedModel):
    """One message, as the user wrote it or as an earlier response had it."""

    type: Literal["message"] = "message"
    role: Literal["system", "developer", "user", "assistant"]
    content: Content
    id: Ignored = None
    status: Ignored = None
    phase: Ignored = None

    def as_message(self) -> ChatMessage:
        return ChatMessage(role=self.role, content=self.content or "")


class CallItem(BoundedModel):
    """What an earlier response wanted to have called."""

    type: Literal["function_call"]
    call_id: Name
    name: Name
    arguments: Text
    id: Ignored = None
    status: Ignored = None

    def as_message(self) -> ChatMessage:
        call = ToolCall(id=self.call_id, function=CalledFunction(name=self.name, arguments=self.arguments))
        return ChatMessage(role="assistant", tool_calls=[call])


class ReturnItem(BoundedModel):
    """What a call returned."""

    type: Literal["function_call_output"]
    call_id: Name
    output: Content
    id: Ignored = None
    status: Ignored = None

    def as_message(self) -> ChatMessage:
        return ChatMessage(role="tool", content=self.output or "", tool_call_id=self.call_id)


class ReasoningItem(BoundedModel):
    """An earlier response's reasoning, which no model here is shown again."""

    type: Literal["reasoning"]
    id: Ignored = None
    summary: Ignored = None
    content: Ignored = None
    encrypted_content: Ignored = None
    status: Ignored = None

    def as_message(self) -> None:
        return None


def _kind(item: Any) -> str:
    given = cast("dict[str, Any]", item) if isinstance(item, dict) else {"type": getattr(item, "type", None)}
    return str(given.get("type") or "message")


Item = Annotated[
    Annotated[MessageItem, Tag("message")]
    | Annotated[CallItem, Tag("function_call")]
    | Annotated[ReturnItem, Tag("function_call_output")]
    | Annotated[ReasoningItem, Tag("reasoning")],
    Discriminator(_kind),
]
Items = Annotated[list[Item], Field(min_length=1, max_length=MAX_MESSAGES, fail_fast=True)]


def _as_items(given: object) -> object:
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


class SchemaFormat(JsonSchema):
    """As in chat completions, one level up."""

    type: Literal["json_schema"]


class TextOptions(BoundedModel):
    format: Annotated[TextFormat | JsonObjectFormat | SchemaFormat, Field(discriminator="type")] | None = None
    verbosity: Ignored = None


class FunctionTool(BoundedModel):
    type: Literal["function"]
    name: Name
    description: Description | None = None
    parameters: JsonObject | None = None
    strict: bool | None = None

    def as_tool(self) -> Tool:
        return Tool(
            type="function", function=Function(name=self.name, description=self.description, parameters=self.parameters)
        )


class ChosenFunctionTool(BoundedModel):
    type: Literal["function"]
    name: Name


class ResponsesRequest(HarmlessFields, RequestParams):
    """A response. Nothing is kept between requests: the whole conversation is the input."""

    model: str | None = Field(default=None, description="The served model's name.")
    input: Annotated[
        Items,
        BeforeValidator(_as_items),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "string", "pattern": r"\S"},
                    {"type": "array", "minItems": 1, "items": {"type": "object"}},
                ]
            }
        ),
    ]
    instructions: Text | None = Field(default=None, description="What a system message would say.")
    max_output_tokens: Count | None = Field(default=None, description="The name of max_tokens here.")
    stream: bool | None = None
    text: TextOptions | None = None
    tools: Annotated[list[FunctionTool], Field(max_length=MOST_TOOLS, fail_fast=True)] | None = None
    tool_choice: Literal["none", "auto", "required"] | ChosenFunctionTool | None = None
    abstain_as: AbstainAs | None = Field(default=None, description="As in chat completions.")

    previous_response_id: Annotated[Any, WithoutEffect(None)] = Field(
        default=None, description="Nothing is stored here; send the conversation as `input`."
    )
    conversation: Annotated[Any, WithoutEffect(None)] = None
    prompt: Annotated[Any, WithoutEffect(None)] = None
    background: Annotated[Any, WithoutEffect(None, False)] = None
    top_logprobs: Annotated[Any, WithoutEffect(None, 0)] = None
    reasoning: Ignored = None
    include: Ignored = None
    truncation: Ignored = None
    max_tool_calls: Ignored = None
    stream_options: Ignored = None
    context_management: Ignored = None

    @property
    def stops(self) -> Sequence[str]:
        """This API has none."""
        return ()

    @property
    def form(self) -> Form | None:
        """The JSON that is asked for; None for text. Raises InvalidRequest."""
        choice = self.tool_choice
        if isinstance(choice, ChosenFunctionTool):
            choice = ChosenTool(type="function", function=ChosenFunction(name=choice.name))
        form = form_of(self._format, [tool.as_tool() for tool in self.tools or []], choice)
        return form if form is None or form.tool is not None else replace(form, field="text.format")

    @property
    def _format(self) -> ResponseFormat | None:
        given = None if self.text is None else self.text.format
        if not isinstance(given, SchemaFormat):
            return given
        described = JsonSchema.model_construct(**given.model_dump(exclude={"type"}))
        return JsonSchemaFormat(type="json_schema", json_schema=described)

    def to_request(self) -> UnresolvedRequest:
        """Of the two names of max_tokens this API's own holds. Raises InvalidRequest when the input does not end with
        a question."""
        newer = self.max_output_tokens
        asked = self.model_copy(update={"max_tokens": newer}) if newer is not None else self
        request = UnresolvedRequest(conversation(self._messages(), "input"), asked, "input", schema_field="text.format")
        return replace(request, schema=form.schema, schema_field=form.field) if (form := self.form) else request

    def _messages(self) -> Sequence[ChatMessage]:
        told = [message for item in self.input if (message := item.as_message()) is not None]
        if not told:
            raise InvalidRequest("there is no message", "input")
        return [ChatMessage(role="system", content=self.instructions), *told] if self.instructions else told
