"""Every list, mapping and object of a request ends at its first fault, so that refusing a body makes no million errors."""

import gc
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from demur.api.chat.schemas import ChatRequest
from demur.api.json_size import MOST_VALUES, holds_too_much, outside_strings
from demur.api.messages import MAX_MESSAGES, MAX_PARTS
from demur.api.schemas import AnswerRequest
from demur.field_types import MAX_ENTRIES

JSON = {"content-type": "application/json"}
MANY = 20_000
ASKED = {"role": "user", "content": "q"}
STRANGE = {f"k{i}": 0 for i in range(MANY)}
ITEMS = [{}, [], [[]], 1, None, "x", {"": 0}, {"role": "x", "content": 1}, ASKED | STRANGE]


def shapes(field: str) -> Iterator[dict[str, Any]]:
    for item in ITEMS:
        yield {field: [item] * (3 if item and isinstance(item, dict) and len(item) > 9 else MANY)}
    yield {field: [ASKED] * MANY}
    yield {field: STRANGE}
    yield {field: [dict(ASKED, content=[{"type": "text", "text": "q"}] * MANY)] * 20}


@pytest.mark.parametrize("model", [AnswerRequest, ChatRequest])
def test_no_body_makes_more_errors_than_there_are_fields(model: type[BaseModel]) -> None:
    bodies = [body for field in model.model_fields for body in shapes(field)]
    for body in [*bodies, STRANGE, STRANGE | {"messages": [ASKED]}]:
        with pytest.raises(ValidationError) as caught:
            model.model_validate(body)
        assert caught.value.error_count() <= 50


@pytest.mark.parametrize(
    ("path", "fields", "param", "limit"),
    [
        ("/v1/answers", {"messages": [ASKED] * (MAX_MESSAGES + 1)}, "messages", MAX_MESSAGES),
        ("/v1/chat/completions", {"messages": [ASKED] * 10_000}, "messages", MAX_MESSAGES),
        (
            "/v1/answers",
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "q"}] * (MAX_PARTS + 1)}]},
            "messages[0].content",
            MAX_PARTS,
        ),
        (
            "/v1/chat/completions",
            {"messages": [ASKED], "metadata": {str(i): "" for i in range(MAX_ENTRIES + 1)}},
            "metadata",
            MAX_ENTRIES,
        ),
        ("/v1/chat/completions", {"messages": [ASKED], "metadata": {"a": "x" * 513}}, "metadata.a", 512),
        ("/v1/chat/completions", {"messages": [ASKED], "user": "x" * 513}, "user", 512),
        ("/v1/chat/completions", {"messages": [ASKED | {"name": "x" * 513}]}, "messages[0].name", 512),
        ("/v1/chat/completions", {"messages": [ASKED], "max_tokens": 2**31}, "max_tokens", 2**31 - 1),
        ("/v1/chat/completions", {"messages": [ASKED], "n": 10**40}, "n", 2**31 - 1),
        ("/v1/answers", {"question": "q", "samples": 10**40}, "samples", 2**31 - 1),
        ("/v1/answers", {"question": "q", "timeout": 5e-324}, "timeout", 0.05),
    ],
)
def test_a_refusal_names_the_field_and_the_limit(make, path, fields, param, limit) -> None:
    response = make().call("POST", path, json=fields)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param
    assert str(limit) in response.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions", "/page/maths"])
@pytest.mark.parametrize(
    "body",
    [
        b'{"messages": [' + b"{}," * MANY + b"{}]}",
        b'{"messages": [' + b"[[]]," * MANY + b"[]]}",
        b'{"formulas": [' + b"{}," * MANY + b"{}]}",
        json.dumps(STRANGE).encode(),
        b'{"messages": [{"role": "user", "content": "q", "' + b"k" * 100_000 + b'": 1}]}',
        b'{"messages": [{"role": "' + b"k" * 100_000 + b'", "content": "q"}]}',
        b'{"question": "q", "model": "' + b"\\u0001" * 100_000 + b'"}',
        b'{"question": "q", "contract": "' + b"x" * 100_000 + b'"}',
        b'{"question": "q", "temperature": ' + b"9" * 4000 + b"}",
        b'{"question": "q", "' + b"\\ud800" * 10_000 + b'": 1}',
        b'{"question": ' + b"[" * 900 + b"]" * 900 + b"}",
    ],
)
def test_a_refusal_is_short(make, path, body) -> None:
    response = make().call("POST", path, content=body, headers=JSON)
    assert response.status_code in (400, 404)
    assert len(response.content) < 2_000


def test_as_many_messages_and_parts_as_the_limits_say_are_taken(make) -> None:
    turns = [{"role": "user", "content": "q" * 31}, {"role": "assistant", "content": "a"}] * (MAX_MESSAGES // 2)
    assert make().call("POST", "/v1/answers", json={"messages": [*turns[:-1], ASKED]}).status_code == 200
    parts = [{"type": "text", "text": "q"}] * MAX_PARTS
    body = {"messages": [{"role": "user", "content": parts}], "metadata": {str(i): "x" * 512 for i in range(16)}}
    assert make().call("POST", "/v1/chat/completions", json=body).status_code == 200


def test_the_garbage_collector_is_on_again_after_a_body(make) -> None:
    for body in (b"{}", b"{", b'{"question": "q"}'):
        make().call("POST", "/v1/answers", content=body, headers=JSON)
        assert gc.isenabled()


@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
@pytest.mark.parametrize("item", ["[]", "{}", "[[]]", "1", '""', '{"a":1}', r'"\""'])
def test_a_body_of_too_many_values_is_not_even_parsed(make, path, item) -> None:
    body = '{"messages":[' + ",".join([item] * 130_000) + "]"  # without its end: the parser would say so
    response = make(max_body_bytes=1 << 21).call("POST", path, content=body.encode(), headers=JSON)
    assert response.status_code == 400
    assert response.json()["error"]["message"] == f"the body holds more than {MOST_VALUES} values"


@pytest.mark.parametrize("text", ["[" * 300_000, "a,b{" * 100_000, '\\"[{,' * 60_000, "\\" * 200_000])
def test_what_stands_in_a_string_is_no_value(make, text) -> None:
    body = json.dumps({"question": text + ",,,", "samples": "many"}).encode()
    response = make(max_body_bytes=1 << 21).call("POST", "/v1/answers", content=body, headers=JSON)
    assert response.json()["error"]["param"] == "samples"


@settings(max_examples=300, deadline=None)
@given(st.recursive(st.none() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)))
def test_values_are_counted_as_they_are(value) -> None:
    marks = sum(1 for _ in marks_of(value))
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        found = outside_strings(text.encode("utf-8", "surrogatepass"))
        assert sum(map(found.count, (b"[", b"{", b","))) == marks


def marks_of(value: Any) -> Iterator[None]:
    """One for each list and mapping, and one between every two of their items."""
    if isinstance(value, list | dict):
        yield from [None] * max(1, len(value))
        for item in value.values() if isinstance(value, dict) else value:
            yield from marks_of(item)


@pytest.mark.parametrize("body", [b'"' + b'\\"' * 500_000, b'"' * 100_001, b'"a' * 100_001, b"[" * 50_000 + b'"\\'])
def test_an_open_string_goes_on_to_the_end(body) -> None:
    """Told in linear time: this would not end if every quote were tried for a beginning."""
    assert not holds_too_much(body + b"[" * MOST_VALUES * 2)
    assert holds_too_much(b"[" * MOST_VALUES + b"[" + body)


LEFT = [{"left behind": []}] * 1000
"""What the collector keeps account of: it finds these if somebody still holds them."""


@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [ASKED | {"content": LEFT}]},
        {"messages": [ASKED], "metadata": {str(i): LEFT for i in range(20)}},
        {"messages": [ASKED], "tools": LEFT},
        {"messages": [ASKED], "unknown": LEFT},
    ],
)
def test_a_refused_body_is_let_go_of_at_once(make, path, fields) -> None:
    """Without waiting for the collector, which may come minutes later."""
    client, body = make(), json.dumps(fields).encode()
    gc.collect()
    gc.disable()
    try:
        assert client.call("POST", path, content=body, headers=JSON).status_code == 400
        # By type: isinstance() asks an object for its __class__, and torch has some that answer with a warning.
        held = [each for each in gc.get_objects() if type(each) is dict and "left behind" in each]
        assert len(held) == 1, "the one of this test"
    finally:
        gc.enable()


def parts_of(schema: Any, document: dict[str, Any], seen: frozenset[str] = frozenset()) -> Iterator[dict[str, Any]]:
    """The schema and all that it is made of."""
    if isinstance(schema, list):
        for part in schema:
            yield from parts_of(part, document, seen)
    elif isinstance(schema, dict):
        if (name := schema.get("$ref", "").rpartition("/")[2]) and name not in seen:
            yield from parts_of(document["components"]["schemas"][name], document, seen | {name})
        yield schema
        for key, part in schema.items():
            if not (key == "anyOf" and "properties" in schema):  # which fields go together: they are bounded beside it
                yield from parts_of(part, document, seen)


@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
def test_every_list_mapping_and_whole_number_has_a_documented_bound(make, path) -> None:
    document = make().call("GET", "/openapi.json").json()
    body = document["paths"][path]["post"]["requestBody"]
    bounds = {"array": "maxItems", "integer": "maximum"}
    for part in parts_of(body, document):
        if not isinstance(kind := part.get("type"), str):
            continue
        assert kind not in bounds or bounds[kind] in part, part
        assert kind != "object" or part.get("additionalProperties") is False or "maxProperties" in part, part
