"""One request to one endpoint: what to try again, for how long, and what no trying mends."""

import asyncio
import email.utils
import json
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx

from demur.backoff import exponential
from demur.evaluation.asking.base import BadReply
from demur.evaluation.errors import EndpointError, Refused
from demur.http_client import UntrustedReply, one_line, read_body, retry_after_seconds

TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""Statuses that may go away by themselves."""

HOPELESS = frozenset({401, 403, 404, 405})
"""Statuses that would meet every question: the key, the address or the API is wrong."""

NO_PROMISE = "guarantee_unavailable"
"""The code of a demur server's 409: it cannot promise the error rate that is asked for, nor will it the next time."""

FIRST_PAUSE, LONGEST_PAUSE, LONGEST_OBEYED = 0.5, 60.0, 600.0
"""Seconds: before the second try, between tries at most, and of a Retry-After at most."""

MOST_REPLY = 64 << 20
"""Bytes of a reply: 64 samples of a long output with all their text need a tenth of it."""
MOST_REFUSAL = 1 << 16
"""Bytes of an error's reply."""

Sleep = Callable[[float], Awaitable[None]]


class GaveUp(Exception):
    """This question got no answer. The message says what the endpoint last did.

    `again` says that it may get one another time: the endpoint was in trouble, it did not refuse the question.
    """

    def __init__(self, what: str, *, again: bool) -> None:
        super().__init__(what)
        self.again = again


@dataclass(slots=True)
class FailureLimit:
    """Stops a run after `limit` questions in a row without an answer: the endpoint is held to be down.

    What it refuses for good, such as a prompt that is too long, says nothing of whether it is up.
    """

    limit: int = 8
    _in_a_row: int = 0

    def answered(self) -> None:
        """A question got an answer: the endpoint is up."""
        self._in_a_row = 0

    def spent(self, error: GaveUp) -> bool:
        """Count a question without an answer; whether the limit is reached."""
        self._in_a_row += error.again
        return self._in_a_row >= self.limit


@dataclass(frozen=True, slots=True)
class Reply:
    """A JSON body that came back. `seconds` is the time of the last try alone, `tries` counts all of them."""

    body: Any
    seconds: float
    tries: int


def host_of(base_url: str) -> str:
    """The address without the /v1 that OpenAI's clients want. Raises EndpointError where it is none."""
    address = base_url.rstrip("/").removesuffix("/v1")
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise EndpointError(f"{base_url} is no address: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise EndpointError(f"{base_url} is no address: it must look like http://127.0.0.1:8000")
    return address


def connect(base_url: str, api_key: str | None, *, timeout: float, connections: int) -> httpx.AsyncClient:
    """A client for a host, without redirects, cookies and compression; heads end at httpcore's limit of 100 KiB.

    `timeout` is in seconds; a base URL that ends in /v1 is taken too. Raises EndpointError where it is no address.
    """
    authorization = {"authorization": f"Bearer {api_key}"} if api_key else {}
    return httpx.AsyncClient(
        base_url=host_of(base_url),
        headers={"accept-encoding": "identity", **authorization},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        follow_redirects=False,
        timeout=httpx.Timeout(timeout, connect=min(timeout, 15.0), pool=None),
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
    )


@dataclass(slots=True)
class Endpoint:
    """An HTTP host that is asked with JSON. `retries` counts the tries after the first.

    A reply may take as long as the client's timeout in all, and have `most_bytes`.
    """

    client: httpx.AsyncClient
    retries: int = 6
    sleep: Sleep = asyncio.sleep
    jitter: random.Random = field(default_factory=random.Random)
    most_bytes: int = MOST_REPLY

    async def post(self, path: str, body: dict[str, Any], check: Callable[[Any], object]) -> Reply:
        """Post until a JSON body comes that `check` accepts (it raises BadReply otherwise).

        Raises GaveUp when the tries are spent or the request itself is refused, Refused or another EndpointError where
        no question can succeed.
        """
        return await self._until("POST", path, body, check)

    async def get(self, path: str, check: Callable[[Any], object]) -> Reply:
        """As `post`, without a body."""
        return await self._until("GET", path, None, check)

    async def _until(
        self, method: str, path: str, body: dict[str, Any] | None, check: Callable[[Any], object]
    ) -> Reply:
        for tries in range(1, self.retries + 2):
            started = time.perf_counter()
            trouble = await self._try(method, path, body, check)
            if isinstance(trouble, _Accepted):
                return Reply(trouble.body, time.perf_counter() - started, tries)
            if not trouble.again or tries > self.retries:
                what = trouble.what if tries == 1 else f"{trouble.what} (after {tries} tries)"
                raise GaveUp(what, again=trouble.again)
            await self.sleep(self._pause(tries, trouble.retry_after))
        raise AssertionError("the last try either returns or raises")

    async def _try(
        self, method: str, path: str, body: dict[str, Any] | None, check: Callable[[Any], object]
    ) -> "_Accepted | _Trouble":
        try:
            async with asyncio.timeout(self.client.timeout.read):
                response = await self._exchange(method, path, body)
        except (httpx.TimeoutException, TimeoutError):
            return _Trouble("no answer in time")
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise EndpointError(f"{self.client.base_url} is no address: {error}") from None
        except (httpx.RequestError, OSError) as error:
            return _Trouble(f"the connection failed: {one_line(error) or type(error).__name__}")
        except UntrustedReply as error:
            return _Trouble(str(error))
        hopeless = response.status_code in HOPELESS
        if hopeless or (response.status_code == 409 and _word(response, "code") == NO_PROMISE):
            what = f"{response.url} answers {response.status_code}: {_message(response)}"
            raise Refused(what, response.status_code, _word(response, "param"))
        if not response.is_success:
            again = response.status_code in TRY_AGAIN
            return _Trouble(f"status {response.status_code}: {_message(response)}", again, _retry_after(response))
        return _checked(response, check)

    async def _exchange(self, method: str, path: str, body: dict[str, Any] | None) -> httpx.Response:
        """One request and its reply, which has a limit in bytes. Raises UntrustedReply past it."""
        async with self.client.stream(method, path, json=body) as streamed:
            most = self.most_bytes if streamed.is_success else MOST_REFUSAL
            content = await read_body(streamed.aiter_bytes(), streamed.headers, most)
        return httpx.Response(streamed.status_code, headers=streamed.headers, content=content, request=streamed.request)

    def _pause(self, tries: int, retry_after: float | None) -> float:
        """Seconds to wait: what the endpoint asked for, or twice as long each time, less up to half by chance."""
        if retry_after is not None:
            return min(retry_after, LONGEST_OBEYED)
        return exponential(tries, FIRST_PAUSE, LONGEST_PAUSE) * self.jitter.uniform(0.5, 1)


@dataclass(frozen=True, slots=True)
class _Accepted:
    body: Any


@dataclass(frozen=True, slots=True)
class _Trouble:
    what: str
    again: bool = True
    retry_after: float | None = None


def _checked(response: httpx.Response, check: Callable[[Any], object]) -> _Accepted | _Trouble:
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return _Trouble(f"the reply is no JSON: {response.text[:80]!r}")
    try:
        check(body)
    except BadReply as error:
        return _Trouble(str(error))
    return _Accepted(body)


def _message(response: httpx.Response) -> str:
    """The error's own words, from the shapes that hosts use; else the beginning of the body."""
    try:
        error = response.json()
        for key in ("error", "message", "detail"):
            error = error.get(key, error) if isinstance(error, dict) else error
        return one_line(error if isinstance(error, str) else json.dumps(error))
    except (ValueError, RecursionError):
        return one_line(response.text, 120) or response.reason_phrase


def _word(response: httpx.Response, name: str) -> str | None:
    """What a demur server says in a field of its error: the request's `param` that it finds fault with, or a `code`."""
    try:
        word = response.json()["error"][name]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return word if isinstance(word, str) else None


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds from a Retry-After header, which holds a number or a date."""
    value = response.headers.get("retry-after", "")
    seconds = retry_after_seconds(value)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
