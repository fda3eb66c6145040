"""JSON from the server -> values. Unknown fields are skipped; a wrong type is a ReplyError that names the field."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, cast

import httpx

from . import structured
from .answers import Answer
from .errors import ReplyError
from .failures import request_id
from .values import (
    CalibrationSet,
    Claim,
    Content,
    Field,
    Group,
    Guarantee,
    Member,
    Samples,
    Settlement,
    Signal,
    SignalCost,
    Usage,
)

T = TypeVar("T")
_HUGE = 2**1000


class Fields:
    """One JSON object, read field by field. `path` is where it stands in the reply, for messages."""

    def __init__(self, value: object, path: str = "") -> None:
        if not isinstance(value, dict):
            raise ReplyError(f"the server's reply{f' at {path}' if path else ''} is no JSON object")
        self._values = cast(dict[str, Any], value)
        self._path = path

    def get(self, name: str, kind: type[T]) -> T:
        """The field of this type. Raises ReplyError where it is absent or null, and as `maybe` does."""
        value = self.maybe(name, kind)
        if value is None:
            raise ReplyError(f"the server's reply lacks {self._at(name)}")
        return value

    def maybe(self, name: str, kind: type[T]) -> T | None:
        """The field, None where it is absent or null. Raises ReplyError for another type: numbers have to be finite,
        and true is no number."""
        value = self._values.get(name)
        if value is None:
            return None
        if kind is float and type(value) is int:
            value = float(value) if abs(value) < _HUGE else math.inf
        if type(value) is not kind or _infinite(value):
            raise ReplyError(f"{self._at(name)} in the server's reply is no {kind.__name__}: {value!r:.80}")
        return cast(T, value)

    def any(self, name: str) -> Any:
        """The field as it is, None where it is absent."""
        return self._values.get(name)

    def inner(self, name: str) -> Fields | None:
        """An object inside this one, None where it is absent or null."""
        value = self._values.get(name)
        return None if value is None else Fields(value, self._at(name))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the object's fields."""
        return tuple(self._values)

    def each(self, name: str) -> list[Fields]:
        """The objects in a list; [] where it is absent or null."""
        values = cast(list[object], self.maybe(name, list) or [])
        return [Fields(value, f"{self._at(name)}[{i}]") for i, value in enumerate(values)]

    def all(self, name: str, kind: type[T]) -> tuple[T, ...]:
        """The plain values in a list; () where it is absent or null."""
        values = cast(list[object], self.maybe(name, list) or [])
        if not all(type(value) is kind for value in values):
            raise ReplyError(f"{self._at(name)} in the server's reply holds something that is no {kind.__name__}")
        return tuple(cast(list[T], values))

    def _at(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name


def from_response(response: httpx.Response, schema: Any = None) -> Answer:
    """The answer in a success that has been read. Raises ReplyError, with the reply as its body."""
    found = replace(_read(response, answer), request_id=request_id(response))
    return found if schema is None else structured.parsed(found, schema)


def fields_of(response: httpx.Response) -> Fields:
    """The object in a success that has been read. Raises ReplyError."""
    return _read(response, lambda fields: fields)


def _read(response: httpx.Response, reader: Callable[[Fields], T]) -> T:
    try:
        return reader(Fields(json.loads(response.content)))
    except (ValueError, RecursionError):
        message = "the server's reply is no JSON: is this the address of a demur server?"
    except ReplyError as error:
        message = error.message
    raise ReplyError(message, status=response.status_code, request_id=request_id(response), body=response.text)


def answer(fields: Fields) -> Answer:
    """The reply to a question."""
    withheld = fields.inner("withheld")
    sampled = fields.inner("samples")
    structured_answer = fields.any("fields") is not None
    return Answer(
        id=fields.get("id", str),
        created=fields.get("created", int),
        model=fields.get("model", str),
        calibrated=fields.get("calibrated", bool),
        contract=cast(Any, fields.get("contract", str)),
        granularity=cast(Any, fields.get("granularity", str)),
        risk_threshold=fields.get("risk_threshold", float),
        decision=cast(Any, fields.get("decision", str)),
        reason=cast(Any, fields.maybe("reason", str)),
        answer=fields.maybe("answer", str),
        confidence=fields.maybe("confidence", float),
        confidence_source=cast(Any, fields.get("confidence_source", str)),
        aggregation=cast(Any, fields.maybe("aggregation", str)),
        text=fields.maybe("text", str),
        claims=tuple(claim(each) for each in fields.each("claims")),
        withheld=_content(withheld) if withheld else None,
        raw=fields.maybe("raw", str),
        samples=_samples(sampled) if sampled else None,
        usage=_usage(fields.inner("usage") or Fields({})),
        signals=_signals(fields.inner("signals")),
        guarantee=_guarantee(held) if (held := fields.inner("guarantee")) else None,
        notice=fields.maybe("notice", str),
        settled=_settled(fields.inner("settled")),
        fields=None if not structured_answer else tuple(field(each) for each in fields.each("fields")),
        parsed=None if not structured_answer else structured.loaded(fields.maybe("answer", str)),
    )


def _guarantee(fields: Fields) -> Guarantee:
    graded = fields.inner("calibration") or Fields({})
    return Guarantee(
        max_error=fields.get("max_error", float),
        delta=fields.get("delta", float),
        threshold=fields.get("threshold", float),
        exact=fields.get("exact", bool),
        expected_coverage=fields.get("expected_coverage", float),
        calibration=CalibrationSet(
            id=graded.get("id", str),
            rows=graded.get("rows", int),
            made=graded.get("made", str),
            kind=graded.get("kind", str),
            questions=graded.maybe("questions", str),
        ),
    )


def field(fields: Fields) -> Field:
    """One value of a structured answer."""
    return Field(
        path=fields.get("path", str),
        value=fields.any("value"),
        confidence=fields.maybe("confidence", float),
        decision=cast(Any, fields.get("decision", str)),
        explanation=fields.maybe("explanation", str) or "",
        agreement=fields.maybe("agreement", float),
        signals=_signals(fields.inner("signals")),
    )


def claim(fields: Fields) -> Claim:
    """One claim, in a reply or in an event."""
    span = fields.all("span", int)
    if len(span) != 2:
        raise ReplyError(f"the span of a claim in the server's reply is no pair: {list(span)!r:.80}")
    return Claim(
        text=fields.get("text", str),
        span=(span[0], span[1]),
        confidence=fields.maybe("confidence", float),
        explanation=fields.maybe("explanation", str) or "",
        decision=cast(Any, fields.get("decision", str)),
        problems=fields.all("problems", str),
    )


def _signals(fields: Fields | None) -> dict[str, Signal] | None:
    return None if fields is None else {name: _signal(fields.inner(name) or Fields({})) for name in fields.names}


def _signal(fields: Fields) -> Signal:
    cost = fields.inner("cost")
    return Signal(fields.maybe("value", float), fields.maybe("missing", str), _cost(cost) if cost else None)


def _cost(fields: Fields) -> SignalCost:
    return SignalCost(
        calls=fields.get("calls", int),
        prompt_tokens=fields.maybe("prompt_tokens", int),
        cached_tokens=fields.maybe("cached_tokens", int),
        completion_tokens=fields.maybe("completion_tokens", int),
        milliseconds=fields.get("milliseconds", float),
    )


def _content(fields: Fields) -> Content:
    claims = tuple(claim(each) for each in fields.each("claims"))
    return Content(fields.maybe("answer", str), fields.maybe("text", str), claims)


def _usage(fields: Fields) -> Usage:
    return Usage(
        prompt_tokens=fields.maybe("prompt_tokens", int),
        completion_tokens=fields.maybe("completion_tokens", int),
        samples_drawn=fields.maybe("samples_drawn", int) or 1,
        samples_aborted=fields.maybe("samples_aborted", int) or 0,
        signal_tokens=fields.maybe("signal_tokens", int),
    )


def _samples(fields: Fields) -> Samples:
    return Samples(
        drawn=fields.get("drawn", int),
        aborted=fields.maybe("aborted", int) or 0,
        tokens=fields.maybe("tokens", int) or 0,
        tokens_saved=fields.maybe("tokens_saved", int) or 0,
        stopped_by=fields.maybe("stopped_by", str),
        groups=tuple(_group(each) for each in fields.each("groups")),
        members=tuple(_member(each) for each in fields.each("members")),
    )


def _group(fields: Fields) -> Group:
    return Group(
        answer=fields.maybe("answer", str),
        members=fields.all("members", int),
        vote_share=fields.get("vote_share", float),
        mean_confidence=fields.maybe("mean_confidence", float),
        max_confidence=fields.maybe("max_confidence", float),
        chosen=fields.get("chosen", bool),
    )


def _member(fields: Fields) -> Member:
    return Member(
        id=fields.get("id", int),
        group=fields.maybe("group", int),
        confidence=fields.maybe("confidence", float),
        state=cast(Any, fields.get("state", str)),
        settled=_settled(fields.inner("settled")),
    )


def _settled(fields: Fields | None) -> Settlement | None:
    return None if fields is None else Settlement(fields.get("by", str), fields.get("after", str))


def _infinite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
