"""Types of OpenAI's request fields: those without effect, and those that can only be taken empty."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

from demur.field_types import BoundedModel, Name, Strings

MOST_STOPS, LONGEST_STOP = 16, 500
"""Stop strings of a request, and characters of one."""

Ignored = Annotated[Any, Field(description="Taken, and without effect.")]
Stop = Annotated[str, Field(max_length=LONGEST_STOP)]
StopList = Annotated[list[Stop], Field(max_length=MOST_STOPS, fail_fast=True)]
_STOPS_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "maxLength": LONGEST_STOP},
        {"type": "array", "maxItems": MOST_STOPS, "items": {"type": "string", "maxLength": LONGEST_STOP}},
        {"type": "null"},
    ]
}
Stops = Annotated[
    StopList | None,
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    WithJsonSchema(_STOPS_SCHEMA),
]


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


class HarmlessFields(BoundedModel):
    """Fields of OpenAI's and vLLM's APIs that cannot change what an answer means here.

    Nothing is ever stored; there is one tier of service; how much a model reasons and how wordy it is are left to its
    prompt, unless its chat template takes an argument for it (`chat_template_kwargs`).
    """

    user: Name | None = Field(default=None, description="Without effect, like the other fields about the caller.")
    safety_identifier: Name | None = None
    metadata: Strings | None = None
    store: Ignored = None
    service_tier: Ignored = None
    prompt_cache_key: Name | None = None
    prompt_cache_retention: Name | None = None
    parallel_tool_calls: Ignored = None
    reasoning_effort: Ignored = None
    verbosity: Ignored = None
    prediction: Ignored = None

    ignore_eos: Ignored = None
    min_tokens: Ignored = None
    skip_special_tokens: Ignored = None
    spaces_between_special_tokens: Ignored = None
    include_stop_str_in_output: Ignored = None
    include_reasoning: Ignored = None
    add_generation_prompt: Ignored = None
    add_special_tokens: Ignored = None
    continuous_usage_stats: Ignored = None
    priority: Ignored = None
    request_id: Ignored = None
    cache_salt: Ignored = None
