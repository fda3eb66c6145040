"""Answers as responses: the whole object, and the events that build it up."""

from collections.abc import Iterator
from typing import Any

from demur.answering import Answer, Final, new_id
from demur.api.answers import ANSWER
from demur.api.chat import render as chat
from demur.api.responses.schemas import ResponsesRequest

Json = dict[str, Any]


class Rendering:
    """One response. Its events carry `sequence_number`; the last one has the whole object."""

    def __init__(self, asked: ResponsesRequest, style: chat.Style, model: str, created: int) -> None:
        self._asked, self._style = asked, style
        self._model, self._created = model, created
        self._id = new_id("resp")
        self._events = 0

    def begun(self) -> Iterator[tuple[str, Json]]:
        """The events before anything is decided."""
        for name in ("response.created", "response.in_progress"):
            yield self._event(name, response=self._shell("in_progress"))

    def ended(self, final: Final) -> Iterator[tuple[str, Json]]:
        """The events once the answer is there."""
        whole = self.whole(final)
        item = whole["output"][0]
        if item["type"] == "function_call":
            yield from self._called(item)
        else:
            yield from self._said(item)
        yield self._event(
            "response.incomplete" if whole["incomplete_details"] else "response.completed", response=whole
        )

    def error(self, code: str | None, message: str, param: str | None) -> tuple[str, Json]:
        told = {"code": code, "message": message, "param": param}
        return self._event("error", **told, error=told)

    def whole(self, final: Final) -> Json:
        """The response with its output, and the whole reply in `demur`."""
        answer, cut = final.answer, final.finish_reason == "length"
        usage = chat.usage([final])
        return self._shell("incomplete" if cut else "completed") | {
            "output": [self._item(answer)],
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "usage": {
                "input_tokens": usage.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": usage.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.total_tokens,
            },
            "demur": ANSWER.dump_python(answer, mode="json"),
        }

    def _shell(self, status: str) -> Json:
        asked = self._asked.model_dump(mode="json", by_alias=True, include=_ECHOED)
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "model": self._model,
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": None,
            "store": False,
            "truncation": "disabled",
            "usage": None,
            **asked,
            "tools": asked["tools"] or [],
            "tool_choice": asked["tool_choice"] or "auto",
            "text": {"format": {"type": "text"}} | _said_of(asked["text"]),
            "metadata": asked["metadata"] or {},
        }

    def _item(self, answer: Answer) -> Json:
        message = chat.message(answer, self._style)
        if message.tool_calls:
            (call,) = message.tool_calls
            item = {"type": "function_call", "id": new_id("fc"), "call_id": call.id, "status": "completed"}
            return item | {"name": call.function.name, "arguments": call.function.arguments}
        if message.refusal is not None:
            part: Json = {"type": "refusal", "refusal": message.refusal}
        else:
            part = {"type": "output_text", "text": message.content or "", "annotations": [], "logprobs": []}
        item = {"type": "message", "id": new_id("msg"), "status": "completed", "role": "assistant"}
        return item | {"content": [part]}

    def _said(self, item: Json) -> Iterator[tuple[str, Json]]:
        (part,) = item["content"]
        refused = part["type"] == "refusal"
        kind, field = ("refusal", "refusal") if refused else ("output_text", "text")
        at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        noted: Json = {} if refused else {"logprobs": []}
        begun: Json = {**item, "status": "in_progress", "content": []}
        yield self._event("response.output_item.added", output_index=0, item=begun)
        yield self._event("response.content_part.added", **at, part={**part, field: ""})
        for line in part[field].splitlines(keepends=True):
            yield self._event(f"response.{kind}.delta", **at, delta=line, **noted)
        yield self._event(f"response.{kind}.done", **at, **{field: part[field]}, **noted)
        yield self._event("response.content_part.done", **at, part=part)
        yield self._event("response.output_item.done", output_index=0, item=item)

    def _called(self, item: Json) -> Iterator[tuple[str, Json]]:
        at = {"item_id": item["id"], "output_index": 0}
        begun = {**item, "status": "in_progress", "arguments": ""}
        yield self._event("response.output_item.added", output_index=0, item=begun)
        yield self._event("response.function_call_arguments.delta", **at, delta=item["arguments"])
        ended = {"name": item["name"], "arguments": item["arguments"]}
        yield self._event("response.function_call_arguments.done", **at, **ended)
        yield self._event("response.output_item.done", output_index=0, item=item)

    def _event(self, kind: str, /, **data: Any) -> tuple[str, Json]:
        number, self._events = self._events, self._events + 1
        return kind, {"type": kind, "sequence_number": number, **data}


_ECHOED = {"instructions", "max_output_tokens", "temperature", "top_p", "tools", "tool_choice", "text", "metadata"}


def _said_of(options: Json | None) -> Json:
    """The options that were given."""
    return {name: value for name, value in (options or {}).items() if value is not None}
