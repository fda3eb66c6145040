"""All Prometheus metrics of one app."""

from prometheus_client import CollectorRegistry

from demur.observability.admission import AdmissionMetrics
from demur.observability.answer_metrics import AnswerMetrics
from demur.observability.engine import EngineMetrics
from demur.observability.http import HttpMetrics


class Metrics:
    """The metrics of one app, in a registry of their own, so that two apps in one process do not mix."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self.http = HttpMetrics(self.registry)
        self.answers = AnswerMetrics(self.registry)
        self.admission = AdmissionMetrics(self.registry)
        self.engine = EngineMetrics(self.registry)
