"""A JSON Schema -> the same with every plain value paired with the chance that it is right."""

from collections.abc import Sequence
from typing import Any, cast

from demur.core.fields.disjoint import disjoint
from demur.core.fields.schema import (
    BY_TYPE,
    COMPOSING,
    DEEPEST,
    FORMATS,
    MOST_NODES,
    STRUCTURAL,
    Definitions,
    Schema,
    SchemaError,
    check_keywords,
    literals_of,
    mapping,
    names_in,
    sequence,
    types_of,
)

Place = tuple[str | int, ...]
LONGEST_REASON = 80
"""Characters of a field's explanation."""
_PERCENT: Schema = {"type": "integer", "minimum": 0, "maximum": 100}
_REASON: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_REASON}
_PLAIN_TYPES = ("string", "number", "integer", "boolean", "null")


def paired_schema(schema: Schema, *, explained: bool = False) -> dict[str, Any]:
    """The form that an output is forced into. With `explained` each pair has a third member, a short reason.

    Raises SchemaError for a schema that is none, that is too large, or that uses what cannot be forced.
    """
    return _Wrapping(schema, explained).whole()


class _Wrapping:
    """One schema on its way. Definitions are wrapped once each, when first they are referred to."""

    def __init__(self, root: Schema, explained: bool) -> None:
        self._root = mapping(root, ())
        self._definitions = Definitions(self._root)
        self._names: dict[str, str] = {}
        self._wrapped: dict[str, Any] = {}
        self._left = MOST_NODES
        self._members = [_REASON] if explained else []

    def whole(self) -> dict[str, Any]:
        form = self._wrap(self._root, ())
        return {**form, "$defs": self._wrapped} if self._wrapped else form

    def _wrap(self, schema: object, at: Place) -> dict[str, Any]:
        self._left -= 1
        if self._left < 0 or len(at) > 2 * DEEPEST:
            raise SchemaError(f"is too large: at most {MOST_NODES} parts, {DEEPEST} deep")
        if schema is True:
            return self._anything()
        described = mapping(schema, at)
        check_keywords(described, at)
        return self._composed(described, at) or self._anyof(
            [self._typed(described, t, at) for t in _types(described, at)]
        )

    def _composed(self, schema: Schema, at: Place) -> dict[str, Any] | None:
        """References and unions, which stand alone: what stands beside them would be lost."""
        keyword = next((name for name in COMPOSING if name in schema), None)
        if keyword is None:
            return None
        _alone(schema, keyword, at)
        if keyword in ("enum", "const"):
            return self._constants(literals_of(schema, at), at)
        return self._one_composed(keyword, schema[keyword], at)

    def _one_composed(self, keyword: str, value: object, at: Place) -> dict[str, Any]:
        if keyword == "$ref":
            return self._reference(value)
        branches = sequence(value, (*at, keyword))
        if keyword == "allOf" and len(branches) > 1:
            raise SchemaError("cannot be forced: allOf of several", at)
        if keyword == "oneOf" and not disjoint(branches, self._definitions):
            raise SchemaError("cannot be forced: oneOf whose parts may overlap; use anyOf", at)
        return self._anyof([self._wrap(each, (*at, keyword, i)) for i, each in enumerate(branches)])

    def _reference(self, reference: object) -> dict[str, Any]:
        found = self._definitions.find(reference)
        key = str(reference)
        if key not in self._names:
            self._names[key] = f"d{len(self._names)}"
            self._wrapped[self._names[key]] = self._wrap(found, (key,))
        return {"$ref": f"#/$defs/{self._names[key]}"}

    def _anything(self) -> dict[str, Any]:
        """Any JSON at all."""
        if "any" not in self._wrapped:
            again = {"$ref": "#/$defs/any"}
            many = [{"type": "array", "items": again}, {"type": "object", "additionalProperties": again}]
            self._wrapped["any"] = {"anyOf": [self._pair({"anyOf": [{"type": t} for t in _PLAIN_TYPES]}), *many]}
        return {"$ref": "#/$defs/any"}

    def _typed(self, schema: Schema, kind: str, at: Place) -> dict[str, Any]:
        own = {name: schema[name] for name in BY_TYPE[kind] if name in schema}
        match kind:
            case "object":
                return self._object(own, at)
            case "array":
                return self._array(own, at)
            case "string":
                return self._pair({"type": kind, **_checked_text(own, schema.get("format"), at)})
            case _:
                return self._pair({"type": kind, **_checked_numbers(own, at)})

    def _object(self, schema: Schema, at: Place) -> dict[str, Any]:
        """No further properties, unless nothing else is said: an object without them is valid all the same."""
        properties = mapping(schema.get("properties", {}), (*at, "properties"))
        required = names_in(schema.get("required", []), (*at, "required"))
        more = schema.get("additionalProperties", True)
        wrapped = {name: self._wrap(each, (*at, "properties", name)) for name, each in properties.items()}
        for name in (name for name in required if name not in wrapped):
            if more is False:
                raise SchemaError(f"{name!r:.60} is required and not allowed", at)
            wrapped[name] = self._wrap(more, (*at, "additionalProperties"))
        form: dict[str, Any] = {"type": "object", "properties": wrapped, "required": required}
        closed = more is False or (more is True and bool(wrapped))
        return form | {"additionalProperties": False if closed else self._wrap(more, (*at, "additionalProperties"))}

    def _array(self, schema: Schema, at: Place) -> dict[str, Any]:
        first = [
            self._wrap(each, (*at, "prefixItems", i))
            for i, each in enumerate(
                sequence(schema["prefixItems"], (*at, "prefixItems")) if "prefixItems" in schema else []
            )
        ]
        bounds = {name: _count(schema[name], (*at, name)) for name in ("minItems", "maxItems") if name in schema}
        items = schema.get("items", True)
        if items is False or (first and items is True):
            return {
                "type": "array",
                "prefixItems": first,
                "items": False,
                "minItems": len(first),
                "maxItems": len(first),
            }
        form: dict[str, Any] = {"type": "array", "items": self._wrap(items, (*at, "items")), **bounds}
        return form | ({"prefixItems": first, "minItems": max(len(first), bounds.get("minItems", 0))} if first else {})

    def _constants(self, values: Sequence[Any], at: Place) -> dict[str, Any]:
        plain = [value for value in values if not isinstance(value, (dict, list))]
        pairs = [self._pair({"enum": plain})] if plain else []
        return self._anyof(
            [*pairs, *(self._constant(value, at) for value in values if isinstance(value, (dict, list)))]
        )

    def _constant(self, value: Any, at: Place) -> dict[str, Any]:
        """A literal; inside lists and objects each plain value has its pair."""
        if isinstance(value, dict):
            inner = {name: self._constant(each, at) for name, each in cast("dict[str, Any]", value).items()}
            return {"type": "object", "properties": inner, "required": list(inner), "additionalProperties": False}
        if isinstance(value, list):
            items = [self._constant(each, at) for each in cast("list[Any]", value)]
            return {
                "type": "array",
                "prefixItems": items,
                "items": False,
                "minItems": len(items),
                "maxItems": len(items),
            }
        return self._pair({"enum": [value]})

    def _pair(self, value: Schema) -> dict[str, Any]:
        members = [value, _PERCENT, *self._members]
        return {
            "type": "array",
            "prefixItems": members,
            "items": False,
            "minItems": len(members),
            "maxItems": len(members),
        }

    @staticmethod
    def _anyof(forms: Sequence[dict[str, Any]]) -> dict[str, Any]:
        return forms[0] if len(forms) == 1 else {"anyOf": list(forms)}


def _types(schema: Schema, at: Place) -> list[str]:
    found = types_of(schema, at)
    lost = [name for name in STRUCTURAL & schema.keys() if not any(name in BY_TYPE[kind] for kind in found)]
    if lost:
        raise SchemaError(f"{', '.join(sorted(lost))} says nothing of type {' or '.join(found)}", at)
    return found


def _alone(schema: Schema, keyword: str, at: Place) -> None:
    beside = STRUCTURAL | COMPOSING | ({"type"} if keyword not in ("enum", "const") else set[str]())
    if lost := sorted(beside & (schema.keys() - {keyword})):
        raise SchemaError(f"cannot be forced beside {keyword}: {', '.join(lost)}", at)


def _checked_text(own: Schema, form: object, at: Place) -> dict[str, Any]:
    lengths = {name: _count(own[name], (*at, name)) for name in ("minLength", "maxLength") if name in own}
    if "pattern" in own:
        if lengths:
            raise SchemaError(f"cannot be forced beside pattern: {', '.join(lengths)}", at)
        if not isinstance(own["pattern"], str):
            raise SchemaError("pattern has to be text", at)
        return {"pattern": own["pattern"]}
    return lengths or ({"format": form} if isinstance(form, str) and form in FORMATS else {})


def _checked_numbers(own: Schema, at: Place) -> dict[str, Any]:
    for name, value in own.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise SchemaError("has to be a number", (*at, name))
    return dict(own)


def _count(value: object, at: Place) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 100_000:
        raise SchemaError("has to be a count", at)
    return value
