"""JSON of a caller's schema while it is written: value by value, and the same for every split into pieces."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.core.contracts import SCHEMA_CONTRACTS
from demur.core.fields import DocumentReader, Unreadable, can_all_be_null, is_valid, plain, read_document, with_nulls
from demur.core.parsing import Event, fold
from demur.core.reader import Reader, read

CONTRACT = next(iter(SCHEMA_CONTRACTS))
values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
documents = st.recursive(
    values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=10
)


def paired(value, percent: int = 50):
    if isinstance(value, dict):
        return {name: paired(each) for name, each in value.items()}
    return [paired(each) for each in value] if isinstance(value, list) else [value, percent]


def told(pieces: list[str]) -> tuple[str, list[str], bool]:
    """All that was told of a text in pieces, value by value, and whether it was a document."""
    reader, seen = DocumentReader(), list[str]()
    try:
        for piece in pieces:
            for field in reader.feed(piece):
                seen.append(plain([field]))
        return "".join(seen) + reader.close(), seen, True
    except Unreadable:
        return "".join(seen), seen, False


def split(text: str, places: list[int]) -> list[str]:
    ends = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(ends)]


places = st.lists(st.integers(0, 10_000), max_size=12)


@given(documents, places, st.booleans(), st.integers(0, 400))
def test_any_document_is_told_alike_however_it_is_split_and_cut(document, cut_at, ascii_only, end) -> None:
    text = json.dumps(paired(document), ensure_ascii=ascii_only, indent=1 if end % 2 else None)
    assert told([text]) == told(split(text, cut_at))
    whole, _, complete = told([text])
    assert complete
    assert whole == json.dumps(document, ensure_ascii=False)
    cut = text[:end]
    assert told([cut]) == told(split(cut, cut_at))
    assert whole.startswith(told([cut])[0])


@given(st.text(alphabet='[]{},:"\\ 1a\u00e9-.te', max_size=40), places)
def test_no_text_at_all_makes_a_difference(text, cut_at) -> None:
    found = told([text])
    assert told(split(text, cut_at)) == found
    if found[2]:
        json.loads(found[0])


def test_a_value_is_told_with_its_closing_bracket() -> None:
    reader = DocumentReader()
    assert list(reader.feed('{"a":["x\\"y",9')) == []
    assert [plain([field]) for field in reader.feed('0],"b')] == ['{"a": "x\\"y"']
    assert [plain([field]) for field in reader.feed('":[[1,5],[2,6],{}')] == [', "b": [1', ", 2"]
    (last,) = reader.feed(',[]],"c":[true,7]}')
    assert (last.path, last.lead, reader.close()) == ("/c", ', {}, []], "c": ', "}")


@pytest.mark.parametrize(
    "text",
    [
        '{"a":[1,2],"a":[3,4]}',
        '{"a":[1,2],}',
        '{"a":[1,2,]}',
        '{"a":[1,[2]]}',
        "{a:[1,2]}",
        '{"a" [1,2]}',
        "[[1,2] [3,4]]",
        '{"a":["\\ud800",5]}',
        '{"\\ud800":["x",5]}',
        '["x",5]["y",6]',
        '{"a":["x\ny",5]}',
        '{"a":[01,5]}',
        '{"a":[1 2,5]}',
        '[["x",5]}',
    ],
)
def test_what_is_no_document(text) -> None:
    with pytest.raises(Unreadable):
        read_document(text)
    assert read(text, CONTRACT).answer is None


def test_where_a_value_stands_in_the_output() -> None:
    text = ' {"n": ["Zo\u00eb \\"Z\\"", 90], "e":["",5], "k":[-1.5e3 ,70]}'
    spans = [text[slice(*field.span)] for field in read_document(text)[1]]
    assert spans == ['Zo\u00eb \\"Z\\"', '""', "-1.5e3"]


def test_what_was_told_of_a_document_without_an_end_is_its_text() -> None:
    for text in ('{"a":[1,20],"b":["x",3', '{"a":[1,20],"b":"x"}'):
        reader, events = Reader(CONTRACT), list[Event]()
        for character in text:
            events += reader.feed(character)
        last, completion = reader.close()
        assert fold(events + last)[0] == completion.text == '{"a": 1'
        assert (completion.answer, [field.path for field in completion.fields]) == (None, ["/a"])


NULL, TEXT = {"type": "null"}, {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"]}, True),
        (TEXT, False),
        ({"anyOf": [TEXT, {"anyOf": [{"type": "integer"}, NULL]}]}, True),
        ({"enum": ["a", None]}, True),
        ({"enum": ["a", "b"]}, False),
        ({"enum": [None, ["a"]]}, False),
        ({"type": "object", "properties": {"a": {"type": ["integer", "null"]}, "b": TEXT}}, False),
        ({"type": "object", "properties": {"a": {"type": ["integer", "null"]}}}, True),
        ({"type": "object", "additionalProperties": TEXT}, False),
        ({"type": "array", "items": {"$ref": "#/$defs/t"}, "$defs": {"t": {"type": ["number", "null"]}}}, True),
        ({"type": "array", "prefixItems": [TEXT]}, False),
        ({"type": ["object", "null"], "properties": {"below": {"$ref": "#"}}}, True),
        ({"type": "object"}, True),
        ({"anyOf": [{"type": "array", "items": TEXT}, NULL]}, False),
    ],
)
def test_schemas_in_which_doubt_withholds_nothing(schema, expected) -> None:
    assert can_all_be_null(schema) is expected


schemas = st.recursive(
    st.sampled_from(
        [TEXT, NULL, {"type": ["integer", "null"]}, {"enum": ["a", None]}, {"const": 3}, {"anyOf": [TEXT, NULL]}]
    ),
    lambda inner: (
        st.builds(lambda a, b: {"type": "object", "properties": {"a": a, "b": b}}, inner, inner)
        | st.builds(lambda a: {"type": "array", "items": a}, inner)
        | st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner)
    ),
    max_leaves=5,
)


@given(schemas, documents, st.data())
def test_where_it_can_every_valid_document_stays_valid(schema, document, data) -> None:
    if not (can_all_be_null(schema) and is_valid(document, schema)):
        return
    paths = [field.path for field in read_document(json.dumps(paired(document)))[1]]
    emptied = data.draw(st.lists(st.sampled_from(paths), unique=True)) if paths else []
    assert is_valid(with_nulls(document, emptied), schema)
