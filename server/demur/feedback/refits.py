"""Graded answers for `demur calibrate`: audits to certify on, others to learn from, and how often somebody looked."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from demur.feedback.options import FeedbackOptions
from demur.feedback.tables import answers, epochs, refits


@dataclass(frozen=True, slots=True, kw_only=True)
class RefitRow:
    """One graded answer. `weight` is 1 / the chance it had of being drawn, over that of an audit for audits."""

    problem: str
    answer_id: str
    correct: bool
    signals: Mapping[str, float | None]
    queue: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Refit:
    """Rows of one model that were drawn under the same conditions.

    `look` is 0 where the planned number of audits was graded before anybody looked, else it counts the looks;
    `left_out` were drawn under other conditions than most.
    """

    model: str
    fingerprint: str
    conditions: Mapping[str, Any]
    look: int
    planned: int
    audits: int
    left_out: int
    rows: tuple[RefitRow, ...]


def take(
    db: Connection, options: FeedbackOptions, model: str, fingerprint: str, since: float, by: str, now: float
) -> Refit:
    """The graded rows of a model since then; that somebody looked at them is kept."""
    graded = _graded(db, fingerprint, since)
    ways = Counter(_way(row) for row in graded)
    most = ways.most_common(1)[0][0] if ways else "{}"
    rows = [row for row in graded if _way(row) == most]
    audits = sum(row["queue"] == "audit" for row in rows)
    look = _look(db, options, fingerprint, since, audits)
    values = {"at": now, "by": by, "since": since, "fingerprint": fingerprint, "look": look}
    db.execute(insert(refits).values(**values, audits=audits, learned=len(rows) - audits))
    return Refit(
        model=model,
        fingerprint=fingerprint,
        conditions=json.loads(most),
        look=look,
        planned=options.planned,
        audits=audits,
        left_out=len(graded) - len(rows),
        rows=tuple(_row(row) for row in rows),
    )


def _graded(db: Connection, fingerprint: str, since: float) -> Sequence[Mapping[str, Any]]:
    """Items with a verdict. An audit that was skipped for good counts as wrong: what cannot be judged is not vouched
    for, and leaving it out would make the sample one of easy answers."""
    settled = (answers.c.state == "graded") | ((answers.c.state == "skipped") & (answers.c.queue == "audit"))
    found = select(answers).join(epochs).where(epochs.c.fingerprint == fingerprint)
    found = found.where(answers.c.queue.is_not(None), settled, answers.c.created >= since)
    return [dict(row) for row in db.execute(found.order_by(answers.c.created, answers.c.id)).mappings()]


def _way(row: Mapping[str, Any]) -> str:
    return json.dumps(row["conditions"], sort_keys=True)


def _look(db: Connection, options: FeedbackOptions, fingerprint: str, since: float, audits: int) -> int:
    """0 for the first look, if all that was planned is graded; else one more than the looks at these rows so far."""
    seen = select(func.count()).select_from(refits).where(refits.c.fingerprint == fingerprint, refits.c.at > since)
    looks = db.scalar(seen) or 0
    return 0 if not looks and audits >= options.planned else looks + 1


def _row(row: Mapping[str, Any]) -> RefitRow:
    return RefitRow(
        problem=row["problem"],
        answer_id=row["id"],
        correct=row["state"] == "graded" and bool(row["correct"]),
        signals=row["signals"],
        queue=row["queue"],
        weight=1.0 if row["queue"] == "audit" else 1 / row["probability"],
    )
