"""Prometheus metrics, and one log line a request. Neither holds text of prompts or answers unless `log_text` is set."""

import json
import logging
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from demur.answering import Final
from demur.log_writer import LogWriter

logger = logging.getLogger("demur")

_TWENTIETHS = [i / 20 for i in range(1, 21)]
_LATENCIES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]


class Amount(Protocol):
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


class UpstreamState(Protocol):
    """What an engine tells about one of its hosts."""

    @property
    def name(self) -> str: ...
    @property
    def running(self) -> int: ...
    @property
    def is_unhealthy(self) -> bool: ...


class Metrics:
    """The metrics of one app, in a registry of their own, so that two apps in one process do not mix."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry = registry or CollectorRegistry()
        self.requests = Counter("demur_requests", "HTTP requests.", ["method", "endpoint", "status"], registry=registry)
        self.in_flight = Gauge("demur_requests_in_flight", "HTTP requests being answered.", registry=registry)
        self.first_event = Histogram(
            "demur_time_to_first_event_seconds",
            "From a request to the first bytes of its reply that say something.",
            ["endpoint"],
            buckets=_LATENCIES,
            registry=registry,
        )
        self.duration = Histogram(
            "demur_request_seconds",
            "From a request to the end of its reply.",
            ["endpoint"],
            buckets=_LATENCIES,
            registry=registry,
        )
        self.answers = Counter(
            "demur_answers",
            "Answers by decision; reason is empty when answered.",
            ["endpoint", "contract", "decision", "reason"],
            registry=registry,
        )
        self.confidence = Histogram(
            "demur_confidence",
            "Stated confidence of an answer, given or withheld.",
            ["contract"],
            buckets=_TWENTIETHS,
            registry=registry,
        )
        self.readings = Counter(
            "demur_readings",
            "Samples by what their confidence was: value, missing or invalid.",
            ["contract", "state"],
            registry=registry,
        )
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
            buckets=_LATENCIES,
            registry=registry,
        )
        self.engine_restarts = Counter(
            "demur_engine_restarts", "How often an engine that died was started again.", registry=registry
        )
        self.tokens = Counter("demur_tokens", "Tokens read and written.", ["kind"], registry=registry)
        self.tokens_saved = Counter(
            "demur_tokens_saved",
            "Upper bound of the tokens that stopping early saved, by what stopped it: a vote that was settled, or an "
            "abstention that was certain. Each sample stopped counts the tokens it had left of max_tokens, though most "
            "would have ended before.",
            ["by"],
            registry=registry,
        )
        self.tokens_past_decision = Counter(
            "demur_tokens_past_decision",
            "Tokens generated in vain, between the one that made an abstention certain and the stop, at most.",
            registry=registry,
        )

    def watch_engine(self, running: Callable[[], float]) -> None:
        """Expose how many samples the engine is working on."""
        self._watch("demur_engine_running_samples", "Samples inside the engine right now.", running)

    def watch_upstreams(self, names: Sequence[str], look: Callable[[], Sequence[UpstreamState]]) -> None:
        """Expose how each host of an engine is doing; hosts of one name are told apart by a number."""
        rests = Gauge(
            "demur_upstream_rests",
            "1 from a failure until it answers again.",
            ["upstream"],
            registry=self.registry,
        )
        running = Gauge(
            "demur_upstream_running_samples", "Samples it is working on.", ["upstream"], registry=self.registry
        )
        for i, name in enumerate(names):
            label = name if names.count(name) == 1 else f"{name} {i}"
            rests.labels(label).set_function(lambda i=i: look()[i].is_unhealthy)
            running.labels(label).set_function(lambda i=i: look()[i].running)

    def watch_ready(self, ready: Callable[[], bool]) -> None:
        """Expose whether the engine takes work."""
        self._watch("demur_engine_ready", "1 when the engine took work at the last look, else 0.", ready)

    def watch_grading(self, waiting: Callable[[], float]) -> None:
        """Expose how many answers wait to be compared by value."""
        self._watch("demur_grading_waiting", "Answers of votes that wait until their formulas are compared.", waiting)

    def watch_keys(self, age: Callable[[], float]) -> None:
        """Expose how old what is known of the keys is."""
        meaning = "Seconds since the keys in use were last seen to be those of the keys file; 0 without such a file."
        self._watch("demur_keys_age_seconds", meaning, age)

    def watch_admission(self, admission: AdmissionState) -> None:
        """Expose how full the server is, beside its limits."""
        running, waits = "of the requests being answered", "of the requests that wait"
        self._watch("demur_running_samples", f"Samples {running}.", lambda: admission.running.samples)
        self._watch("demur_running_samples_limit", "Beyond it requests wait.", lambda: admission.capacity.samples)
        self._watch("demur_running_tokens", f"Tokens {running}, at most.", lambda: admission.running.tokens)
        self._watch("demur_running_tokens_limit", "Beyond it requests wait.", lambda: admission.capacity.tokens)
        self._watch("demur_queued_requests", "Requests that wait.", lambda: admission.waiting_requests)
        self._watch("demur_queued_samples", f"Samples {waits}.", lambda: admission.queued.samples)
        self._watch("demur_queued_samples_limit", "Beyond it comes a 429.", lambda: admission.queue_capacity.samples)
        self._watch("demur_queued_tokens", f"Tokens {waits}, at most.", lambda: admission.queued.tokens)
        self._watch("demur_queued_tokens_limit", "Beyond it comes a 429.", lambda: admission.queue_capacity.tokens)

    def _watch(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        Gauge(name, meaning, registry=self.registry).set_function(value)

    def answered(self, endpoint: str, final: Final) -> None:
        """Count one answer."""
        answer = final.answer
        self.answers.labels(endpoint, answer.contract, answer.decision, answer.reason or "").inc()
        if answer.confidence is not None:
            self.confidence.labels(answer.contract).observe(answer.confidence)
        for state in final.states:
            self.readings.labels(answer.contract, state).inc()
        self.tokens.labels("prompt").inc(answer.usage.prompt_tokens or 0)
        self.tokens.labels("completion").inc(answer.usage.completion_tokens or 0)
        if final.tokens_saved_upper_bound:
            self.tokens_saved.labels("vote" if answer.samples else "abstention").inc(final.tokens_saved_upper_bound)
        self.tokens_past_decision.inc(final.tokens_past_decision)


class JsonFormatter(logging.Formatter):
    """One JSON object a line. Fields given as `extra={"fields": {...}}` stand beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = describe(record.exc_info[1])
        return json.dumps(line)


class TextFormatter(logging.Formatter):
    """The same for people: message, then the fields as key=value."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).isoformat(sep=" ", timespec="milliseconds")
        fields = "".join(f" {name}={value!r}" for name, value in getattr(record, "fields", {}).items())
        failure = record.exc_info[1] if record.exc_info else None
        cause = f" {describe(failure)}" if failure is not None else ""
        return f"{time} {record.levelname.lower()} {record.name} {record.getMessage()}{fields}{cause}"


def describe(failure: BaseException) -> dict[str, object]:
    """The type and where it came from. The exception's own words are left out: they may quote a prompt."""
    frames = traceback.extract_tb(failure.__traceback__)
    return {
        "type": type(failure).__name__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def log_failure(failure: BaseException, request_id: str) -> None:
    """One line for a request that failed through no fault of its caller."""
    logger.error("request failed", extra={"fields": {"request_id": request_id, "exception": describe(failure)}})


def configure_logging(form: str, level: str) -> LogWriter:
    """Send the log lines of this process to standard error in one form, without ever waiting for whoever reads them.

    This program's and uvicorn's from `level` on, warnings and errors of everything else. For the command line only.
    """
    writer = LogWriter(2)
    writer.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    others = level if level in ("debug", "error") else "warning"
    for name, least in (("demur", level), ("uvicorn", others), (None, "warning")):
        named = logging.getLogger(name)
        named.handlers = [writer]
        named.propagate = False
        named.setLevel(least.upper())
    logging.captureWarnings(True)
    return writer
