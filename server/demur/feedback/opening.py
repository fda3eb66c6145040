"""From an operator's settings to what keeps answers."""

from collections.abc import Generator
from contextlib import contextmanager

from demur.feedback.database import default_url, open_database
from demur.feedback.options import FeedbackOptions
from demur.feedback.service import Feedback
from demur.manifest import Manifest
from demur.settings import Settings


@contextmanager
def open_feedback(settings: Settings, manifest: Manifest, fingerprint: str) -> Generator[Feedback]:
    """Keeps answers while the context is open. Raises StoreUnusable."""
    db = open_database(settings.feedback_db or default_url())
    feedback = Feedback(db, options_of(settings), manifest, fingerprint)
    try:
        yield feedback
    finally:
        feedback.close()


def options_of(settings: Settings) -> FeedbackOptions:
    """By default drift is tested against what a true confidence promises: at least `risk_threshold` sure, so at most
    1 - `risk_threshold` wrong."""
    threshold = max(settings.risk_threshold, settings.min_risk_threshold)
    return FeedbackOptions(
        audit_share=settings.audit_share,
        learn_share=settings.learn_share,
        store_text=settings.store_text,
        keep_days=settings.keep_days,
        planned=settings.planned_audits,
        threshold=threshold,
        max_error=settings.drift_max_error or min(0.99, max(0.01, 1 - threshold)),
        judge_audits=settings.judge_audits,
        alpha=settings.drift_alpha,
        slack=settings.drift_slack,
    )
