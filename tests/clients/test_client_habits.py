"""What users of other clients reach for: options, raw replies, models, a client of their own, structured answers."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from pydantic import BaseModel, field_validator

from demur_client import (
    AsyncClient,
    Client,
    ClientClosedError,
    InvalidRequestError,
    ReplyError,
    ServerError,
)

MODELS = {
    "object": "list",
    "data": [{"id": "m", "demur": {"calibrated": True, "contracts": ["response"], "risk_threshold": 0.5, "x": 1}}],
}
FIELDS = [
    {"path": "/city", "value": "Porto", "confidence": 0.9, "decision": "assert", "explanation": "", "agreement": 0.5},
    {"path": "/founded", "value": None, "confidence": None, "decision": "highlight", "explanation": "unknown"},
]


class City(BaseModel):
    city: str
    founded: int | None


@pytest.fixture
def structured(reply: Any) -> dict[str, Any]:
    answer = json.dumps({"city": "Porto", "founded": None})
    return reply(contract="fields", answer=answer, fields=FIELDS, text="")


class Network:
    """Plays a server; keeps what was sent."""

    def __init__(self, *replies: httpx.Response) -> None:
        self._replies = list(replies)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self._replies.pop(0)


def test_options_of_one_call_leave_the_client_as_it_was(use: Any, reply: Any) -> None:
    network = Network(*[httpx.Response(200, json=reply()) for _ in range(2)])

    def ask(client: Any) -> Any:
        other = client.with_options(timeout=3.0, default_headers={"x-team": "b"})
        if isinstance(client, Client):
            return [client.answer("q"), other.answer("q")]

        async def both() -> Any:
            return [await client.answer("q"), await other.answer("q")]

        return both()

    use(network, ask, default_headers={"x-team": "a"})
    assert [request.headers["x-team"] for request in network.requests] == ["a", "b"]
    assert [request.extensions["timeout"]["read"] for request in network.requests] == [600.0, 3.0]


def test_max_retries(use: Any) -> None:
    network = Network(*[httpx.Response(500) for _ in range(5)])
    with pytest.raises(ServerError):
        use(network, lambda client: client.answer("q"), max_retries=1)
    assert len(network.requests) == 2
    with pytest.raises(ServerError):
        use(network, lambda client: client.with_options(max_retries=0).answer("q"))
    assert len(network.requests) == 3


def test_a_client_of_ones_own(reply: Any) -> None:
    network = Network(*[httpx.Response(200, json=reply()) for _ in range(2)])
    own = httpx.Client(transport=httpx.MockTransport(network), headers={"x-own": "1"}, timeout=7.0)
    Client(http_client=own, base_url="http://demur.test", api_key="k").answer("q")
    (request,) = network.requests
    assert str(request.url) == "http://demur.test/v1/answers"
    assert (request.headers["x-own"], request.headers["authorization"]) == ("1", "Bearer k")
    assert request.extensions["timeout"]["read"] == 7.0
    own.close()

    async def ask() -> None:
        async with AsyncClient(http_client=httpx.AsyncClient(transport=httpx.MockTransport(network))) as client:
            await client.answer("q")

    asyncio.run(ask())
    assert len(network.requests) == 2


def test_a_raw_reply(use: Any, reply: Any) -> None:
    headers = {"x-request-id": "req_1", "demur-notice": "max_tokens=5"}
    network = Network(httpx.Response(200, json=reply(), headers=headers))
    raw = use(network, lambda client: client.with_raw_response.answer("q", risk_threshold=0.2))
    assert (raw.status_code, raw.request_id, raw.notice) == (200, "req_1", "max_tokens=5")
    assert raw.parse().request_id == "req_1"
    assert "request_id" not in raw.parse().to_dict()


def test_models(use: Any) -> None:
    network = Network(httpx.Response(200, json=MODELS), httpx.Response(200, json=MODELS["data"][0]))
    (model,) = use(network, lambda client: client.models.list())
    assert (model.id, model.calibrated, model.contracts, model.details["x"]) == ("m", True, ("response",), 1)
    assert use(network, lambda client: client.models.retrieve("a b/m")) == model
    assert [request.url.raw_path for request in network.requests] == [b"/v1/models", b"/v1/models/a%20b/m"]


def test_an_error_has_a_code(use: Any) -> None:
    body = {
        "error": {"type": "invalid_request", "code": "context_length_exceeded", "message": "m", "param": "question"}
    }
    with pytest.raises(InvalidRequestError) as caught:
        use(Network(httpx.Response(400, json=body)), lambda client: client.answer("q"))
    assert caught.value.code == "context_length_exceeded"


def test_a_closed_client_says_so() -> None:
    client = Client()
    client.close()
    with pytest.raises(ClientClosedError, match="closed"):
        client.answer("q")


def test_a_pydantic_model_as_the_schema(use: Any, structured: Any) -> None:
    network = Network(httpx.Response(200, json=structured))
    answer = use(network, lambda client: client.answer("q", schema=City, on_doubt="null"))
    assert answer.parsed == City(city="Porto", founded=None)
    assert [field.path for field in answer.fields if field.highlighted] == ["/founded"]
    assert (answer.fields[0].agreement, answer.fields[1].explanation) == (0.5, "unknown")
    sent = json.loads(network.requests[0].content)
    assert (sent["schema"], sent["on_doubt"]) == (City.model_json_schema(), "null")
    assert answer.to_dict()["fields"] == FIELDS
    assert "parsed" not in answer.to_dict()


def test_a_json_schema_as_the_schema(use: Any, structured: Any, reply: Any) -> None:
    network = Network(httpx.Response(200, json=structured), httpx.Response(200, json=reply()))
    answer = use(network, lambda client: client.answer("q", schema={"type": "object"}))
    assert answer.parsed == {"city": "Porto", "founded": None}
    assert use(network, lambda client: client.answer("q")).parsed is None


def test_signals(use: Any, reply: Any) -> None:
    told = {
        "agreement": {"value": 0.75, "missing": None, "cost": None},
        "p_true": {"value": None, "missing": "no tokens", "cost": None},
    }
    network = Network(httpx.Response(200, json=reply(signals=told)))
    answer = use(network, lambda client: client.answer("q", include_signals=["agreement", "p_true"]))
    assert (answer.signals["agreement"].value, answer.signals["p_true"].missing) == (0.75, "no tokens")
    assert answer.to_dict()["signals"] == told
    assert json.loads(network.requests[0].content)["include_signals"] == ["agreement", "p_true"]


def test_signals_of_single_fields(use: Any, reply: Any) -> None:
    told = {"answer_logprob": {"value": 0.5, "missing": None, "cost": None}}
    fields = [FIELDS[0] | {"signals": told}, FIELDS[1]]
    network = Network(httpx.Response(200, json=reply(contract="fields", answer="{}", fields=fields, text="{}")))
    answer = use(network, lambda client: client.answer("q", schema={"type": "object"}))
    assert answer.fields[0].signals["answer_logprob"].value == 0.5
    assert answer.fields[1].signals is None


def test_a_stream_with_a_schema(use: Any, structured: Any) -> None:
    body = f"event: answer\ndata: {json.dumps(structured)}\n\n"
    network = Network(httpx.Response(200, text=body, headers={"content-type": "text/event-stream"}))
    answer = use(network, lambda client: client.stream("q", schema=City).result())
    assert answer.parsed == City(city="Porto", founded=None)


def test_what_the_model_refuses_is_an_error(use: Any, structured: Any) -> None:
    class Small(City):
        @field_validator("city")
        @classmethod
        def _short(cls, city: str) -> str:
            raise ValueError("too long a name")

    with pytest.raises(ReplyError, match="too long a name"):
        use(Network(httpx.Response(200, json=structured)), lambda client: client.answer("q", schema=Small))
    with pytest.raises(TypeError, match="schema"):
        use(Network(), lambda client: client.answer("q", schema=7))
