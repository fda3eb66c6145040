"""Structured answers: a schema as the caller has it -> JSON Schema, and JSON -> what the caller wants it to be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from .answers import Answer
from .errors import ReplyError


def json_schema(schema: Any) -> dict[str, Any]:
    """The JSON Schema of a pydantic model class, or the one that was given. Raises TypeError for anything else."""
    if callable(make := getattr(schema, "model_json_schema", None)):
        return cast("dict[str, Any]", make())
    if isinstance(schema, Mapping):
        return dict(cast("Mapping[str, Any]", schema))
    raise TypeError(f"schema has to be a pydantic model class or a JSON Schema, not {type(schema).__name__}")


def parsed(answer: Answer, schema: Any) -> Answer:
    """The answer with its JSON as an instance of the caller's model. Raises ReplyError where the model refuses it."""
    validate = getattr(schema, "model_validate_json", None)
    if answer.answer is None or not callable(validate):
        return answer
    try:
        return replace(answer, parsed=validate(answer.answer))
    except ValueError as error:  # pydantic's own: validators may want more than a schema can say
        raise ReplyError(f"the answer does not pass {schema.__name__}: {error}", body=answer.answer) from error


def loaded(answer: str | None) -> Any:
    """The JSON value of an answer, None for None. Raises ReplyError for text that is no JSON."""
    try:
        return None if answer is None else json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise ReplyError("the structured answer in the server's reply is no JSON", body=answer) from error
