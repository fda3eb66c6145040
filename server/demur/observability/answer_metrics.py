"""Metrics of answers: decisions, stated confidences, tokens read, written and saved."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from demur.answering import Final

_TWENTIETHS = [i / 20 for i in range(1, 21)]


class AnswerMetrics:
    """What became of every question that was answered."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.decisions = Counter(
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
        self.tokens = Counter("demur_tokens", "Tokens read and written.", ["kind"], registry=registry)
        self.tokens_saved = Counter(
            "demur_tokens_saved",
            "Upper bound of the tokens that stopping early saved, by what stopped it: a vote that was decided, or an "
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

    def count(self, endpoint: str, final: Final) -> None:
        """Count one answer, its samples and its tokens."""
        answer = final.answer
        self.decisions.labels(endpoint, answer.contract, answer.decision, answer.reason or "").inc()
        if answer.confidence is not None:
            self.confidence.labels(answer.contract).observe(answer.confidence)
        for state in final.states:
            self.readings.labels(answer.contract, state).inc()
        self.tokens.labels("prompt").inc(answer.usage.prompt_tokens or 0)
        self.tokens.labels("completion").inc(answer.usage.completion_tokens or 0)
        if final.tokens_saved_upper_bound:
            self.tokens_saved.labels("vote" if answer.samples else "abstention").inc(final.tokens_saved_upper_bound)
        self.tokens_past_decision.inc(final.tokens_past_decision)
