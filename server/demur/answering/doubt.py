"""What becomes of the doubtful fields of a JSON answer: kept with their confidence, emptied, or the whole withheld."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from demur.core.aggregation import aggregate
from demur.core.answers import Aggregation, Completion, FieldValue
from demur.core.fields import is_valid, plain, with_nulls
from demur.core.threshold import decide_claim

OnDoubt = Literal["keep", "null", "abstain"]


def checked(completion: Completion, schema: Mapping[str, Any]) -> Completion:
    """The completion, without its answer where that does not fit the schema: nobody may have forced it."""
    if completion.answer is None or is_valid(json.loads(completion.answer), schema):
        return completion
    return replace(completion, answer=None, problems=(*completion.problems, "schema_violated"))


def emptied(completion: Completion, t: float, how: Aggregation, schema: Mapping[str, Any]) -> Completion | None:
    """The completion with null for every field below the risk threshold t, its confidence that of the fields left.

    None where the schema does not let all of them be null.
    """
    doubtful = [field for field in completion.fields if is_doubtful(field, t)]
    if completion.answer is None or not doubtful:
        return completion
    document = with_nulls(json.loads(completion.answer), [field.path for field in doubtful])
    if not is_valid(document, schema):
        return None
    paths = {field.path for field in doubtful}
    fields = tuple(replace(field, value=None) if field.path in paths else field for field in completion.fields)
    left = aggregate([field.confidence for field in fields if field.path not in paths], how)
    answer = json.dumps(document, ensure_ascii=False)
    return replace(completion, answer=answer, text=answer, fields=fields, confidence=left.value, state=left.state)


def is_doubtful(field: FieldValue, t: float) -> bool:
    """Whether a field is below the risk threshold t."""
    return decide_claim(field.confidence, t) == "highlight"


def told(completion: Completion, t: float, on_doubt: OnDoubt) -> str:
    """The JSON text that a stream has shown of a document that became no answer: with null for doubtful values where
    `on_doubt` asks for that."""
    if on_doubt != "null":
        return completion.text
    rest = completion.text[len(plain(completion.fields)) :]
    return plain(completion.fields, {field.path for field in completion.fields if is_doubtful(field, t)}) + rest


def with_agreement(completion: Completion, samples: Sequence[Completion]) -> Completion:
    """The completion with the `agreement` of each field: the share in [0, 1] of `samples`, at least one, that have its
    value at its path."""
    said = [{field.path: _spelled(field) for field in fields_of(sample)} for sample in samples]
    fields = tuple(
        replace(field, agreement=sum(each.get(field.path) == _spelled(field) for each in said) / len(said))
        for field in completion.fields
    )
    return replace(completion, fields=fields)


def fields_of(completion: Completion) -> tuple[FieldValue, ...]:
    """The fields of an answer; none where there is no answer, whatever was read of an unfinished document."""
    return () if completion.answer is None else completion.fields


def _spelled(field: FieldValue) -> str:
    """A value as JSON, so that true and 1 differ."""
    return json.dumps(field.value)
