"""Structured output of real vLLM: regular expressions and JSON Schemas."""

import re
from dataclasses import replace

import pytest

from demur.core.contracts import CONTRACTS
from demur.core.fields import is_valid, paired_schema, read_document
from demur.core.reader import read
from demur.engine.base import EngineError, Sampling
from tiny_engine import GREEDY, QUESTIONS, ids_of, sample, text_of

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(400)]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_constraint_forces_the_contract(engine, run, contract):
    forced = Sampling(max_tokens=2000, seed=7, constraint=CONTRACTS[contract].pattern)
    chunks = run(sample(engine, QUESTIONS[0], forced))
    text = text_of(chunks)
    assert re.fullmatch(CONTRACTS[contract].pattern, text)
    assert not read(text, contract, "strict").violation
    assert chunks[-1].finish_reason == "stop"


def test_a_form_that_leaves_no_choice_leaves_no_doubt(engine, run):
    """The mask of a forced form comes before the log-probabilities: of its fixed parts they say nothing. (Of these
    characters no two are one token, so that there is one way to write them.)"""
    forced = run(sample(engine, QUESTIONS[0], replace(GREEDY, constraint="7@7@7", logprobs=0)))
    assert text_of(forced) == "7@7@7"
    assert [each.logprob for chunk in forced for each in chunk.logprobs] == pytest.approx([0] * len(ids_of(forced)))


def test_a_constraint_that_is_no_regular_expression_is_an_error_and_harms_nobody_else(engine, run):
    with pytest.raises(EngineError, match="vLLM refuses"):
        run(sample(engine, QUESTIONS[0], Sampling(max_tokens=4, constraint="(")))
    run(engine.check())
    assert len(ids_of(run(sample(engine, QUESTIONS[0], Sampling(max_tokens=4))))) == 4


CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "founded": {"type": ["integer", "null"], "minimum": 0, "maximum": 2100},
        "tags": {"type": "array", "items": {"enum": ["port", "capital"]}, "minItems": 1, "maxItems": 2},
    },
    "required": ["city", "founded", "tags"],
}


@pytest.mark.parametrize("seed", range(4))
def test_an_output_is_forced_into_pairs(engine, run, seed) -> None:
    forced = Sampling(max_tokens=400, seed=seed, json_schema=paired_schema(CITY))
    chunks = run(sample(engine, QUESTIONS[0], forced))
    text = "".join(chunk.text for chunk in chunks)
    assert chunks[-1].finish_reason == "stop"
    document, fields = read_document(text)
    assert is_valid(document, CITY)
    assert all(field.confidence is not None for field in fields)
    assert "\n" not in text


def test_a_schema_that_the_backend_cannot_translate_is_refused(engine, run) -> None:
    impossible = Sampling(max_tokens=10, json_schema={"type": "string", "pattern": "(?<=a)b"})
    with pytest.raises(EngineError):
        run(sample(engine, QUESTIONS[0], impossible))
