"""The bodies of `POST /v1/chat/completions`: OpenAI's fields, and this server's beside them."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from demur.answering import Answer, RequestParams, UnresolvedRequest
from demur.api.chat.fields import HarmlessFields, Ignored, Stops, WithoutEffect
from demur.api.chat.forms import Form, ResponseFormat, ToolChoice, Tools, form_of
from demur.api.messages import Messages, conversation
from demur.field_types import WHOLE, BoundedModel, Count

AbstainAs = Literal["content", "refusal", "error"]
MOST_TOP_LOGPROBS = 20
"""As in OpenAI's API; vLLM gives no more by default either."""
FinishReason = Literal["stop", "length", "tool_calls"]


class StreamOptions(BoundedModel):
    include_usage: bool | None = None
    include_obfuscation: Ignored = None
    continuous_usage_stats: Ignored = None


class ChatRequest(HarmlessFields, RequestParams):
    """A chat completion. What this server cannot do is refused where leaving it undone would change the meaning."""

    model: str | None = Field(default=None, description="The served model's name.")
    messages: Messages
    n: Count | None = Field(default=None, description="Answers to give, each with a decision of its own.")
    max_completion_tokens: Count | None = Field(default=None, description="The newer name of max_tokens.")
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    stop: Stops = Field(
        default=None, description="Cuts the text that is shown where it first has one of these; never the answer."
    )
    response_format: ResponseFormat | None = Field(
        default=None, description="`json_object` and `json_schema` are answered under the `fields` contract."
    )
    tools: Tools | None = Field(default=None, description="Nothing is called unless `tool_choice` forces one tool.")
    tool_choice: ToolChoice | None = None
    logprobs: bool | None = Field(default=None, description="Those of the text, never of answer line or confidence.")
    top_logprobs: Annotated[int, Field(ge=0, le=MOST_TOP_LOGPROBS), WHOLE] | None = Field(
        default=None, description="Beside `logprobs: true`; alone it has no effect."
    )
    abstain_as: AbstainAs | None = Field(
        default=None,
        description="How it is said that there is no answer: as `content`, as a `refusal`, or as an `error` with "
        "status 422. By default the key's or the operator's choice, else content for text and refusal for JSON.",
    )

    functions: Annotated[Any, WithoutEffect(None, [])] = None
    function_call: Annotated[Any, WithoutEffect(None, "none", "auto")] = None
    modalities: Annotated[Any, WithoutEffect(None, ["text"])] = None
    audio: Annotated[Any, WithoutEffect(None)] = None
    web_search_options: Annotated[Any, WithoutEffect(None)] = None

    @property
    def form(self) -> Form | None:
        """The JSON that is asked for; None for text. Raises InvalidRequest."""
        return form_of(self.response_format, self.tools, self.tool_choice)

    @property
    def stops(self) -> list[str]:
        """Strings that cut what is shown; an empty one cuts nothing."""
        return [each for each in self.stop or [] if each]

    def to_request(self) -> UnresolvedRequest:
        """Of the two names of max_tokens the newer one holds. Raises InvalidRequest when the last message is not the
        user's."""
        newer = self.max_completion_tokens
        asked = self.model_copy(update={"max_tokens": newer}) if newer is not None else self
        logprobs = self.top_logprobs or 0 if self.logprobs else None
        request = UnresolvedRequest(
            conversation(self.messages), asked, "messages", schema_field="response_format", logprobs=logprobs
        )
        return replace(request, schema=form.schema, schema_field=form.field) if (form := self.form) else request


class ChatUsage(BaseModel):
    """Tokens of all choices together; the prompt counts once."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class CalledFunction(BaseModel):
    """`arguments` is JSON that fits the tool's parameters; in a chunk it is a piece of it."""

    name: Annotated[str | None, Field(exclude_if=lambda name: name is None)] = None
    arguments: str


class ToolCall(BaseModel):
    id: str
    type: Literal["function"] = "function"
    function: CalledFunction


class ToolCallPiece(BaseModel):
    """A piece of a tool's arguments; the first one says which tool it is."""

    index: int = 0
    id: Annotated[str | None, Field(exclude_if=lambda id: id is None)] = None
    type: Annotated[Literal["function"] | None, Field(exclude_if=lambda kind: kind is None)] = None
    function: CalledFunction


class ChatReplyMessage(BaseModel):
    """An abstention is one sentence, in `content` or in `refusal` as `abstain_as` says; the other one is null.

    The arguments of a forced tool are in `tool_calls`, and `content` is null.
    """

    role: Literal["assistant"] = "assistant"
    content: str | None
    refusal: str | None
    tool_calls: Annotated[list[ToolCall] | None, Field(exclude_if=lambda calls: calls is None)] = None


class LikelyToken(BaseModel):
    """A token with its natural log-probability; `bytes` are its UTF-8, of which `token` may show only a part."""

    token: str
    logprob: float
    bytes: list[int]


class ChatToken(LikelyToken):
    top_logprobs: list[LikelyToken]


class ChatLogprobs(BaseModel):
    """Of the tokens of the text before the answer line; null where the text is no one stretch of the output."""

    content: list[ChatToken] | None
    refusal: None = None


class Choice(BaseModel):
    index: int
    message: ChatReplyMessage
    logprobs: ChatLogprobs | None = None
    finish_reason: FinishReason
    demur: Answer


class ChatCompletion(BaseModel):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: ChatUsage
    system_fingerprint: None = None


class ChatDelta(BaseModel):
    """What a chunk adds to the message; what it does not add is not in the JSON either."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[ToolCallPiece] | None = None

    @model_serializer(mode="wrap")
    def _what_is_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if value is not None}


class ChunkChoice(BaseModel):
    index: int
    delta: ChatDelta
    logprobs: ChatLogprobs | None = None
    finish_reason: FinishReason | None = None
    demur: Answer | None = None


class ChatChunk(BaseModel):
    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: ChatUsage | None = None
    system_fingerprint: None = None
