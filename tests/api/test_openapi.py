"""What the OpenAPI document says is what is sent, for requests that it allows and for requests that it does not."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings, strategies
from hypothesis.strategies import DataObject, SearchStrategy, sampled_from
from schemathesis import Case, GenerationMode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import positive_data_acceptance

from demur.answering.params import LARGEST_SEED, SMALLEST_SEED
from demur.api.app import create_app
from demur.engine.scripted import ScriptedEngine
from demur.feedback.opening import open_feedback
from demur.manifest import Manifest
from demur.settings import Settings

OPERATIONS = [
    ("POST", "/v1/answers"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/responses"),
    ("POST", "/v1/feedback"),
    ("POST", "/v1/feedback/batch"),
    ("GET", "/v1/feedback/queue"),
    ("GET", "/v1/feedback/summary"),
    ("POST", "/v1/feedback/refits"),
    ("DELETE", "/v1/feedback/{answer_id}"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{model}"),
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/ping"),
    ("GET", "/version"),
    ("GET", "/metrics"),
]


NEEDS_WHAT_IS_THERE = {"/v1/models/{model}", "/v1/feedback", "/v1/feedback/{answer_id}"}
"""Where a name or an id that was made up is a 404."""


@pytest.fixture
def document(tmp_path):
    """That of a server that keeps answers."""
    manifest = Manifest(name="demur-test", calibrated=True, contracts=("response", "claims", "explicit_risk"))
    chosen = Settings(feedback_db=str(tmp_path / "feedback.db"))
    with open_feedback(chosen, manifest, "0123456789ab") as feedback:
        app = create_app(ScriptedEngine(), manifest, chosen, feedback=feedback)
        yield schemathesis.openapi.from_asgi("/openapi.json", app)


def test_every_operation_is_documented_and_tested(document) -> None:
    documented = {(found.ok().method.upper(), found.ok().path) for found in document.get_all_operations()}
    assert documented == set(OPERATIONS)


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_what_the_document_allows(document, method, path) -> None:
    statuses = replies(document[path][method], GenerationMode.POSITIVE)
    assert 200 in statuses or path in NEEDS_WHAT_IS_THERE


@pytest.mark.parametrize(("method", "path"), [pair for pair in OPERATIONS if pair[0] == "POST"])
def test_what_the_document_does_not_allow(document, method, path) -> None:
    assert 200 not in replies(document[path][method], GenerationMode.NEGATIVE)


TAKEN: list[dict[str, object]] = [
    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    {"type": "array", "items": {"enum": ["a", None]}},
    {"type": ["string", "null"], "maxLength": 20},
]


def sayable(body: dict[str, Any], draw: Callable[[SearchStrategy[Any]], Any]) -> dict[str, Any]:
    """A request with what a document cannot say of it: a conversation ends with a question, a chosen tool is one of the
    tools, all choices together are within the limit, and a schema is one that can be forced."""
    if body.get("messages"):
        body["messages"] = [*body["messages"], {"role": "user", "content": "How many eggs?"}]
    if isinstance(body.get("input"), list):
        body["input"] = [{"role": "user", "content": "How many eggs?"}]
    named = [body.get("response_format"), (body.get("text") or {}).get("format")]
    for place in [
        body,
        *(each["json_schema"] for each in named if each and "json_schema" in each),
        *filter(None, named),
    ]:
        if "schema" in place:
            place["schema"] = draw(sampled_from(TAKEN))
    tools = [tool.get("function", tool) for tool in body.get("tools") or []]
    for tool in tools:
        tool["parameters"] = draw(sampled_from(TAKEN))
    if isinstance(choice := body.get("tool_choice"), dict):
        choice.get("function", choice)["name"] = tools[0]["name"]
    if body.get("n") and body.get("samples"):
        body["n"] = 1
    if (seed := body.get("seed")) is not None:  # bounds beyond 2**53 are no floats, which validators compare
        body["seed"] = min(max(seed, SMALLEST_SEED), LARGEST_SEED)
    return body


def replies(operation: APIOperation, mode: GenerationMode) -> Counter[int]:
    """How often which status came; every reply is checked against the document, and nothing that it allows is refused,
    other than for want of a right, of what is named, or of a promise that can be kept.

    An abstention is an error where that was asked for.
    """
    statuses: Counter[int] = Counter()

    @given(case=operation.as_strategy(generation_mode=mode), data=strategies.data())
    @settings(max_examples=50, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def check(case: Case, data: DataObject) -> None:
        if mode is GenerationMode.POSITIVE and isinstance(case.body, dict):
            case.body = sayable(case.body, data.draw)
        response = case.call()
        asked_for = response.status_code == 422 and response.json()["error"].get("code") == "abstained"
        case.validate_response(response, excluded_checks=[positive_data_acceptance] if asked_for else [])
        statuses[response.status_code] += 1

    check()
    return statuses
