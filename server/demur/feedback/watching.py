"""The drift test: e-processes over audited answers, in the order of their first verdicts.

One tests the promise: of what the server would answer under it, audits at least as sure as its threshold, whatever the
caller asked for, at most `max_error` may be wrong. Under a calibrator a second one tests what all audits state: on the
whole no more may be wrong than their probabilities allow. The mean of the two is what rings. The state is kept after
each step; corrections, deletions and restarts leave it as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from demur.core.calibration.drift import Drift, Overconfidence, alpha_of_refit, average
from demur.feedback.options import FeedbackOptions
from demur.feedback.tables import drift, epochs, tested


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One test as it stands. `e_value` is the evidence that something has drifted, `alarm_at` when it reached
    1 / alpha, in seconds since 1970. It is the mean of `processes`: "promise", evidence against "at most max_error
    wrong", and under a calibrator "confidence", evidence that the probabilities it gives have become too high."""

    name: str
    max_error: float
    threshold: float
    count: int
    wrong: int
    e_value: float
    alpha: float
    alarm_at: float | None
    processes: Mapping[str, float]


def name_of(db: Connection, answer: Mapping[str, Any]) -> str:
    """What is watched: the calibrator, or the model whose own confidence was served, by its fingerprint."""
    if answer["calibrator"] is not None:
        return answer["calibrator"]
    return db.execute(select(epochs.c.fingerprint).where(epochs.c.id == answer["epoch"])).scalar_one()


def add(
    db: Connection, answer: Mapping[str, Any], claim: int | None, wrong: bool, options: FeedbackOptions, now: float
) -> bool:
    """Count the first verdict on an audit, or on the claim of it that was drawn for this; others change nothing.

    Returns whether an alarm began.
    """
    confidence = _tested_confidence(answer, claim)
    reaches = confidence is not None and confidence >= answer["promise_threshold"]
    if answer["queue"] != "audit" or confidence is None or not (reaches or answer["calibrator"] is not None):
        return False
    if db.scalar(select(tested.c.answer_id).where(tested.c.answer_id == answer["id"])) is not None:
        return False
    db.execute(insert(tested).values(answer_id=answer["id"]))
    promise = name_of(db, answer), answer["promise_error"], answer["promise_threshold"]
    row = _row(db, promise, options.alpha, now, calibrated=answer["calibrator"] is not None)
    kept, stated = _drift_of(row), _stated_of(row, options)
    kept = kept.add(wrong) if reaches else kept
    stated = stated.add(wrong, confidence) if row["calibrated"] else stated
    peak = max(row["peak"], average([kept.value, stated.value]) if row["calibrated"] else kept.value)
    rings = row["alarm_at"] is None and peak >= 1 / row["alpha"]
    state = {field: getattr(kept, field) for field in ("count", "wealth", "weight", "errors")} | _columns(stated)
    state |= {"peak": peak, "wrong": row["wrong"] + (wrong and reaches), "updated": now}
    db.execute(update(drift).where(*_is(promise)).values(**state, alarm_at=now if rings else row["alarm_at"]))
    return rings


def _tested_confidence(answer: Mapping[str, Any], claim: int | None) -> float | None:
    """That of the answer, or of the claim of it that was drawn; None where this verdict is about neither."""
    if answer["conditions"].get("granularity") != "claims":
        return answer["confidence"] if claim is None else None
    return answer["drift_confidence"] if claim is not None and claim == answer["drift_claim"] else None


def _drift_of(row: Mapping[str, Any]) -> Drift:
    return Drift(row["max_error"], row["count"], row["wealth"], row["weight"], row["errors"], row["peak"])


def _stated_of(row: Mapping[str, Any], options: FeedbackOptions) -> Overconfidence:
    return Overconfidence(
        options.slack, row["stated"], row["stated_wealth"], row["stated_weight"], row["stated_excess"]
    )


def _columns(stated: Overconfidence) -> dict[str, float]:
    return {
        "stated": stated.count,
        "stated_wealth": stated.wealth,
        "stated_weight": stated.weight,
        "stated_excess": stated.excess,
    }


Promise = tuple[str, float, float]
"""What is watched, the error rate and the threshold."""


def _is(promise: Promise) -> tuple[Any, ...]:
    return tuple(
        column == value
        for column, value in zip((drift.c.name, drift.c.max_error, drift.c.threshold), promise, strict=True)
    )


def _row(db: Connection, promise: Promise, alpha: float, now: float, *, calibrated: bool) -> Mapping[str, Any]:
    """The state, locked. Which processes a test has does not change once it began, since their mean would be none. A
    new test may spend its part of alpha only, so that all together stay within it."""
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
    values |= _columns(Overconfidence.start(0.0)) | {"calibrated": calibrated}
    values |= {"wrong": 0, "alpha": alpha_of_refit(alpha, number), "alarm_at": None, "updated": now}
    db.execute(insert(drift).values(**values))
    return values


def watched(db: Connection) -> list[Watched]:
    """Every test, the one that was fed last first."""
    rows = db.execute(select(drift).order_by(drift.c.updated.desc(), drift.c.name)).mappings()
    return [_watched(dict(row)) for row in rows]


def _watched(row: Mapping[str, Any]) -> Watched:
    processes = {"promise": row["wealth"] + 1 / (row["count"] + 1)}
    if row["calibrated"]:
        processes["confidence"] = row["stated_wealth"] + 1 / (row["stated"] + 1)
    return Watched(
        name=row["name"],
        max_error=row["max_error"],
        threshold=row["threshold"],
        count=row["count"],
        wrong=row["wrong"],
        e_value=average(list(processes.values())),
        alpha=row["alpha"],
        alarm_at=row["alarm_at"],
        processes=processes,
    )
