"""What the OpenAPI document says is what is sent, for requests that it allows and for requests that it does not."""

from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import positive_data_acceptance

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


def replies(operation: APIOperation, mode: GenerationMode) -> Counter[int]:
    """How often which status came; every reply is checked against the document.

    A request that the document allows may still contradict itself or the operator's limits.
    """
    statuses: Counter[int] = Counter()

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=50, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def check(case: Case) -> None:
        if mode is GenerationMode.POSITIVE and isinstance(case.body, dict) and case.body.get("messages"):
            # What a document cannot say: a conversation ends with a question, and only an assistant may say nothing.
            said = [one if _says_something(one) else {**one, "content": "Hm."} for one in case.body["messages"]]
            case.body["messages"] = [*said, {"role": "user", "content": "How many eggs?"}]
        if mode is GenerationMode.POSITIVE and isinstance(case.body, dict) and isinstance(case.body.get("input"), list):
            case.body["input"] = [{"role": "user", "content": "How many eggs?"}]
        response = case.call()
        case.validate_response(response, excluded_checks=[positive_data_acceptance])
        statuses[response.status_code] += 1

    check()
    return statuses


def _says_something(message: dict[str, object]) -> bool:
    return message.get("role") == "assistant" or isinstance(message.get("content"), str)
