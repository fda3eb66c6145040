"""The drift test: an e-process over audited answers, in the order of their first verdicts.

Only what the server would answer under the promise counts: audits at least as sure as its threshold, whatever the
caller asked for. Of those at most `max_error` may be wrong. The state is kept after each step; corrections, deletions
and restarts leave it as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from demur.core.calibration.drift import Drift, alpha_of_refit
from demur.feedback.options import FeedbackOptions
from demur.feedback.tables import drift, epochs, tested


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One test as it stands. `e_value` is the evidence against "at most max_error wrong", `alarm_at` when it reached
    1 / alpha, in seconds since 1970."""

    name: str
    max_error: float
    threshold: float
    count: int
    wrong: int
    e_value: float
    alpha: float
    alarm_at: float | None


def name_of(db: Connection, answer: Mapping[str, Any]) -> str:
    """What is watched: the calibrator, or the model whose own confidence was served, by its fingerprint."""
    if answer["calibrator"] is not None:
        return answer["calibrator"]
    return db.execute(select(epochs.c.fingerprint).where(epochs.c.id == answer["epoch"])).scalar_one()


def add(db: Connection, answer: Mapping[str, Any], wrong: bool, options: FeedbackOptions, now: float) -> bool:
    """Count the first verdict on an audit; later ones, and answers below the threshold, change nothing.

    Returns whether an alarm began.
    """
    if answer["queue"] != "audit" or answer["confidence"] is None or answer["confidence"] < answer["promise_threshold"]:
        return False
    if db.scalar(select(tested.c.answer_id).where(tested.c.answer_id == answer["id"])) is not None:
        return False
    db.execute(insert(tested).values(answer_id=answer["id"]))
    promise = name_of(db, answer), answer["promise_error"], answer["promise_threshold"]
    row = _row(db, promise, options.alpha, now)
    before = Drift(answer["promise_error"], row["count"], row["wealth"], row["weight"], row["errors"], row["peak"])
    after = before.add(wrong)
    rings = row["alarm_at"] is None and after.alarm(row["alpha"])
    state = {field: getattr(after, field) for field in ("count", "wealth", "weight", "errors", "peak")}
    state |= {"wrong": row["wrong"] + wrong, "updated": now, "alarm_at": now if rings else row["alarm_at"]}
    db.execute(update(drift).where(*_is(promise)).values(**state))
    return rings


Promise = tuple[str, float, float]
"""What is watched, the error rate and the threshold."""


def _is(promise: Promise) -> tuple[Any, ...]:
    return tuple(
        column == value
        for column, value in zip((drift.c.name, drift.c.max_error, drift.c.threshold), promise, strict=True)
    )


def _row(db: Connection, promise: Promise, alpha: float, now: float) -> Mapping[str, Any]:
    """The state, locked. A new test may spend its part of alpha only, so that all together stay within it."""
    found = select(drift).where(*_is(promise)).with_for_update()
    row = db.execute(found).mappings().first()
    if row is None:  # one program at a time begins a test: a lock on the first epoch stands for that
        db.execute(select(epochs.c.id).order_by(epochs.c.id).limit(1).with_for_update(key_share=True))
        row = db.execute(found).mappings().first()
    if row is not None:
        return dict(row)
    number = db.scalar(select(func.count()).select_from(drift)) or 0
    new = Drift.start(promise[1])
    values: dict[str, Any] = dict(zip(("name", "max_error", "threshold"), promise, strict=True))
    values |= {field: getattr(new, field) for field in ("count", "wealth", "weight", "errors", "peak")}
    values |= {"wrong": 0, "alpha": alpha_of_refit(alpha, number), "alarm_at": None, "updated": now}
    db.execute(insert(drift).values(**values))
    return values


def watched(db: Connection) -> list[Watched]:
    """Every test, the one that was fed last first."""
    rows = db.execute(select(drift).order_by(drift.c.updated.desc(), drift.c.name)).mappings()
    return [
        Watched(
            name=row["name"],
            max_error=row["max_error"],
            threshold=row["threshold"],
            count=row["count"],
            wrong=row["wrong"],
            e_value=row["wealth"] + 1 / (row["count"] + 1),
            alpha=row["alpha"],
            alarm_at=row["alarm_at"],
        )
        for row in rows
    ]
