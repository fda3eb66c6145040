"""Whether the branches of a `oneOf` can overlap: as far as types and one literal property tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demur.core.fields.schema import BY_TYPE, DEEPEST, Definitions, mapping, names_in, sequence, types_of


@dataclass(frozen=True, slots=True)
class _Mark:
    """What tells a branch from others: its types, and the literals that its required properties may be."""

    types: frozenset[str]
    literals: Mapping[str, frozenset[str]]

    def excludes(self, other: "_Mark") -> bool:
        if not self.types & other.types:
            return True
        shared = self.literals.keys() & other.literals.keys()
        objects = self.types == other.types == frozenset({"object"})
        return objects and any(not self.literals[name] & other.literals[name] for name in shared)


def disjoint(branches: Sequence[Any], definitions: Definitions) -> bool:
    """Whether no value fits two of the branches; false where types and literals leave that open."""
    marks = [_mark(branch, definitions) for branch in branches]
    return all(one.excludes(other) for i, one in enumerate(marks) for other in marks[:i])


def _mark(branch: object, definitions: Definitions) -> _Mark:
    schema = mapping(branch, ("oneOf",))
    for _ in range(DEEPEST):
        if "$ref" not in schema:
            break
        schema = mapping(definitions.find(schema["$ref"]), ("oneOf",))
    kinds = frozenset(types_of(schema, ("oneOf",)) if schema.keys() & {"type", "properties"} else BY_TYPE)
    kinds = kinds | {"integer"} if "number" in kinds else kinds
    required = set(names_in(schema.get("required", []), ("oneOf",)))
    properties = mapping(schema.get("properties", {}), ("oneOf",))
    found = {name: _literals(each) for name, each in properties.items() if name in required}
    return _Mark(kinds, {name: each for name, each in found.items() if each})


def _literals(schema: Any) -> frozenset[str]:
    """What a property may be, where it is one of few; nothing where that is not said."""
    said = dict[str, Any]() if isinstance(schema, bool) else mapping(schema, ())
    listed = [said["const"]] if "const" in said else sequence(said["enum"], ()) if "enum" in said else list[Any]()
    return frozenset(map(repr, listed))
