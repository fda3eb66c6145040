"""A question and its options -> the request on the wire, for both clients. No I/O."""

from __future__ import annotations

import difflib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict, Union

import httpx

from . import structured
from .values import Aggregation, ConfidenceSource, Contract, Granularity, Message, OnDoubt, Selection, Stopping
from .version import __version__

DEFAULT_BASE_URL = "http://127.0.0.1:8000"
DEFAULT_TIMEOUT = httpx.Timeout(connect=5.0, read=600.0, write=60.0, pool=600.0)
LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=100)
PATH = "v1/answers"
_SERVER_GRACE = 10.0
"""Seconds the client waits beyond the server's own time limit, so that the server's word arrives."""

Question = Union[str, Sequence[Message]]  # noqa: UP007
"""A question, or a conversation whose last message is the user's."""


class Options(TypedDict, total=False):
    """What may be said beside the question. What is left out follows the model and the operator.

    `risk_threshold` is in [0, 1]: the answer is withheld when the model is less sure than that. `max_error`, in its
    place, is the share in [0, 1] of given answers that may be wrong: the server chooses the threshold that keeps it, if
    its calibrator has one (see `Answer.guarantee`). `contract` chooses how the model states its confidence,
    `granularity` whether the whole answer or each claim is decided on. `samples` answers are drawn and one is chosen by
    `selection`; `stopping` ends the sampling early, with another winner at a probability of at most `error_budget`.
    `max_tokens` is the longest output of one sample. `timeout` is the server's limit for the request in seconds.
    `include_withheld` asks for the text of an abstention, which the operator may forbid; `include_signals` names the
    signals to be shown.

    `schema` is a pydantic model class or a JSON Schema: the answer is JSON that fits it, with a confidence for every
    value. `on_doubt` says what becomes of doubtful ones, `explain_fields` asks for a reason beside each.
    """

    model: str
    contract: Contract
    granularity: Granularity
    risk_threshold: float
    max_error: float
    aggregation: Aggregation
    confidence_source: ConfidenceSource
    samples: int
    selection: Selection
    stopping: Stopping
    error_budget: float
    schema: Any
    on_doubt: OnDoubt
    explain_fields: bool
    max_tokens: int
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    repetition_penalty: float
    frequency_penalty: float
    presence_penalty: float
    logit_bias: Mapping[str, float]
    chat_template_kwargs: Mapping[str, Any]
    seed: int
    timeout: float
    include_withheld: bool
    include_raw: bool
    include_token_values: bool
    include_signals: Sequence[str]


@dataclass(frozen=True, slots=True)
class Request:
    """One request: its JSON, None for a GET, whether events are wanted, and where it goes."""

    body: dict[str, Any] | None = None
    stream: bool = False
    path: str = PATH

    def to_http(
        self, http: httpx.Client | httpx.AsyncClient, base_url: str, headers: Mapping[str, str], timeout: httpx.Timeout
    ) -> httpx.Request:
        """The request for either kind of httpx client."""
        wanted = {"accept": "text/event-stream" if self.stream else "application/json"}
        if self.body is None:
            return http.build_request("GET", base_url + self.path, headers={**headers, **wanted}, timeout=timeout)
        return http.build_request(
            "POST",
            base_url + self.path,
            content=json.dumps(self.body, allow_nan=False),
            headers={**headers, **wanted, "content-type": "application/json"},
            timeout=_patient(timeout, self.body.get("timeout")),
        )


def build(question: Question, options: Options, *, stream: bool = False) -> Request:
    """The request for one question. Options that are None are left out. Values are the server's to judge.

    Raises TypeError for an option that does not exist and ValueError for nan or infinity, which JSON cannot say.
    """
    check(options)
    asked = {"question": question} if isinstance(question, str) else {"messages": list(question)}
    chosen = {name: value for name, value in options.items() if value is not None}
    if "schema" in chosen:
        chosen["schema"] = structured.json_schema(chosen["schema"])
    return Request(asked | chosen | ({"stream": True} if stream else {}), stream)


def check(options: Options) -> None:
    """Raise TypeError or ValueError for options that no request can carry, as `build` does."""
    for name, value in options.items():
        if name not in Options.__annotations__:
            close = difflib.get_close_matches(name, Options.__annotations__, 1)
            raise TypeError(f"there is no option {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name} has to be a finite number, not {value}")


class Connection(NamedTuple):
    """Where the server is, and the headers of every request to it."""

    base_url: str
    headers: dict[str, str]


def connection(base_url: str | None, api_key: str | None, environ: Mapping[str, str] = os.environ) -> Connection:
    """Where the server is and how it is spoken to: what was given, else what the environment says.

    DEMUR_BASE_URL may end in /v1; DEMUR_API_KEY may be absent. Raises ValueError for what is no http or https
    address, and for a key that no header can carry, without repeating it.
    """
    address = base_url or environ.get("DEMUR_BASE_URL") or DEFAULT_BASE_URL
    key = environ.get("DEMUR_API_KEY", "") if api_key is None else api_key
    return Connection(base_url=_checked_url(address), headers=_headers(key))


def _checked_url(address: str) -> str:
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise ValueError(f"base_url {address!r} is no address: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"base_url has to be like {DEFAULT_BASE_URL!r}, not {address!r}")
    return str(url.copy_with(query=None, fragment=None)).rstrip("/").removesuffix("/v1") + "/"


def _headers(key: str) -> dict[str, str]:
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError("the API key holds characters that no header can carry")
    return {"user-agent": f"demur-client/{__version__}"} | ({"authorization": f"Bearer {key}"} if key else {})


def _patient(timeout: httpx.Timeout, server_limit: object) -> httpx.Timeout:
    """The client's timeouts, never shorter than the time the caller gave the server."""
    read = timeout.read
    if isinstance(server_limit, (int, float)) and read is not None:
        read = max(read, server_limit + _SERVER_GRACE)
    return httpx.Timeout(connect=timeout.connect, read=read, write=timeout.write, pool=timeout.pool)
