"""Schemas that refer to themselves: documents of them have an end."""

import json

import pytest

from demur.core.fields import SchemaError, is_valid, paired_schema, read_document
from demur.core.fields.recursion import DEEPEST_RECURSION
from demur.engine.demo_json import demo_document

xgrammar = pytest.importorskip("xgrammar")
from xgrammar.testing import _is_grammar_accept_string  # noqa: E402

NODE = {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}, "required": ["n"]}
LIST = {"$ref": "#/$defs/node", "$defs": {"node": NODE}}


def forced(schema, text: str) -> bool:
    form = json.dumps(paired_schema(schema))
    grammar = xgrammar.Grammar.from_json_schema(form, any_whitespace=False, separators=(",", ":"))
    return _is_grammar_accept_string(grammar, text)


def chain(length: int) -> str:
    inner = '{"n":[1,50]}'
    for _ in range(length - 1):
        inner = f'{{"n":[1,50],"next":{inner}}}'
    return inner


def test_it_is_followed_so_often_and_no_more() -> None:
    assert forced(LIST, chain(DEEPEST_RECURSION))
    assert not forced(LIST, chain(DEEPEST_RECURSION + 1))


def test_any_json_has_a_depth_too() -> None:
    deep = DEEPEST_RECURSION - 1
    assert forced({"type": "object"}, '{"a":' * deep + '{"b":[1,5]}' + "}" * deep)
    assert not forced({"type": "object"}, '{"a":' * (deep + 5) + '{"b":[1,5]}' + "}" * (deep + 5))


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"type": "object", "properties": {"me": {"$ref": "#"}}, "required": ["me"]},
        {"type": "array", "items": {"$ref": "#"}, "minItems": 1},
        {"anyOf": [{"$ref": "#"}, {"type": "array", "prefixItems": [{"$ref": "#"}]}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    ],
)
def test_what_has_no_end_is_refused(schema) -> None:
    with pytest.raises(SchemaError, match="followed at most"):
        paired_schema(schema)


TREES = [
    LIST,
    {"type": "array", "items": {"$ref": "#"}},
    {"anyOf": [{"type": "object", "properties": {"me": {"$ref": "#"}}, "required": ["me"]}, {"type": "integer"}]},
    {"type": "object", "additionalProperties": {"$ref": "#"}},
    {"type": "object", "properties": {"const": {"$ref": "#"}}, "additionalProperties": {"type": "integer"}},
    {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}},
]


@pytest.mark.parametrize("schema", TREES)
def test_what_is_written_fits(schema) -> None:
    text = demo_document(paired_schema(schema), "q")
    assert forced(schema, text)
    assert is_valid(read_document(text)[0], schema)


def test_it_grows_with_the_depth_and_not_with_the_branches() -> None:
    many = {f"p{i}": {"$ref": "#/$defs/n"} for i in range(6)}
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": many}}}
    assert len(paired_schema(schema)["$defs"]) == DEEPEST_RECURSION
