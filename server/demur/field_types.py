"""Field types of requests, settings and manifests: keys of a registry, bounded mappings, one fault at a time.

A refused request costs no more than an accepted one: validation ends at the first fault of each list, mapping and
object, so that a body of 1 MiB cannot make a million errors.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

LARGEST_COUNT = 2**31 - 1
"""Of tokens, samples, choices: what every engine can count to. The operator's limits are lower."""
LONGEST_NAME = 512
"""Characters of a field that names something: a caller, a cache, an author."""
MAX_ENTRIES, LONGEST_KEY, LONGEST_VALUE = 16, 64, 512
"""Of a mapping of strings, as in OpenAI's `metadata`."""


def _whole(given: object) -> object:
    """To JSON 3.0 is a whole number too."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


WHOLE = BeforeValidator(_whole)
"""For whole numbers of a request: behind the bounds, which would not be documented behind it."""
Count = Annotated[int, Field(ge=1, le=LARGEST_COUNT), WHOLE]
Name = Annotated[str, Field(max_length=LONGEST_NAME)]


class AtMost(BeforeValidator):
    """Bounds a mapping before its entries are looked at: each wrong one would be an error of its own."""

    def __init__(self, entries: int) -> None:
        def few(given: object) -> object:
            if isinstance(given, dict) and len(given) > entries:
                raise ValueError(f"at most {entries} entries, not {len(given)}")
            return given

        super().__init__(few)


Strings = Annotated[
    dict[Annotated[str, Field(max_length=LONGEST_KEY)], Annotated[str, Field(max_length=LONGEST_VALUE)]],
    Field(max_length=MAX_ENTRIES),
    AtMost(MAX_ENTRIES),
]


class KeyOf:
    """For a string that has to be a key of a registry, or one of `others`: `Annotated[str, KeyOf(CONTRACTS)]`.

    The registry is looked at when a value is validated and when the schema is written, so that entries which were
    added from outside the package count.
    """

    def __init__(self, registry: Mapping[str, object], *others: str) -> None:
        self._registry = registry
        self._others = others

    @property
    def names(self) -> tuple[str, ...]:
        return *self._registry, *self._others

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, core_schema.str_schema(strict=True))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "string", "enum": [*self.names]}

    def _check(self, name: str) -> str:
        if name not in self.names:
            *others, last = map(repr, self.names)
            expected = f"{', '.join(others)} or {last}" if others else last
            raise PydanticKnownError("literal_error", {"expected": expected})
        return name


class NotNull:
    """For a field whose None means "left out": a null over the wire is an error."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_refuse_null, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        documented = handler(schema)
        kept = [kind for kind in documented.pop("anyOf", []) if kind != {"type": "null"}]
        return {**documented, **(kept[0] if kept else {})}


def _refuse_null(value: Any) -> Any:
    if value is None:
        raise ValueError("may be left out, but not null")
    return value


def drop_null_defaults(schema: dict[str, Any]) -> None:
    """What a field is when it is left out is the model's or the operator's choice: the documentation names none."""
    for described in schema["properties"].values():
        if "default" in described and described["default"] is None:
            del described["default"]


class BoundedModel(BaseModel):
    """An object of a request. Unknown fields are errors, of which the first is told."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _one_unknown_field(cls, given: Any) -> Any:
        """Without all unknown fields but the first: a hundred thousand would be as many errors."""
        if not isinstance(given, dict):
            return given
        names = {field.alias or name for name, field in cls.model_fields.items()}
        known = {name: value for name, value in given.items() if name in names}
        unknown = next((name for name in given if name not in names), None)
        return known if unknown is None else known | {unknown: given[unknown]}
