"""The part of JSON Schema (draft 2020-12) that an output can be forced into, and how a schema is looked at."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

Schema = Mapping[str, Any]
ANY_OBJECT: Schema = {"type": "object"}
"""What `response_format: json_object` asks for."""
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
FORMATS = frozenset({"date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"})
"""Formats of text that can be forced; others are notes to people, as the standard has it."""

IS_TYPE: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: not isinstance(value, bool) and (isinstance(value, int) or _whole(value)),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
MOST_NODES = 5_000
DEEPEST = 64

_NOTES = frozenset(
    {"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "strict"}
    | {"$schema", "$id", "$comment", "discriminator", "contentMediaType", "contentEncoding", "format"}
)
COMPOSING = frozenset({"$ref", "anyOf", "oneOf", "allOf", "enum", "const"})
"""Each of them says all that there is to say of a value, the type of a literal aside."""
BY_TYPE: Mapping[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems"}),
    "string": frozenset({"minLength", "maxLength", "pattern"}),
    "number": (_BOUNDS := frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})),
    "integer": _BOUNDS,
    "boolean": frozenset(),
    "null": frozenset(),
}
STRUCTURAL: frozenset[str] = frozenset[str]().union(*BY_TYPE.values())
_FORCED = STRUCTURAL | COMPOSING | {"type", "$defs", "definitions"}


class SchemaError(ValueError):
    """A schema that no output can be forced into; the message names the keywords and where they stand."""

    def __init__(self, message: str, at: Sequence[str | int] = ()) -> None:
        super().__init__(f"{message} (at {'/'.join(map(str, at))})" if at else message)


class Definitions:
    """The `$defs` of one schema; `find` follows a reference inside it."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._named = {
            f"#/{place}/{name}": each
            for place in ("$defs", "definitions")
            for name, each in mapping(root.get(place, {}), [place]).items()
        }

    def find(self, reference: object) -> Any:
        """The schema behind a reference. Raises SchemaError for one that leaves the document or leads nowhere."""
        if reference == "#":
            return self._root
        if not isinstance(reference, str) or (key := _plain(reference)) not in self._named:
            raise SchemaError(f"$ref {reference!r:.100} is none of the schema's own $defs")
        return self._named[key]


def mapping(value: object, at: Sequence[str | int]) -> Mapping[str, Any]:
    """A JSON object inside a schema. Raises SchemaError for anything else."""
    if not isinstance(value, Mapping):
        raise SchemaError("has to be an object", at)
    return cast("Mapping[str, Any]", value)


def sequence(value: object, at: Sequence[str | int]) -> Sequence[Any]:
    """A JSON array inside a schema that is not empty. Raises SchemaError for anything else."""
    if not isinstance(value, (list, tuple)) or not value:
        raise SchemaError("has to be a list with something in it", at)
    return cast("Sequence[Any]", value)


def check_keywords(schema: Schema, at: Sequence[str | int]) -> None:
    """Raise SchemaError for keywords that would be lost, naming all of them."""
    unknown = [name for name in schema if name not in _FORCED and name not in _NOTES and not name.startswith("x-")]
    if unknown:
        raise SchemaError(f"cannot be forced: {', '.join(sorted(unknown))[:200]}", at)


def types_of(schema: Schema, at: Sequence[str | int]) -> list[str]:
    """The types that a schema names, or that its keywords imply; all of them where neither says anything.

    Raises SchemaError for a name that is none of TYPES.
    """
    named = schema.get("type")
    listed = [named] if isinstance(named, str) else list(cast("list[Any]", named)) if isinstance(named, list) else None
    if listed is None:
        implied = [kind for kind in TYPES if BY_TYPE[kind] & schema.keys()]
        return [kind for kind in implied if not (kind == "integer" and "number" in implied)] or list(TYPES)
    if not listed or any(kind not in TYPES for kind in listed):
        raise SchemaError(f"type {named!r:.100} is none of {', '.join(TYPES)}", at)
    return listed


def names_in(value: object, at: Sequence[str | int]) -> list[str]:
    """The names in a list of a schema, such as `required`, each once. Raises SchemaError for anything else."""
    names = cast("list[Any]", value) if isinstance(value, list) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise SchemaError("has to be a list of names", at)
    return list(dict.fromkeys(names))


def literals_of(schema: Schema, at: Sequence[str | int]) -> list[Any]:
    """The values of `const` or `enum` that are of the type that stands beside it. Raises SchemaError where none is."""
    values = [schema["const"]] if "const" in schema else sequence(schema["enum"], (*at, "enum"))
    kinds = types_of(schema, at) if "type" in schema else TYPES
    fitting = [value for value in values if any(IS_TYPE[kind](value) for kind in kinds)]
    if not fitting:
        raise SchemaError("no value of enum is of the type beside it", at)
    return fitting


def _plain(reference: str) -> str:
    """Percent and tilde escapes undone."""
    return unquote(reference).replace("~1", "/").replace("~0", "~")


def _whole(value: object) -> bool:
    return isinstance(value, float) and value.is_integer()
