"""Whether a document fits a schema: every keyword that can be forced, but for `pattern` and `format`.

Those two are left to whoever forces them: a caller's regular expression could keep a server busy for ever.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from demur.core.fields.document import Json
from demur.core.fields.schema import DEEPEST, IS_TYPE, Definitions, Schema, literals_of, types_of


def is_valid(document: Json, schema: Schema) -> bool:
    """Whether a document fits a schema that `paired_schema` takes, `pattern` and `format` aside.

    Documents nested deeper than Python's stack are not valid.
    """
    try:
        return _Validation(Definitions(schema)).fits(document, schema)
    except RecursionError:
        return False


class _Validation:
    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def fits(self, value: Json, schema: Any, references: int = 0) -> bool:
        if isinstance(schema, bool):
            return schema
        if "$ref" in schema:  # references that lead to nothing but references fit nothing
            found = self._definitions.find(schema["$ref"])
            return references < DEEPEST and self.fits(value, found, references + 1)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema:
                fitting = sum(self.fits(value, each, references) for each in schema[keyword])
                return fitting == 1 if keyword == "oneOf" else fitting >= 1
        if "const" in schema or "enum" in schema:
            return any(_equal(value, each) for each in literals_of(schema, ()))
        return any(IS_TYPE[kind](value) for kind in types_of(schema, ())) and self._bounds(value, schema)

    def _bounds(self, value: Json, schema: Schema) -> bool:
        if isinstance(value, dict):
            return self._object(cast("dict[str, Any]", value), schema)
        if isinstance(value, list):
            return self._array(cast("list[Any]", value), schema)
        if isinstance(value, str):
            return schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return _within(value, schema)
        return True

    def _object(self, value: Mapping[str, Any], schema: Schema) -> bool:
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        there = all(name in value for name in schema.get("required", []))
        return there and all(self.fits(each, properties.get(name, more)) for name, each in value.items())

    def _array(self, value: Sequence[Any], schema: Schema) -> bool:
        first, items = schema.get("prefixItems", []), schema.get("items", True)
        count = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        return count and all(self.fits(each, first[i] if i < len(first) else items) for i, each in enumerate(value))


def _within(value: float, schema: Schema) -> bool:
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    inside = (least is None or value >= least) and (most is None or value <= most)
    return inside and (above is None or value > above) and (below is None or value < below)


def _equal(one: Json, other: Json) -> bool:
    """As JSON sees it: true is not 1, 1.0 is 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        mine, others = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return mine.keys() == others.keys() and all(_equal(mine[name], others[name]) for name in mine)
    if isinstance(one, list) and isinstance(other, list):
        some, more = cast("list[Any]", one), cast("list[Any]", other)
        return len(some) == len(more) and all(map(_equal, some, more))
    return one == other
