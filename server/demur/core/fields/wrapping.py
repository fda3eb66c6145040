"""A JSON Schema -> the same with every plain value paired with the chance that it is right.

Definitions that refer to themselves are unrolled, so that no document is without end.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from demur.core.fields.checks import Place, check_alone, count_checked, numbers_checked, text_checked, types_checked
from demur.core.fields.disjoint import disjoint
from demur.core.fields.recursion import DEEPEST_RECURSION, Endless, recursive_references
from demur.core.fields.schema import (
    BY_TYPE,
    COMPOSING,
    DEEPEST,
    MOST_NODES,
    Definitions,
    Schema,
    SchemaError,
    check_keywords,
    literals_of,
    mapping,
    names_in,
    sequence,
)

LONGEST_REASON = 80
"""Characters of a field's explanation."""
_PERCENT: Schema = {"type": "integer", "minimum": 0, "maximum": 100}
_REASON: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_REASON}
_PLAIN_TYPES = ("string", "number", "integer", "boolean", "null")


def paired_schema(schema: Schema, *, explained: bool = False) -> dict[str, Any]:
    """The form that an output is forced into. With `explained` each pair has a third member, a short reason.

    What refers to itself is followed up to `DEEPEST_RECURSION` times on the way to one value. Raises SchemaError for a
    schema that is none, that is too large, that has no document within that depth, or that uses what cannot be forced.
    """
    try:
        return _Wrapping(schema, explained).whole()
    except Endless:
        raise SchemaError(f"has no document in which $ref is followed at most {DEEPEST_RECURSION} times") from None


class _Wrapping:
    """One schema on its way. Definitions are wrapped when first they are referred to: once, or where they refer to
    themselves once at each depth. `Endless` is raised where only going on would fill a place."""

    def __init__(self, root: Schema, explained: bool) -> None:
        self._root = mapping(root, ())
        self._definitions = Definitions(self._root)
        self._recursive = recursive_references(self._root, self._definitions)
        self._depth = 0
        self._names: dict[tuple[str, int], str] = {}
        self._endless: set[tuple[str, int]] = set()
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
        kinds = [] if described.keys() & COMPOSING else types_checked(described, at)
        return self._composed(described, at) or self._some([lambda t=t: self._typed(described, t, at) for t in kinds])

    def _composed(self, schema: Schema, at: Place) -> dict[str, Any] | None:
        """References and unions, which stand alone: what stands beside them would be lost."""
        keyword = next((name for name in COMPOSING if name in schema), None)
        if keyword is None:
            return None
        check_alone(schema, keyword, at)
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
        return self._some(
            [lambda i=i, each=each: self._wrap(each, (*at, keyword, i)) for i, each in enumerate(branches)]
        )

    def _some(self, branches: Sequence[Callable[[], dict[str, Any]]]) -> dict[str, Any]:
        """A union of those that come to an end."""
        forms: list[dict[str, Any]] = []
        for branch in branches:
            with suppress(Endless):
                forms.append(branch())
        if not forms:
            raise Endless
        return self._anyof(forms)

    def _reference(self, reference: object) -> dict[str, Any]:
        found = self._definitions.find(reference)
        again = reference in self._recursive
        return self._defined(str(reference), again, lambda: self._wrap(found, (str(reference),)))

    def _anything(self) -> dict[str, Any]:
        """Any JSON at all."""
        return self._defined("any", True, self._any_value)

    def _any_value(self) -> dict[str, Any]:
        plain = self._pair({"anyOf": [{"type": t} for t in _PLAIN_TYPES]})
        return self._some([lambda: plain, lambda: self._array({}, ()), lambda: self._object({}, ())])

    def _defined(self, name: str, again: bool, wrap: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """A reference to a definition, which is wrapped now if it was not yet, one level deeper if it is `again`."""
        key = (name, self._depth + again)
        if key in self._endless or key[1] > DEEPEST_RECURSION:
            raise Endless
        if key not in self._names:
            self._names[key] = f"d{len(self._names)}"
            self._depth += again
            try:
                self._wrapped[self._names[key]] = wrap()
            except Endless:
                self._endless.add(key)
                raise
            finally:
                self._depth -= again
        return {"$ref": f"#/$defs/{self._names[key]}"}

    def _typed(self, schema: Schema, kind: str, at: Place) -> dict[str, Any]:
        own = {name: schema[name] for name in BY_TYPE[kind] if name in schema}
        match kind:
            case "object":
                return self._object(own, at)
            case "array":
                return self._array(own, at)
            case "string":
                return self._pair({"type": kind, **text_checked(own, schema.get("format"), at)})
            case _:
                return self._pair({"type": kind, **numbers_checked(own, at)})

    def _object(self, schema: Schema, at: Place) -> dict[str, Any]:
        """No further properties, unless nothing else is said: an object without them is valid all the same."""
        properties = mapping(schema.get("properties", {}), (*at, "properties"))
        required = names_in(schema.get("required", []), (*at, "required"))
        more = schema.get("additionalProperties", True)
        wrapped = self._properties(properties, required, at)
        for name in (name for name in required if name not in wrapped):
            if more is False:
                raise SchemaError(f"{name!r:.60} is required and not allowed", at)
            wrapped[name] = self._wrap(more, (*at, "additionalProperties"))
        form: dict[str, Any] = {"type": "object", "properties": wrapped, "required": required}
        left_out = len(wrapped) < len(properties)  # its name is no place for anything else
        closed = more is False or (more is True and bool(properties)) or left_out
        return form | {"additionalProperties": False if closed else self._more(more, (*at, "additionalProperties"))}

    def _properties(self, properties: Schema, required: Sequence[str], at: Place) -> dict[str, Any]:
        wrapped: dict[str, Any] = {}
        for name, each in properties.items():
            try:
                wrapped[name] = self._wrap(each, (*at, "properties", name))
            except Endless:
                if name in required:
                    raise
        return wrapped

    def _more(self, schema: object, at: Place) -> dict[str, Any] | bool:
        """What else an object or a list may hold; nothing where that would have no end."""
        try:
            return self._wrap(schema, at)
        except Endless:
            return False

    def _array(self, schema: Schema, at: Place) -> dict[str, Any]:
        listed = sequence(schema["prefixItems"], (*at, "prefixItems")) if "prefixItems" in schema else []
        first = [self._wrap(each, (*at, "prefixItems", i)) for i, each in enumerate(listed)]
        bounds = {name: count_checked(schema[name], (*at, name)) for name in ("minItems", "maxItems") if name in schema}
        items = schema.get("items", True)
        least = bounds.get("minItems", 0)
        closed = items is False or (items is True and bool(first) and least <= len(first))
        more = False if closed else self._more(items, (*at, "items"))
        if more is False:
            if not closed and least > len(first):
                raise Endless
            return _exactly(first)
        form: dict[str, Any] = {"type": "array", "items": more, **bounds}
        return form | ({"prefixItems": first, "minItems": max(len(first), least)} if first else {})

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
            return _exactly([self._constant(each, at) for each in cast("list[Any]", value)])
        return self._pair({"enum": [value]})

    def _pair(self, value: Schema) -> dict[str, Any]:
        return _exactly([value, _PERCENT, *self._members])

    @staticmethod
    def _anyof(forms: Sequence[dict[str, Any]]) -> dict[str, Any]:
        return forms[0] if len(forms) == 1 else {"anyOf": list(forms)}


def _exactly(items: Sequence[Schema]) -> dict[str, Any]:
    """A list of just these."""
    return {
        "type": "array",
        "prefixItems": list(items),
        "items": False,
        "minItems": len(items),
        "maxItems": len(items),
    }
