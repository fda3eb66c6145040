"""What was graded so far, and how the graders agree. Never whether a promise would pass: that would be peeking."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from demur.feedback.leases import progress
from demur.feedback.options import FeedbackOptions
from demur.feedback.shadows import Compared, comparisons
from demur.feedback.tables import answers, epochs, grades
from demur.feedback.watching import Watched, watched

CLEAR = 3.0
"""Standard errors from what the other graders say from which on a grader's share of right is remarkable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """One grader. `right` is the share of its audits that it calls right; audits go to graders by chance, so
    `deviation`, in standard errors from the others' share, is far from 0 for one that grades by another rule.

    `agreed` of `compared` verdicts are what somebody else said about the same thing, known answers included.
    """

    grader: str
    graded: int
    audits: int
    right: float | None
    deviation: float | None
    compared: int
    agreed: int

    @property
    def remarkable(self) -> bool:
        return self.deviation is not None and abs(self.deviation) > CLEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """`answers` counts those of the epoch that goes on, `audit` and `learn` open, graded and skipped items."""

    answers: int
    audit_share: float
    learn_share: float
    planned: int
    audit: Mapping[str, int]
    learn: Mapping[str, int]
    volunteered: int
    gold: int
    judge: int
    drift: tuple[Watched, ...]
    graders: tuple[Agreement, ...] | None
    shadows: tuple[Compared, ...] | None


def summarize(db: Connection, options: FeedbackOptions, epoch: int, *, graders: bool) -> Summary:
    """The state of things; `graders` adds what each key did, and how calibrators compare."""
    shares = db.execute(select(epochs).where(epochs.c.id == epoch)).mappings().one()
    counted = select(grades.c.source, func.count()).group_by(grades.c.source)
    by_source = {row[0]: row[1] for row in db.execute(counted)}
    return Summary(
        answers=db.scalar(select(func.count()).select_from(answers).where(answers.c.epoch == epoch)) or 0,
        audit_share=shares["audit_share"],
        learn_share=shares["learn_share"],
        planned=options.planned,
        audit=progress(db, "audit"),
        learn=progress(db, "learn"),
        volunteered=by_source.get("volunteered", 0),
        gold=by_source.get("gold", 0),
        judge=by_source.get("judge", 0),
        drift=tuple(watched(db)),
        graders=tuple(agreements(db)) if graders else None,
        shadows=tuple(comparisons(db)) if graders else None,
    )


def agreements(db: Connection) -> list[Agreement]:
    """Every grader, by id."""
    held = _held(db)
    graders = sorted({grader for verdicts in held.values() for grader, _ in verdicts})
    return [_of(grader, held) for grader in graders]


Held = dict[tuple[Any, ...], dict[tuple[str, str], bool]]
"""What is graded -> (grader, source) -> the verdict that holds."""


def _held(db: Connection) -> Held:
    held: Held = defaultdict(dict)
    for row in db.execute(select(grades).order_by(grades.c.id)).mappings():
        about, by = (row["answer_id"], row["claim"], row["sample"]), (row["grader"], row["source"])
        if row["verdict"] in ("right", "wrong"):
            held[about][by] = row["verdict"] == "right"
        else:
            held[about].pop(by, None)
    return held


def _of(grader: str, held: Held) -> Agreement:
    own, others = [], []
    graded = compared = agreed = 0
    for (_, claim, sample), verdicts in held.items():
        for (by, source), right in verdicts.items():
            if source == "audit" and claim is None and sample is None:
                (own if by == grader else others).append(right)
            if by != grader or source == "gold":
                continue
            graded += 1
            said = [other for (who, kind), other in verdicts.items() if who != grader or kind == "gold"]
            compared += len(said)
            agreed += sum(other == right for other in said)
    return Agreement(
        grader=grader,
        graded=graded,
        audits=len(own),
        right=sum(own) / len(own) if own else None,
        deviation=deviation(sum(own), len(own), sum(others), len(others)),
        compared=compared,
        agreed=agreed,
    )


def deviation(right: int, count: int, others_right: int, others: int) -> float | None:
    """How far one share lies from another in standard errors (the two-proportion z of the pooled share); None where
    either has no verdicts, or all are the same."""
    if not count or not others:
        return None
    pooled = (right + others_right) / (count + others)
    error = math.sqrt(pooled * (1 - pooled) * (1 / count + 1 / others))
    return (right / count - others_right / others) / error if error > 0 else None
