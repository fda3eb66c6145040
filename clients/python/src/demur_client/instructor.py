"""What instructor's completions say beside the parsed object: `pip install demur-client[instructor]`.

    person, completion = client.chat.completions.create_with_completion(..., response_model=Person)
    confidences(completion)["/born"]

It works on any completion of OpenAI's client too.
"""

from __future__ import annotations

from typing import Any, cast

from .decoding import Fields, field
from .errors import ReplyError
from .values import Field


def fields(completion: Any, choice: int = 0) -> tuple[Field, ...]:
    """Every value of the structured answer with its confidence. Raises ReplyError where no demur server answered."""
    extra = getattr(completion.choices[choice], "demur", None)
    if not isinstance(extra, dict):
        raise ReplyError("the completion has no `demur`: did a demur server answer?")
    return tuple(field(each) for each in Fields(cast("dict[str, Any]", extra), "demur").each("fields"))


def confidences(completion: Any, choice: int = 0) -> dict[str, float | None]:
    """The confidence in [0, 1] of each value by its JSON Pointer, None where none could be read. Raises ReplyError as
    `fields` does."""
    return {each.path: each.confidence for each in fields(completion, choice)}


def doubtful(completion: Any, choice: int = 0) -> list[str]:
    """JSON Pointers of the values below the risk threshold. Raises ReplyError as `fields` does."""
    return [each.path for each in fields(completion, choice) if each.highlighted]
