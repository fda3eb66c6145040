"""Request models whose refusal costs no more than their acceptance: validation ends at the first fault of each list,
mapping and object, so that a body of 1 MiB cannot make a million errors."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

LARGEST_COUNT = 2**31 - 1
"""Of tokens, samples, choices: what every engine can count to. The operator's limits are lower."""
LONGEST_NAME = 512
"""Characters of a field that names something: a caller, a cache, an author."""
MAX_ENTRIES, LONGEST_KEY, LONGEST_VALUE = 16, 64, 512
"""Of a mapping of strings, as in OpenAI's `metadata`."""

Count = Annotated[int, Field(ge=1, le=LARGEST_COUNT)]
Name = Annotated[str, Field(max_length=LONGEST_NAME)]


def _few_entries(given: object) -> object:
    """Counted before the entries are looked at: each wrong one would be an error of its own."""
    if isinstance(given, dict) and len(given) > MAX_ENTRIES:
        raise ValueError(f"at most {MAX_ENTRIES} entries, not {len(given)}")
    return given


Strings = Annotated[
    dict[Annotated[str, Field(max_length=LONGEST_KEY)], Annotated[str, Field(max_length=LONGEST_VALUE)]],
    Field(max_length=MAX_ENTRIES),
    BeforeValidator(_few_entries),
]


class BoundedModel(BaseModel):
    """An object of a request. Unknown fields are errors, of which the first is told."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _one_unknown_field(cls, given: Any) -> Any:
        """Without all unknown fields but the first: a hundred thousand would be as many errors."""
        if not isinstance(given, dict):
            return given
        known = {name: given[name] for name in cls.model_fields if name in given}
        unknown = next((name for name in given if name not in cls.model_fields), None)
        return known if unknown is None else known | {unknown: given[unknown]}
