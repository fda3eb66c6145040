"""Metrics of what answers and compares: the engine, its hosts, the graders of votes, and the keys file."""

from collections.abc import Callable, Sequence
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge

from demur.observability.gauges import watch


class UpstreamState(Protocol):
    """What an engine tells about one of its hosts."""

    @property
    def name(self) -> str: ...
    @property
    def running(self) -> int: ...
    @property
    def is_unhealthy(self) -> bool: ...


class EngineMetrics:
    """How the engine is doing. Each gauge is there once something was given to look at."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self.restarts = Counter(
            "demur_engine_restarts", "How often an engine that died was started again.", registry=registry
        )

    def watch_running(self, running: Callable[[], float]) -> None:
        """Expose how many samples the engine is working on."""
        watch(self._registry, "demur_engine_running_samples", "Samples inside the engine right now.", running)

    def watch_upstreams(self, names: Sequence[str], look: Callable[[], Sequence[UpstreamState]]) -> None:
        """Expose how each host of an engine is doing; hosts of one name are told apart by a number."""
        rests = self._upstream_gauge("demur_upstream_rests", "1 from a failure until it answers again.")
        running = self._upstream_gauge("demur_upstream_running_samples", "Samples it is working on.")
        for i, name in enumerate(names):
            label = name if names.count(name) == 1 else f"{name} {i}"
            rests.labels(label).set_function(lambda i=i: look()[i].is_unhealthy)
            running.labels(label).set_function(lambda i=i: look()[i].running)

    def watch_ready(self, ready: Callable[[], bool]) -> None:
        """Expose whether the engine takes work."""
        watch(self._registry, "demur_engine_ready", "1 when the engine took work at the last look, else 0.", ready)

    def watch_grading(self, waiting: Callable[[], float]) -> None:
        """Expose how many answers wait to be compared by value."""
        meaning = "Answers of votes that wait until their formulas are compared."
        watch(self._registry, "demur_grading_waiting", meaning, waiting)

    def watch_keys(self, age: Callable[[], float]) -> None:
        """Expose how old what is known of the keys is."""
        meaning = "Seconds since the keys in use were last seen to be those of the keys file; 0 without such a file."
        watch(self._registry, "demur_keys_age_seconds", meaning, age)

    def _upstream_gauge(self, name: str, meaning: str) -> Gauge:
        return Gauge(name, meaning, ["upstream"], registry=self._registry)
