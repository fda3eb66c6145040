"""What the scripted engine says where JSON is forced: the plainest document of the form, the same for each question."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

DEEPEST = 4
"""Levels at which optional properties and items are still written; what refers to itself ends there."""


def demo_document(schema: Mapping[str, Any], question: str) -> str:
    """A document of `schema`, which is a form that `demur.core.fields.paired_schema` makes, but for `pattern`."""
    digest = hashlib.sha256(question.encode()).digest()
    return json.dumps(_Writer(schema, digest).write(schema, 0), separators=(",", ":"))


class _Writer:
    """Numbers come from `digest`, one byte after the other."""

    def __init__(self, root: Mapping[str, Any], digest: bytes) -> None:
        self._root = root
        self._digest = digest
        self._written = 0

    def write(self, schema: Mapping[str, Any], depth: int) -> Any:
        if "$ref" in schema:
            return self.write(self._root["$defs"][schema["$ref"].rpartition("/")[2]], depth + 1)
        if "anyOf" in schema:
            return self.write(schema["anyOf"][0], depth)
        if "enum" in schema:
            return schema["enum"][0]
        match schema["type"]:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "string":
                return _text(schema)
            case "boolean":
                return True
            case "null":
                return None
            case _:
                return self._number(schema)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        required = schema.get("required", [])
        named = {name: each for name, each in schema["properties"].items() if name in required or depth < DEEPEST}
        return {name: self.write(each, depth + 1) for name, each in named.items()}

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        first = [self.write(each, depth + 1) for each in schema.get("prefixItems", [])]
        wanted = max(schema.get("minItems", 0), min(1, schema.get("maxItems", 1)) if depth < DEEPEST else 0)
        more = max(wanted - len(first), 0)
        return [*first, *(self.write(schema["items"], depth + 1) for _ in range(more))]

    def _number(self, schema: Mapping[str, Any]) -> float:
        self._written += 1
        least = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        most = schema.get("maximum", schema.get("exclusiveMaximum", least + 101) - 1)
        span = int(most - least) + 1
        return least + self._digest[self._written % len(self._digest)] % span if span > 0 else least


def _text(schema: Mapping[str, Any]) -> str:
    example = _EXAMPLES.get(schema.get("format", ""), "demo")
    return example.ljust(schema.get("minLength", 0), "o")[: schema.get("maxLength")]


_EXAMPLES = {
    "date": "2024-02-29",
    "time": "12:30:00Z",
    "date-time": "2024-02-29T12:30:00Z",
    "duration": "P1D",
    "email": "demo@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "uri": "https://example.org/",
}
