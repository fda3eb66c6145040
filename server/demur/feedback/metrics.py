"""What Prometheus is told about answers that are kept, graded and tested for drift."""

from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge

from demur.feedback.watching import Watched


class FeedbackMetrics:
    """In the registry of the app that keeps answers; one that keeps none has none of these."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.kept = Counter(
            "demur_feedback_answers",
            "Answers that were kept, by the queue they were drawn into; none for most.",
            ["queue"],
            registry=registry,
        )
        self.dropped = Counter(
            "demur_feedback_dropped",
            "Answers that were not kept because too many waited to be written.",
            ["queue"],
            registry=registry,
        )
        for queue in ("audit", "learn", "none"):  # a jump from nothing is none: there has to be a 0 before
            self.dropped.labels(queue)
        self.grades = Counter(
            "demur_feedback_grades", "Verdicts, by where they came from.", ["source", "verdict"], registry=registry
        )
        self.shadow = Counter(
            "demur_shadow_decisions",
            "What a calibrator beside the served one would have decided: the same, or which one alone answers.",
            ["calibrator", "answered_by"],
            registry=registry,
        )
        self.waiting = Gauge("demur_feedback_waiting", "Answers that wait to be written.", registry=registry)
        self.e_value = Gauge(
            "demur_drift_e_value",
            "Evidence that more of what is answered is wrong than may be; 1 is none.",
            ["watched"],
            registry=registry,
        )
        self.alarm = Gauge(
            "demur_drift_alarm", "1 from the moment the evidence reached 1 / alpha.", ["watched"], registry=registry
        )
        self.tested = Gauge(
            "demur_drift_answers", "Audited answers that the test has seen.", ["watched"], registry=registry
        )

    def watch(self, waiting: Callable[[], int]) -> None:
        """Expose how many answers wait."""
        self.waiting.set_function(waiting)

    def show(self, tests: Sequence[Watched]) -> None:
        """Expose the drift tests as they stand."""
        for test in tests:
            self.e_value.labels(test.name).set(test.e_value)
            self.alarm.labels(test.name).set(test.alarm_at is not None)
            self.tested.labels(test.name).set(test.count)
