"""Traces for OpenTelemetry: a request, its samples, and what the engine makes of them. Never a word of any text.

Nothing is recorded unless the operator names a place to send it to. The W3C context that a caller sends is passed on to
the engine either way.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Self

from opentelemetry import trace
from opentelemetry.trace import NoOpTracer, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_W3C = TraceContextTextMapPropagator()
Fact = str | int | float | bool


class Span:
    """One piece of work. It is handed on by hand, because streams do not stay within one task."""

    def __init__(self, tracer: Tracer, span: trace.Span) -> None:
        self._tracer = tracer
        self._span = span

    @classmethod
    def of_request(cls, tracer: Tracer, headers: Mapping[str, str]) -> Self:
        """Continues the trace that `headers` name, if they name one."""
        context = _W3C.extract(headers)
        return cls(tracer, tracer.start_span("request", context=context, kind=SpanKind.SERVER))

    @property
    def headers(self) -> dict[str, str]:
        """The W3C trace context as HTTP headers, for whoever the work is passed on to; empty where there is none."""
        carrier: dict[str, str] = {}
        _W3C.inject(carrier, trace.set_span_in_context(self._span))
        return carrier

    @property
    def trace_id(self) -> str | None:
        """The trace's id as it is written in the log; None where nothing is traced."""
        found = self._span.get_span_context()
        return trace.format_trace_id(found.trace_id) if found.is_valid else None

    def name(self, name: str) -> None:
        """Rename it, once it is known which route a request takes."""
        self._span.update_name(name)

    def note(self, **facts: Fact | None) -> None:
        """Record facts as attributes `demur.NAME` of the span; those that are None are left out."""
        self._keep({f"demur.{name}": fact for name, fact in facts.items()})

    def reply(self, method: str, route: str, status: int) -> None:
        """Record what became of a request, under the names of OpenTelemetry's semantic conventions for HTTP."""
        self._keep({"http.request.method": method, "http.route": route, "http.response.status_code": status})
        if status >= 500:
            self.fail(str(status))

    def happened(self, what: str) -> None:
        """Record an event with the present time."""
        self._span.add_event(what)

    def fail(self, why: str) -> None:
        """Mark the span as failed. `why` is a kind of error, never its message, which may quote a prompt."""
        self._span.set_status(Status(StatusCode.ERROR, why))

    def end(self) -> None:
        """End it now; what comes later is not recorded."""
        self._span.end()

    @contextmanager
    def part(self, name: str) -> Iterator["Span"]:
        """A piece of this one, which ends with the block."""
        inner = self._tracer.start_span(name, context=trace.set_span_in_context(self._span), kind=SpanKind.CLIENT)
        span = Span(self._tracer, inner)
        try:
            yield span
        except Exception as error:
            span.fail(type(error).__name__)
            raise
        finally:
            inner.end()

    def _keep(self, facts: Mapping[str, Fact | None]) -> None:
        self._span.set_attributes({name: fact for name, fact in facts.items() if fact is not None})


UNTRACED = Span(NoOpTracer(), trace.INVALID_SPAN)
