"""Replies as they came, beside what they hold: `client.with_raw_response`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from . import decoding, failures, request
from .answers import Answer
from .request import Options, Question, Request

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, slots=True)
class RawReply:
    """An HTTP reply with an answer in it. `notice` is what the server did to the request, such as a limit."""

    http_response: httpx.Response
    schema: Any = None

    @property
    def status_code(self) -> int:
        return self.http_response.status_code

    @property
    def headers(self) -> httpx.Headers:
        return self.http_response.headers

    @property
    def request_id(self) -> str | None:
        """What the server's log calls this request."""
        return failures.request_id(self.http_response)

    @property
    def notice(self) -> str | None:
        return self.headers.get("demur-notice")

    def parse(self) -> Answer:
        """The answer in the reply. Raises ReplyError where there is none that can be read."""
        return decoding.from_response(self.http_response, self.schema)


class RawAnswers:
    """`answer` as the client has it, but what comes back is the HTTP reply with the answer in it."""

    def __init__(self, send: Callable[[Request], httpx.Response]) -> None:
        self._send = send

    def answer(self, question: Question, **options: Unpack[Options]) -> RawReply:
        """Ask; see `Client.answer`."""
        return RawReply(self._send(request.build(question, options)), options.get("schema"))


class AsyncRawAnswers:
    """The same from asyncio code."""

    def __init__(self, send: Callable[[Request], Awaitable[httpx.Response]]) -> None:
        self._send = send

    async def answer(self, question: Question, **options: Unpack[Options]) -> RawReply:
        """Ask; see `Client.answer`."""
        return RawReply(await self._send(request.build(question, options)), options.get("schema"))
