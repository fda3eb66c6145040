"""The OpenAPI document of one server: its limits, and which fields of a request go together, as JSON Schema.

What the types of the requests tell is the same for every server; which contracts and sources there are, and how many
samples may be drawn, is not.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fastapi import FastAPI

from demur.answering import Answerer
from demur.answering.confidence import CALIBRATED, SOURCES, ScoringServices
from demur.core.contracts import ALL_CONTRACTS, SCHEMA_CONTRACTS, Contract

Schema = dict[str, Any]
_BODIES = ("AnswerRequest", "ChatRequest", "ResponsesRequest")
_NO_TOOL: Schema = {"enum": ["none", "auto", None]}


def serve_own_document(app: FastAPI, answerer: Answerer) -> None:
    """Make `/openapi.json` that of this server."""
    general: Callable[[], Schema] = app.openapi

    def own() -> Schema:
        if app.openapi_schema is None:
            _narrow(general(), answerer)
        return general()

    app.openapi = own


def _narrow(document: Schema, answerer: Answerer) -> None:
    for name in _BODIES:
        body = document["components"]["schemas"][name]
        _limit(body["properties"], answerer)
        body["anyOf"] = [
            _joined(form, source)
            for contract in _contracts(answerer)
            for form in _forms(name, contract, is_default=contract.name == answerer.manifest.contracts[0])
            for source in _sources(contract, answerer.services)
        ]


def _contracts(answerer: Answerer) -> list[Contract]:
    return [ALL_CONTRACTS[name] for name in (*answerer.manifest.contracts, *SCHEMA_CONTRACTS)]


def _limit(fields: Schema, answerer: Answerer) -> None:
    """The operator's limits. Those of a single key are refused with 403, or told when they are reached."""
    settings, services = answerer.settings, answerer.services
    fields["samples"]["maximum"] = settings.max_samples
    fields["timeout"]["maximum"] = settings.max_timeout
    fields["contract"]["enum"] = [contract.name for contract in _contracts(answerer)]
    fields["confidence_source"]["enum"] = _available(services)
    if services.critic is None:
        fields["include_token_values"]["enum"] = [False]


def _available(services: ScoringServices) -> list[str]:
    return [name for name, source in SOURCES.items() if source.unavailable(services) is None]


def _forms(body: str, contract: Contract, *, is_default: bool) -> Iterator[Schema]:
    """How a request asks for this contract: by its name or by default, and with a JSON Schema if it takes one."""
    named: Schema = {"properties": {"contract": {"enum": [contract.name]}}}
    if not (is_default or contract.takes_schema):
        named["required"] = ["contract"]
    if contract.takes_schema:
        own = {"properties": {"granularity": False}}
    else:
        own = {"properties": {"on_doubt": False, "explain_fields": {"enum": [False]}}}
        if not contract.has_claims:
            own["properties"] |= {"granularity": {"enum": ["response"]}, "aggregation": False}
    for asked in _with_schema(body) if contract.takes_schema else [_without_schema(body)]:
        yield _joined(_joined(named, own), asked)


def _with_schema(body: str) -> list[Schema]:
    """The ways to ask for JSON of a schema; a forced tool goes before a format."""
    if body == "AnswerRequest":
        return [{"required": ["schema"]}]
    kind = {"properties": {"type": {"enum": ["json_object", "json_schema"]}}}
    formats = {"type": "object", "required": ["type"], **kind}
    if body == "ChatRequest":
        by_format = {"properties": {"response_format": formats, "tool_choice": _NO_TOOL}}
        field = "response_format"
    else:
        options = {"type": "object", "required": ["format"], "properties": {"format": formats}}
        by_format, field = {"properties": {"text": options, "tool_choice": _NO_TOOL}}, "text"
    forced = {"properties": {"tool_choice": {"type": "object"}, "tools": {"type": "array", "minItems": 1}}}
    one: Schema = {"type": "array", "minItems": 1, "maxItems": 1}
    only = {"properties": {"tool_choice": {"enum": ["required"]}, "tools": one}}
    tools = {"required": ["tool_choice", "tools"]}
    return [by_format | {"required": [field]}, forced | tools, only | tools]


def _without_schema(body: str) -> Schema:
    if body == "AnswerRequest":
        return {"properties": {"schema": False}}
    kind = {"properties": {"type": {"enum": ["text"]}}}
    formats = {"type": ["object", "null"], **kind}
    if body == "ChatRequest":
        return {"properties": {"response_format": formats, "tool_choice": _NO_TOOL}}
    options = {"type": ["object", "null"], "properties": {"format": formats}}
    return {"properties": {"text": options, "tool_choice": _NO_TOOL}}


def _sources(contract: Contract, services: ScoringServices) -> Iterator[Schema]:
    """What goes with the sources that can decide: one confidence for the whole answer is not for single claims."""
    available = _available(services)
    by_claim = [name for name in available if SOURCES[name].per_claim]
    yield {"properties": {"confidence_source": {"enum": by_claim}, "max_error": False}}
    if contract.states_confidence:  # promises are of calibrated confidences, and set the threshold
        promised = [name for name in by_claim if name == CALIBRATED]
        chosen = {"confidence_source": {"enum": promised} if promised else False, "risk_threshold": False}
        yield {"properties": chosen, "required": ["max_error"]}
    whole = [name for name in available if name not in by_claim] if contract.states_confidence else []
    for name in whole:
        yield _joined(_of_the_whole(contract), _alone(name, services))


def _of_the_whole(contract: Contract) -> Schema:
    if contract.takes_schema:
        return {"properties": {"aggregation": False, "on_doubt": {"enum": ["abstain"]}}, "required": ["on_doubt"]}
    needs = ["granularity"] if contract.has_claims else []
    return {"properties": {"aggregation": False, "granularity": {"enum": ["response"]}}, "required": needs}


def _alone(name: str, services: ScoringServices) -> Schema:
    """One source by name, with what it needs of the samples."""
    needs = SOURCES[name].needs(services)
    chosen: Schema = {"confidence_source": {"enum": [name]}, "max_error": False}
    found: Schema = {"properties": chosen, "required": ["confidence_source"]}
    if needs.selection is not None:
        found["properties"]["selection"] = {"enum": [needs.selection]}
    if needs.samples > 1:
        found["properties"]["samples"] = {"minimum": needs.samples}
        found["required"] = [*found["required"], "samples"]
    return found


def _joined(one: Schema, other: Schema) -> Schema:
    """Both; where both speak of a property, the one that forbids it or says less of it last wins."""
    properties = {**one.get("properties", {}), **other.get("properties", {})}
    required: Sequence[str] = [*one.get("required", []), *other.get("required", [])]
    rest = {name: value for each in (one, other) for name, value in each.items()}
    return {**rest, "properties": properties} | ({"required": list(dict.fromkeys(required))} if required else {})
