"""What an operator chose about keeping answers, as plain values."""

from dataclasses import dataclass
from typing import Literal

StoreText = Literal["none", "audited", "all"]
QueueName = Literal["audit", "learn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackOptions:
    """`audit_share` of all answers are drawn for audits, `learn_share` of the least sure of the others for learning.

    `planned` is how many audits are to be graded before thresholds are certified on them. `max_error` and `threshold`
    are what drift is tested against: at most that share of the answers at least that sure may be wrong. An alarm rings
    falsely with probability at most `alpha`; a calibrated confidence may be too high by `slack` on the whole.
    `judge_audits` lets a model's verdicts count for audits as people's do. `lease` is in seconds, `most_waiting` counts
    answers not yet written.
    """

    audit_share: float = 0.05
    learn_share: float = 0.05
    store_text: StoreText = "audited"
    keep_days: float = 90.0
    planned: int = 500
    threshold: float = 0.5
    max_error: float = 0.5
    judge_audits: bool = False
    alpha: float = 0.05
    slack: float = 0.05
    lease: float = 600.0
    most_waiting: int = 4096
