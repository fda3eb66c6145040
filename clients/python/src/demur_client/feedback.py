"""Verdicts on answers, as the server keeps them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import httpx

from .decoding import Fields
from .errors import ReplyError
from .failures import request_id
from .request import Request

if TYPE_CHECKING:
    from .answers import Answer

PATH = "v1/feedback"


@dataclass(frozen=True, slots=True)
class Feedback:
    """A verdict that is kept. `source` says what it counts for: "audit" and "learn" were taken from a queue, "gold" was
    compared with a known answer, "judge" is a model's, and "volunteered" counts for nothing but itself.

    `repeated`: it was there already. `at` is in seconds since 1970.
    """

    answer_id: str
    claim: int | None
    sample: int | None
    verdict: Literal["right", "wrong", "undone", "skipped", "later", "release"]
    source: Literal["audit", "learn", "volunteered", "gold", "judge"]
    at: int
    repeated: bool


def build(
    answer: Answer | str, correct: bool | None, gold: str | None, claim: int | None, sample: int | None
) -> Request:
    """The request that sends a verdict. Raises ValueError where both a verdict and a known answer are given."""
    if correct is not None and gold is not None:
        raise ValueError("give correct or gold, not both: with gold the server decides")
    body: dict[str, Any] = {"answer_id": answer if isinstance(answer, str) else answer.id}
    body |= {"correct": correct} if gold is None else {"gold": gold}
    body |= {name: value for name, value in (("claim", claim), ("sample", sample)) if value is not None}
    return Request(body, path=PATH)


def from_response(response: httpx.Response) -> Feedback:
    """The kept verdict in a success that has been read. Raises ReplyError where the reply holds none."""
    try:
        fields = Fields(json.loads(response.content))
        return Feedback(
            answer_id=fields.get("answer_id", str),
            claim=fields.maybe("claim", int),
            sample=fields.maybe("sample", int),
            verdict=cast(Any, fields.get("verdict", str)),
            source=cast(Any, fields.get("source", str)),
            at=fields.get("at", int),
            repeated=fields.get("repeated", bool),
        )
    except (ValueError, RecursionError):
        message = "the server's reply is no JSON: is this the address of a demur server?"
    except ReplyError as error:
        message = error.message
    raise ReplyError(message, status=response.status_code, request_id=request_id(response), body=response.text)
