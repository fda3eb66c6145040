"""Where traces go: OTLP over HTTP. The SDK's own OTEL_* variables hold, for headers, sampling and service name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import demur
from demur.serving.errors import CannotLoad

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


@contextmanager
def tracer_for(endpoint: str | None) -> "Iterator[Tracer | None]":
    """None without an endpoint. What is still held back is sent in the end. Raises CannotLoad."""
    if endpoint is None:
        yield None
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise CannotLoad(f'traces need {error.name}: pip install "demur[tracing]"') from None
    named = Resource.create({SERVICE_NAME: "demur"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=named)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    try:
        yield provider.get_tracer("demur", demur.__version__)
    finally:
        provider.shutdown()
