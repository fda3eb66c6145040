"""How the metrics of this package are registered: the buckets of latencies, and gauges that look when asked."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Gauge

LATENCIES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
"""Upper bounds of the buckets, in seconds."""


def watch(registry: CollectorRegistry, name: str, meaning: str, value: Callable[[], float]) -> None:
    """Register a gauge that calls `value` whenever it is read."""
    Gauge(name, meaning, registry=registry).set_function(value)
