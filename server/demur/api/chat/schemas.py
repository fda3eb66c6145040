"""The bodies of `POST /v1/chat/completions`: OpenAI's fields, and this server's beside them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_serializer
from pydantic_core import CoreSchema, core_schema

from demur.answering import Answer, RequestParams, UnresolvedRequest
from demur.answering.errors import InvalidRequest
from demur.api.messages import Messages, conversation
from demur.fields import BoundedModel, Count, Name, Strings


class WithoutEffect:
    """For a field this server cannot honour: taken with the values that ask for nothing, an error with any other."""

    def __init__(self, *taken: Any) -> None:
        self._taken = taken

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"enum": [value for value in self._taken if not isinstance(value, float)]}

    def _check(self, value: Any) -> Any:
        if not any(type(value) is type(taken) and value == taken for taken in self._taken):
            raise ValueError("not supported by this server; leave it out")
        return value


class StreamOptions(BoundedModel):
    include_usage: bool = False
    include_obfuscation: Annotated[Any, WithoutEffect(None, False)] = None


class ChatRequest(RequestParams):
    """A chat completion. Fields that would change or cut the output form are refused, not ignored."""

    messages: Messages
    n: Count | None = Field(default=None, description="Answers to give, each with a decision of its own.")
    max_completion_tokens: Count | None = Field(default=None, description="The newer name of max_tokens.")
    stream: bool | None = None
    stream_options: StreamOptions | None = None

    user: Name | None = Field(default=None, description="Without effect, like the other fields about the caller.")
    safety_identifier: Name | None = None
    metadata: Strings | None = None
    prompt_cache_key: Name | None = None
    prompt_cache_retention: Name | None = None
    service_tier: Literal["auto", "default"] | None = None
    parallel_tool_calls: bool | None = None

    store: Annotated[Any, WithoutEffect(None, False)] = None
    frequency_penalty: Annotated[Any, WithoutEffect(None, 0, 0.0)] = None
    presence_penalty: Annotated[Any, WithoutEffect(None, 0, 0.0)] = None
    logit_bias: Annotated[Any, WithoutEffect(None, {})] = None
    logprobs: Annotated[Any, WithoutEffect(None, False)] = None
    top_logprobs: Annotated[Any, WithoutEffect(None, 0)] = None
    stop: Annotated[Any, WithoutEffect(None, [])] = Field(default=None, description="Would cut off the confidence.")
    tools: Annotated[Any, WithoutEffect(None, [])] = None
    tool_choice: Annotated[Any, WithoutEffect(None, "none", "auto")] = None
    functions: Annotated[Any, WithoutEffect(None, [])] = None
    function_call: Annotated[Any, WithoutEffect(None, "none", "auto")] = None
    response_format: Annotated[Any, WithoutEffect(None, {"type": "text"})] = None
    modalities: Annotated[Any, WithoutEffect(None, ["text"])] = None
    audio: Annotated[Any, WithoutEffect(None)] = None
    prediction: Annotated[Any, WithoutEffect(None)] = None
    reasoning_effort: Annotated[Any, WithoutEffect(None, "none")] = None
    verbosity: Annotated[Any, WithoutEffect(None, "medium")] = None
    web_search_options: Annotated[Any, WithoutEffect(None)] = None

    def to_request(self) -> UnresolvedRequest:
        """Raises InvalidRequest when the two names of max_tokens disagree or the last message is not the user's."""
        if None not in (self.max_tokens, newer := self.max_completion_tokens) and newer != self.max_tokens:
            raise InvalidRequest("max_tokens says something else; give one of them", "max_completion_tokens")
        asked = self.model_copy(update={"max_tokens": newer}) if newer is not None else self
        return UnresolvedRequest(conversation(self.messages), asked, "messages")


class ChatUsage(BaseModel):
    """Tokens of all choices together; the prompt counts once."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatReplyMessage(BaseModel):
    """`refusal` is null for an answer; after an abstention it says, like `content`, that and why there is none."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: str | None


class Choice(BaseModel):
    index: int
    message: ChatReplyMessage
    logprobs: None = None
    finish_reason: Literal["stop", "length"]
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

    @model_serializer
    def _what_is_there(self) -> dict[str, str]:
        return {name: value for name, value in self if value is not None}


class ChunkChoice(BaseModel):
    index: int
    delta: ChatDelta
    logprobs: None = None
    finish_reason: Literal["stop", "length"] | None = None
    demur: Answer | None = None


class ChatChunk(BaseModel):
    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: ChatUsage | None = None
    system_fingerprint: None = None
