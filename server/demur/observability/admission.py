"""Metrics of admission: how full the server is beside its limits, how long requests wait, which it turns away."""

from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram

from demur.observability.gauges import LATENCIES, watch


class Amount(Protocol):
    """Samples and tokens, counted or as a limit."""

    @property
    def samples(self) -> int: ...
    @property
    def tokens(self) -> int: ...


class AdmissionState(Protocol):
    """What admission tells about itself."""

    @property
    def capacity(self) -> Amount: ...
    @property
    def running(self) -> Amount: ...
    @property
    def queue_capacity(self) -> Amount: ...
    @property
    def queued(self) -> Amount: ...
    @property
    def waiting_requests(self) -> int: ...


class AdmissionMetrics:
    """Requests that wait or are refused, and the samples and tokens that the server works on and may take."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self.refused = Counter(
            "demur_refused",
            "Requests turned away at the door: no_key, keys_stale, queue_full, pushed_out for another caller, "
            "stopping, requests_per_minute, tokens_per_minute.",
            ["reason"],
            registry=registry,
        )
        self.queue_seconds = Histogram(
            "demur_queue_seconds",
            "How long admitted requests had waited.",
            buckets=LATENCIES,
            registry=registry,
        )

    def watch(self, state: AdmissionState) -> None:
        """Expose how full the server is, beside its limits."""
        self._watch_running(state)
        self._watch_queued(state)

    def _watch_running(self, state: AdmissionState) -> None:
        of, registry = "of the requests being answered", self._registry
        watch(registry, "demur_running_samples", f"Samples {of}.", lambda: state.running.samples)
        watch(registry, "demur_running_samples_limit", "Beyond it requests wait.", lambda: state.capacity.samples)
        watch(registry, "demur_running_tokens", f"Tokens {of}, at most.", lambda: state.running.tokens)
        watch(registry, "demur_running_tokens_limit", "Beyond it requests wait.", lambda: state.capacity.tokens)

    def _watch_queued(self, state: AdmissionState) -> None:
        of, limit, registry = "of the requests that wait", "Beyond it comes a 429.", self._registry
        watch(registry, "demur_queued_requests", "Requests that wait.", lambda: state.waiting_requests)
        watch(registry, "demur_queued_samples", f"Samples {of}.", lambda: state.queued.samples)
        watch(registry, "demur_queued_samples_limit", limit, lambda: state.queue_capacity.samples)
        watch(registry, "demur_queued_tokens", f"Tokens {of}, at most.", lambda: state.queued.tokens)
        watch(registry, "demur_queued_tokens_limit", limit, lambda: state.queue_capacity.tokens)
