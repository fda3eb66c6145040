"""JSON of a caller's schema with a confidence beside every value: the form that is forced, and how it is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.core.contracts import ALL_CONTRACTS, CONTRACTS, SCHEMA_CONTRACTS, Solution
from demur.core.fields import SchemaError, Unreadable, canonical, is_valid, paired_schema, read_document, with_nulls
from demur.core.parsing import fold
from demur.core.reader import Reader, read

TREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "below": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    "required": ["name"],
}
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1},
        "founded": {"type": ["integer", "null"], "minimum": -3000, "maximum": 2100},
        "tags": {"type": "array", "items": {"enum": ["port", "capital", 3]}, "maxItems": 3},
        "area": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "object", "properties": {}}]},
        "kind": {"const": "place"},
        "sizes": {"type": "object", "additionalProperties": {"type": "number"}},
        "anything": {},
        "tree": {"$ref": "#/$defs/tree"},
    },
    "required": ["city", "founded"],
    "$defs": {"tree": TREE},
}
WRITTEN = (
    '{"city":["Porto",97],"founded":[null,40],"tags":[["port",88]],"kind":["place",100],"sizes":{"km2":[41.4,60]},'
    '"anything":[["a",1],{"b":[true,2]}],"tree":{"name":["x",5],"below":[{"name":["y",6]}]}}'
)

xgrammar = pytest.importorskip("xgrammar")
from xgrammar.testing import _is_grammar_accept_string  # noqa: E402


def forced(schema, text: str, **options) -> bool:
    """Whether the real structured-output backend would let a model write this."""
    form = json.dumps(paired_schema(schema, **options))
    return _is_grammar_accept_string(
        xgrammar.Grammar.from_json_schema(form, any_whitespace=False, separators=(",", ":")), text
    )


def test_a_whole_document() -> None:
    assert forced(SCHEMA, WRITTEN)
    document, fields = read_document(WRITTEN)
    assert is_valid(document, SCHEMA)
    assert document["tree"] == {"name": "x", "below": [{"name": "y"}]}
    assert [(field.path, field.value, field.confidence) for field in fields][:3] == [
        ("/city", "Porto", 0.97),
        ("/founded", None, 0.4),
        ("/tags/0", "port", 0.88),
    ]
    assert fields[-1].path == "/tree/below/0/name"


@pytest.mark.parametrize(
    "text",
    [
        '{"city":["Porto",101],"founded":[1,2]}',
        '{"city":["",50],"founded":[1,2]}',
        '{"city":"Porto","founded":[1,2]}',
        '{"city":["Porto",5],"founded":[2101,2]}',
        '{"city":["Porto",5]}',
        '{"city":["Porto",5],"founded":[1,2],"tags":[["gone",5]]}',
        '{"city":["Porto",5],"founded":[1,2],"other":[1,2]}',
        '{"city": ["Porto",5],"founded":[1,2]}',
    ],
)
def test_what_cannot_be_written(text) -> None:
    assert not forced(SCHEMA, text)


def test_a_reason_beside_each_confidence() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    text = '{"a":[4,80,"a small sum"]}'
    assert forced(schema, text, explained=True)
    assert not forced(schema, '{"a":[4,80]}', explained=True)
    assert read_document(text)[1][0].explanation == "a small sum"


@pytest.mark.parametrize(
    ("part", "named"),
    [
        ({"type": "array", "uniqueItems": True}, "uniqueItems"),
        ({"type": "integer", "multipleOf": 2, "not": {}}, "multipleOf, not"),
        ({"patternProperties": {}}, "patternProperties"),
        ({"$ref": "https://example.org/schema"}, "example.org"),
        ({"$ref": "#/$defs/none"}, "none"),
        ({"oneOf": [{"type": "string"}, {"type": "string", "maxLength": 3}]}, "oneOf"),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, "allOf"),
        ({"type": "string", "pattern": "a+", "minLength": 2}, "minLength"),
        ({"type": "text"}, "text"),
        ({"type": "integer", "minLength": 3}, "minLength"),
        ({"type": "object", "anyOf": [{"type": "object"}]}, "type"),
        ({"enum": []}, "enum"),
        ({"type": "integer", "enum": ["a"]}, "enum"),
        ({"type": "object", "required": ["x"], "additionalProperties": False}, "'x'"),
        (7, "object"),
    ],
)
def test_what_cannot_be_forced_is_named(part, named) -> None:
    with pytest.raises(SchemaError, match=named):
        paired_schema({"type": "object", "properties": {"part": part}})


def test_a_union_whose_parts_a_literal_tells_apart() -> None:
    cat, dog = (
        {"type": "object", "properties": {"kind": {"const": kind}, "n": {"type": "integer"}}, "required": ["kind"]}
        for kind in ("cat", "dog")
    )
    assert forced({"oneOf": [cat, dog]}, '{"kind":["dog",90],"n":[3,5]}')


def test_a_schema_without_end_is_refused() -> None:
    schema: dict = {"type": "string"}
    for _ in range(200):
        schema = {"type": "array", "items": schema}
    with pytest.raises(SchemaError, match="too large"):
        paired_schema(schema)


@pytest.mark.parametrize("text", ["", "{", "7", '{"a":7}', '{"a":[1e999,5]}', '{"a":[NaN,5]}', "[" * 100_000])
def test_what_is_no_document(text) -> None:
    with pytest.raises(Unreadable):
        read_document(text)


@pytest.mark.parametrize("percent", ["101", "-1", "true", '"90"', "null"])
def test_a_confidence_that_is_none(percent) -> None:
    assert read_document(f'{{"a":["x",{percent}]}}')[1][0].confidence is None


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
documents = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=12
)


def paired(value):
    if isinstance(value, dict):
        return {name: paired(each) for name, each in value.items()}
    return [paired(each) for each in value] if isinstance(value, list) else [value, 50]


@given(documents)
def test_any_document_comes_back(document) -> None:
    found, fields = read_document(json.dumps(paired(document)))
    assert json.dumps(found) == json.dumps(document)
    assert with_nulls(found, []) is found
    assert all(field.confidence == 0.5 for field in fields)
    emptied = read_document(json.dumps(paired(with_nulls(found, [field.path for field in fields]))))[1]
    assert [field.path for field in emptied] == [field.path for field in fields]
    assert all(field.value is None for field in emptied)


@pytest.mark.parametrize(
    ("document", "schema", "valid"),
    [
        (True, {"type": "integer"}, False),
        (3.0, {"type": "integer"}, True),
        (1, {"const": True}, False),
        ([1, "a"], {"prefixItems": [{"type": "integer"}, {"type": "string"}]}, True),
        ({"a": 1}, {"additionalProperties": False}, False),
        ({"a": {"a": {}}}, {"type": "object", "additionalProperties": {"$ref": "#"}}, True),
        ({"a": {"a": 3}}, {"type": "object", "additionalProperties": {"$ref": "#"}}, False),
        (5, {"oneOf": [{"type": "integer"}, {"type": "string"}]}, True),
        ("abc", {"maxLength": 2}, False),
    ],
)
def test_validity(document, schema, valid) -> None:
    assert is_valid(document, schema) is valid


def test_equal_documents_have_one_spelling() -> None:
    assert canonical('{"b": 3.0, "a": [1e2]}') == canonical('{"a":[100],"b":3}')
    assert canonical("[true]") != canonical("[1]")


def test_the_contract_reads_for_every_split() -> None:
    contract = next(iter(SCHEMA_CONTRACTS))
    whole = read('{"a":["<think>x</think>",70],"b":[3,50]}', contract, aggregation="product")
    assert json.loads(whole.answer or "") == {"a": "<think>x</think>", "b": 3}
    assert (whole.confidence, whole.state) == (0.35, "value")
    reader = Reader(contract, aggregation="product")
    events = [event for character in '{"a":["<think>x</think>",70],"b":[3,50]}' for event in reader.feed(character)]
    last, completion = reader.close()
    assert completion == whole
    assert fold([*events, *last]) == (whole.answer, [])
    assert read("Answer: 4", contract).answer is None


def test_contracts_of_schemas_are_no_contracts_of_text() -> None:
    assert not SCHEMA_CONTRACTS.keys() & CONTRACTS.keys()
    for name, contract in SCHEMA_CONTRACTS.items():
        assert contract.takes_schema
        solution = Solution(reasoning="", steps=(), answer="4", confidence=0.8)
        assert read(contract.render(solution), name).confidence == 0.8
    assert list(ALL_CONTRACTS)[: len(CONTRACTS)] == list(CONTRACTS)
