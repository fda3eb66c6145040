"""Metrics of HTTP requests: how many, how long, with which status."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from demur.observability.gauges import LATENCIES


class HttpMetrics:
    """Requests by method, endpoint and status; latencies in seconds."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.requests = Counter("demur_requests", "HTTP requests.", ["method", "endpoint", "status"], registry=registry)
        self.in_flight = Gauge("demur_requests_in_flight", "HTTP requests being answered.", registry=registry)
        self.first_event = Histogram(
            "demur_time_to_first_event_seconds",
            "From a request to the first bytes of its reply that say something.",
            ["endpoint"],
            buckets=LATENCIES,
            registry=registry,
        )
        self.duration = Histogram(
            "demur_request_seconds",
            "From a request to the end of its reply.",
            ["endpoint"],
            buckets=LATENCIES,
            registry=registry,
        )
