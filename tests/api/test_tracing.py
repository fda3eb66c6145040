"""Traces: what is recorded, what is passed on, and that neither holds a word of any text."""

import asyncio
import io
import json
import logging
import threading
from collections.abc import Iterator

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode, Tracer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from demur.api.app import create_app
from demur.engine.base import EngineError
from demur.engine.scripted import Gate, Script, ScriptedEngine
from demur.manifest import Manifest
from demur.observability.logs import JsonFormatter
from demur.serving.exporting import tracer_for
from demur.settings import Settings
from live import serving

QUESTION, ANSWER, TEXT = "canary-question", "canary-answer", "canary-text"
RESPONSE = f"{TEXT}\nAnswer: {ANSWER}\nConfidence: 0.9"
PARENT = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
PATHS = ["/v1/answers", "/v1/chat/completions"]


class Traced:
    """An app whose spans are kept."""

    def __init__(self, engine: ScriptedEngine | None = None, tracer: Tracer | None = None, **settings: object) -> None:
        self.engine = engine or ScriptedEngine({QUESTION: RESPONSE})
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        manifest = Manifest(name="demur-test", calibrated=True)
        tracer = tracer or provider.get_tracer("test")
        self.app = create_app(self.engine, manifest, Settings(**settings), tracer=tracer)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """Finished ones, in the order in which they ended."""
        return self._exporter.get_finished_spans()

    def ask(self, path: str = "/v1/answers", headers: dict[str, str] | None = None, **fields: object) -> httpx.Response:
        body = {"question": QUESTION} if path == PATHS[0] else {"messages": [{"role": "user", "content": QUESTION}]}
        return self.call("POST", path, json=body | fields, headers=headers)

    def call(self, method: str, path: str, **arguments) -> httpx.Response:
        async def request() -> httpx.Response:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://t") as client:
                return await client.request(method, path, **arguments)

        return asyncio.run(request())


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_request_and_its_samples(path, stream) -> None:
    server = Traced()
    assert server.ask(path, PARENT, samples=3, stream=stream).status_code == 200
    *samples, request = server.spans
    assert (request.name, request.parent.span_id) == (f"POST {path}", int("b" * 16, 16))
    assert [sample.name for sample in samples] == ["sample"] * 3
    assert {sample.parent.span_id for sample in samples} == {request.context.span_id}
    assert {span.context.trace_id for span in server.spans} == {int("a" * 32, 16)}
    assert (request.attributes["http.response.status_code"], request.attributes["demur.decision"]) == (200, "answer")
    assert [event.name for event in request.events] == ["admitted"]
    assert {sample.attributes["demur.finish_reason"] for sample in samples} == {"stop"}
    assert all(sample.attributes["demur.completion_tokens"] == 5 for sample in samples)
    passed_on = {int(drawn.trace["traceparent"].split("-")[2], 16) for drawn in server.engine.drawn}
    assert passed_on == {sample.context.span_id for sample in samples}
    recorded = "".join(span.to_json() for span in server.spans)
    for secret in (QUESTION, ANSWER, TEXT):
        assert secret not in recorded


@pytest.mark.parametrize("stream", [False, True])
def test_failures_are_marked_without_their_words(stream) -> None:
    script = Script([RESPONSE], error=EngineError(TEXT), error_after=2)
    server = Traced(ScriptedEngine({QUESTION: script}))
    server.ask(stream=stream)
    sample, request = server.spans
    assert (sample.status.status_code, sample.status.description) == (StatusCode.ERROR, "EngineError")
    assert request.status.status_code == StatusCode.ERROR
    assert request.attributes["demur.error"] == "engine_error"
    assert TEXT not in sample.to_json() + request.to_json()


def test_a_wrong_request_is_no_failure_of_the_server() -> None:
    server = Traced()
    assert server.ask(contract="nothing").status_code == 400
    assert server.spans[0].status.status_code == StatusCode.UNSET
    assert server.spans[0].attributes["demur.error"] == "invalid_request"


def test_a_sample_that_is_cut_off_ends_its_span() -> None:
    server = Traced(ScriptedEngine({QUESTION: Script([RESPONSE], gates={1: Gate()})}))
    assert server.ask(timeout=0.05).status_code == 504
    sample, request = server.spans
    assert "demur.finish_reason" not in sample.attributes
    assert request.attributes["http.response.status_code"] == 504


def test_probes_are_not_traced() -> None:
    server = Traced()
    for path in ("/health", "/ready", "/metrics"):
        server.call("GET", path)
    assert server.spans == ()
    server.call("GET", "/nowhere")
    assert server.spans[0].name == "GET unmatched"


def test_without_a_tracer_the_callers_context_is_passed_on_as_it_is(make) -> None:
    server = make()
    server.ask(samples=2)
    assert [drawn.trace for drawn in server.engine.drawn] == [{}, {}]
    state = PARENT | {"tracestate": "vendor=1"}
    server.call("POST", "/v1/answers", json={"question": "q"}, headers=state)
    assert server.engine.drawn[-1].trace == state
    server.call("POST", "/v1/answers", json={"question": "q"}, headers={"traceparent": "nonsense"})
    assert server.engine.drawn[-1].trace == {}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("demur")
    before = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_the_log_names_the_trace(log) -> None:
    Traced().ask(headers=PARENT)
    assert json.loads(log.getvalue())["trace_id"] == "a" * 32
    assert QUESTION not in log.getvalue()


def test_text_is_logged_when_the_operator_asks_for_it(log) -> None:
    Traced(log_text=True).ask()
    line = json.loads(log.getvalue())
    assert line["question"] == QUESTION
    assert (line["answers"][0]["answer"], line["answers"][0]["text"]) == (ANSWER, TEXT)


def test_what_is_withheld_is_not_logged_even_then(log) -> None:
    Traced(log_text=True).ask(risk_threshold=0.95)
    assert QUESTION in log.getvalue()
    assert ANSWER not in log.getvalue()
    assert TEXT not in log.getvalue()


def test_traces_arrive_where_the_operator_wants_them() -> None:
    received: list[ExportTraceServiceRequest] = []

    async def collect(request: Request) -> Response:
        assert request.headers["content-type"] == "application/x-protobuf"
        received.append(ExportTraceServiceRequest.FromString(await request.body()))
        return Response(b"", media_type="application/x-protobuf")

    collector = Starlette(routes=[Route("/v1/traces", collect, methods=["POST"])])
    with serving(collector) as address, tracer_for(f"{address}/v1/traces") as tracer:
        assert Traced(tracer=tracer).ask().status_code == 200
    [sent] = received
    [resource] = sent.resource_spans
    assert {a.key: a.value.string_value for a in resource.resource.attributes}["service.name"] == "demur"
    names = [span.name for scope in resource.scope_spans for span in scope.spans]
    assert sorted(names) == ["POST /v1/answers", "sample"]
    assert QUESTION.encode() not in sent.SerializeToString()


def test_a_collector_that_does_not_answer_does_not_hold_up_the_end(caplog) -> None:
    closing = threading.Event()

    async def never(_: Request) -> Response:
        await asyncio.to_thread(closing.wait)
        return Response(b"", media_type="application/x-protobuf")

    collector = Starlette(routes=[Route("/v1/traces", never, methods=["POST"])])
    with serving(collector) as address:
        with tracer_for(f"{address}/v1/traces", flush_timeout=0.1) as tracer:
            assert Traced(tracer=tracer).ask().status_code == 200
        closing.set()
    assert "the last traces were not sent" in caplog.text


def test_no_endpoint_no_tracer() -> None:
    with tracer_for(None) as tracer:
        assert tracer is None
