"""One event of a streamed chat completion: every field is typed, and none may say more than there can be."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from demur.engine.base import Chunk, EngineError, FinishReason
from demur.engine.host_logprobs import cached_tokens, token_logprobs
from demur.http_client import one_line

LEAST_LINE, MOST_LINE = 1 << 19, 1 << 20
"""Bytes that one event may have, by how much was asked for. Hosts that do not stream send the whole text in one."""
BYTES_PER_TOKEN = 4096
"""Bytes of a reply for each token that was asked for, with what stands around its text in an event."""
TEMPLATE_TOKENS = 1 << 14
"""Tokens that a host may put around a prompt."""
OF_ALL = -1
"""The choice of what is said of all choices of a request."""

_FINISH: dict[str, FinishReason] = {"length": "length", "abort": "abort"}


class _Delta(Struct, frozen=True, gc=False):
    """Hosts with a reasoning parser keep a model's private thought apart, under one of two names."""

    content: str | None = None
    reasoning: Any = None
    reasoning_content: Any = None

    @property
    def thought(self) -> str:
        found = self.reasoning or self.reasoning_content
        return found if isinstance(found, str) else ""


class _Choice(Struct, frozen=True, gc=False):
    index: Any = 0
    delta: _Delta | None = None
    finish_reason: str | None = None
    logprobs: Any = None
    """Read apart, and only where they were asked for: one that cannot be read is a signal less, not a sample less."""


class _Usage(Struct, frozen=True, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: Any = None


class _Event(Struct, frozen=True, gc=False):
    """What the protocol does not name is passed over; what it names has its type and nothing near it."""

    choices: Annotated[list[_Choice], Meta(max_length=16)] | None = None
    usage: _Usage | None = None
    error: Any = None


_EVENT = msgspec.json.Decoder(_Event)
_NOTHING, _UNSAID, _UNCOUNTED = _Choice(), _Delta(), _Usage()


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, ready to be sent to any host. `prompt_bytes` bounds the prompt's tokens from above."""

    body: bytes
    headers: Mapping[str, str]
    max_tokens: int
    prompt_bytes: int
    logprobs: bool = False
    """Whether log-probabilities were asked for: what a host sends of them unasked is passed over."""
    choices: int = 1
    """Samples that are drawn in this one request. Where there are several, the host counts the tokens of each."""

    @property
    def most_line(self) -> int:
        return min(LEAST_LINE + BYTES_PER_TOKEN * self.max_tokens, MOST_LINE)

    @property
    def most_bytes(self) -> int:
        return (MOST_LINE + BYTES_PER_TOKEN * self.max_tokens) * self.choices

    @property
    def most_tokens(self) -> int:
        """Of one sample. Hosts count what they leave out of the text, too."""
        return 2 * self.max_tokens + 64


def read_event(data: bytes, ask: Ask) -> Chunk | None:
    """The chunk that the data of one event makes; None for one that says nothing. Raises EngineError.

    Of several choices it is one that was asked for, or OF_ALL for what is counted of all together.
    """
    event = _decoded(data)
    if event.error:
        raise EngineError("it sent an error")
    choice, usage = event.choices[0] if event.choices else _NOTHING, event.usage or _UNCOUNTED
    index = 0
    if ask.choices > 1:
        index = choice.index if event.choices else OF_ALL
        if type(index) is not int or not OF_ALL <= index < ask.choices:
            return None
    delta, reason = choice.delta or _UNSAID, choice.finish_reason
    text, thought = delta.content, delta.thought
    logprobs = token_logprobs(choice.logprobs) if ask.logprobs and choice.logprobs is not None else ()
    told = bool(text or thought or logprobs) or reason is not None
    if not told and usage.prompt_tokens is None and usage.completion_tokens is None:
        return None
    if _above(usage.prompt_tokens, ask.prompt_bytes + TEMPLATE_TOKENS) or _above(
        usage.completion_tokens, ask.most_tokens * (ask.choices if index == OF_ALL else 1)
    ):
        raise EngineError("it counts more tokens than there can be")
    return Chunk(
        text=text or "",
        finish_reason=None if reason is None else _FINISH.get(reason, "stop"),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        logprobs=logprobs,
        cached_tokens=cached_tokens(usage.prompt_tokens_details, usage.prompt_tokens),
        thought=thought,
        pieces=1 if told else 0,
        choice=index,
    )


def _decoded(data: bytes) -> _Event:
    """Raises EngineError; none of the causes quotes what was sent.

    Hosts written in Python may send NaN among log-probabilities, which is no JSON: there it becomes a word like any.
    """
    try:
        try:
            return _EVENT.decode(data)
        except msgspec.DecodeError:
            if b"NaN" not in data and b"Infinity" not in data:
                raise
            return _EVENT.decode(json.dumps(json.loads(data, parse_constant=str)))
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise EngineError(f"an event that cannot be read: {one_line(error)}") from error


def _above(count: int | None, most: int) -> bool:
    return count is not None and not 0 <= count <= most
