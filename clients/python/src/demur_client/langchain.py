"""LangChain's ChatOpenAI for a demur server: `pip install demur-client[langchain]`.

`ChatOpenAI` works too, but has no place for the confidence: here it is in each message, at
`response_metadata["demur"]`, in replies, in streams and beside structured output.
"""

# LangChain is an extra: the types are checked where it is installed, and its methods' are its own business.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any, cast

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI

_OWN = ("risk_threshold", "contract", "granularity", "on_doubt", "samples", "abstain_as", "explain_fields")


class ChatDemur(ChatOpenAI):
    """A chat model whose messages say how sure they are. The fields beside ChatOpenAI's are those of the HTTP API.

    Others of them go into `extra_body`. `message.response_metadata["demur"]` is the whole reply as a dict: `decision`,
    `confidence`, `claims`, and `fields` where structured output was asked for.
    """

    risk_threshold: float | None = None
    contract: str | None = None
    granularity: str | None = None
    on_doubt: str | None = None
    samples: int | None = None
    abstain_as: str | None = None
    explain_fields: bool | None = None

    @property
    def _default_params(self) -> dict[str, Any]:
        params = super()._default_params
        own = {name: value for name in _OWN if (value := getattr(self, name)) is not None}
        return {**params, "extra_body": {**(params.get("extra_body") or {}), **own}}

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        result = super()._create_chat_result(response, generation_info)
        reply = cast("dict[str, Any]", response if isinstance(response, dict) else response.model_dump(warnings=False))
        for generation, choice in zip(result.generations, reply["choices"], strict=False):
            _note(generation.message, choice)
        return result

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        converted = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        choices = chunk.get("choices") or chunk.get("chunk", {}).get("choices") or []
        if converted is not None and choices:
            _note(converted.message, choices[0])
        return converted


def _note(message: Any, choice: dict[str, Any]) -> None:
    if isinstance(message, AIMessage) and choice.get("demur") is not None:
        message.response_metadata["demur"] = choice["demur"]
