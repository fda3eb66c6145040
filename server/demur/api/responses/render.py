"""Answers as `response` objects: the whole one, and the server-sent events that build it up."""

from collections.abc import Iterator
from typing import Any

from demur.answering import Final, new_id
from demur.api.answers import ANSWER
from demur.api.chat import render as chat
from demur.api.responses.items import Event, FunctionItem, Json, MessageItem, item_for, text_of
from demur.api.responses.schemas import ResponsesRequest


class Rendering:
    """One response. Its events carry `sequence_number`; the last one has the whole object.

    JSON of a schema is told value by value. An abstention behind JSON that was told is a refusal of its own.
    """

    def __init__(self, asked: ResponsesRequest, style: chat.Style, model: str, created: int) -> None:
        self._asked, self._style = asked, style
        self._model, self._created = model, created
        self._id = new_id("resp")
        self._events = 0
        self._live: FunctionItem | MessageItem | None = None
        self._told = ""

    def begun(self) -> Iterator[Event]:
        """The events before anything is decided."""
        for name in ("response.created", "response.in_progress"):
            yield self._event(name, response=self._shell("in_progress"))

    def more(self, text: str) -> Iterator[Event]:
        """More of the JSON that was asked for."""
        if self._style.form is None or self._style.abstain_as == "error":
            return
        if self._live is None:
            tool = self._style.form.tool
            self._live = MessageItem(self._event) if tool is None else FunctionItem(self._event, tool)
            yield from self._live.begin()
        self._told += text
        yield from self._live.more(text)

    def ended(self, final: Final) -> Iterator[Event]:
        """The events once the answer is there."""
        said = chat.message(final.answer, self._style)
        if self._live is not None and final.answer.decision == "answer":
            yield from self._completed(self._live, text_of(said)[len(self._told) :])
            items = [self._live.whole("completed")]
        elif self._live is not None:
            yield from self._live.end("incomplete")
            refusal = MessageItem(self._event, 1, refused=True)
            yield from self._in_lines(refusal, said.refusal or said.content or "")
            items = [self._live.whole("incomplete"), refusal.whole("completed")]
        else:
            item = item_for(self._event, said)
            yield from self._in_lines(item, text_of(said))
            items = [item.whole("completed")]
        whole = self._with(final, items)
        kind = "response.incomplete" if whole["incomplete_details"] else "response.completed"
        yield self._event(kind, response=whole)

    def _completed(self, item: FunctionItem | MessageItem, rest: str) -> Iterator[Event]:
        yield from item.more(rest) if rest else ()
        yield from item.end("completed")

    def _in_lines(self, item: FunctionItem | MessageItem, text: str) -> Iterator[Event]:
        yield from item.begin()
        for line in text.splitlines(keepends=True):
            yield from item.more(line)
        yield from item.end("completed")

    def whole(self, final: Final) -> Json:
        """The response in one piece."""
        said = chat.message(final.answer, self._style)
        item = item_for(self._event, said)
        for _ in item.more(text_of(said)):
            pass
        return self._with(final, [item.whole("completed")])

    def error(self, code: str | None, message: str, param: str | None) -> Event:
        told = {"code": code, "message": message, "param": param}
        return self._event("error", **told, error=told)

    def _with(self, final: Final, items: list[Json]) -> Json:
        """The response with its output, and the whole reply in `demur`."""
        answer, cut = final.answer, final.finish_reason == "length"
        usage = chat.usage([final])
        return self._shell("incomplete" if cut else "completed") | {
            "output": items,
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

    def _event(self, kind: str, /, **data: Any) -> Event:
        number, self._events = self._events, self._events + 1
        return kind, {"type": kind, "sequence_number": number, **data}


_ECHOED = {"instructions", "max_output_tokens", "temperature", "top_p", "tools", "tool_choice", "text", "metadata"}


def _said_of(options: Json | None) -> Json:
    """The options that the request set, as the response repeats them."""
    return {name: value for name, value in (options or {}).items() if value is not None}
