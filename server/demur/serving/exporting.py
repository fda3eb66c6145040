"""Where traces go: OTLP over HTTP. The SDK's own OTEL_* variables hold, for headers, sampling and service name."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import demur
from demur.observability.logs import logger
from demur.serving.errors import CannotLoad

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

FLUSH_TIMEOUT = 3.0
"""Seconds that the end of the server waits for the last spans to be sent; the SDK alone would wait 30."""


@contextmanager
def tracer_for(endpoint: str | None, flush_timeout: float = FLUSH_TIMEOUT) -> "Iterator[Tracer | None]":
    """A tracer whose spans go to `endpoint`; None without one. Raises CannotLoad.

    In the end what is still held back is sent, for at most `flush_timeout` seconds; after that it is given up, with a
    warning in the log.
    """
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
    provider = TracerProvider(resource=named, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    try:
        yield provider.get_tracer("demur", demur.__version__)
    finally:
        _shut_down(provider, flush_timeout)


def _shut_down(provider: "TracerProvider", seconds: float) -> None:
    """In a thread, because neither the SDK nor its exporter takes a limit for all of it."""
    flushing = threading.Thread(target=provider.shutdown, name="flush traces", daemon=True)
    flushing.start()
    flushing.join(seconds)
    if flushing.is_alive():
        logger.warning("the last traces were not sent: the collector did not take them in time")
