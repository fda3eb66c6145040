"""Answers in the database: written, deleted, forgotten after a time."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, desc, insert, select

from demur.feedback.errors import UnknownAnswer
from demur.feedback.options import FeedbackOptions
from demur.feedback.record import Row
from demur.feedback.tables import answers, epochs, tested

DAY = 86_400.0


def epoch_of(db: Connection, options: FeedbackOptions, model: str, fingerprint: str, now: float) -> int:
    """The number of the epoch that goes on, or of a new one where shares or model are not those of the last."""
    values = {
        "audit_share": options.audit_share,
        "learn_share": options.learn_share,
        "model": model[:512],
        "fingerprint": fingerprint,
    }
    last = db.execute(select(epochs).order_by(desc(epochs.c.id)).limit(1)).mappings().first()
    if last is not None and all(last[name] == value for name, value in values.items()):
        return int(last["id"])
    return int(db.execute(insert(epochs).values(started=now, **values).returning(epochs.c.id)).scalar_one())


def write(db: Connection, epoch: int, rows: Sequence[Row]) -> list[Row]:
    """Insert rows; one whose id is there already is left out, so that a batch may be tried again. Gives the others."""
    ids = [row["id"] for row in rows]
    there = set(db.scalars(select(answers.c.id).where(answers.c.id.in_(ids))))
    new = [{**row, "epoch": epoch} for row in rows if row["id"] not in there]
    if new:
        db.execute(insert(answers), new)
    return list(new)


def read(db: Connection, answer_id: str, *, change: bool = False) -> dict[str, Any]:
    """One answer; with `change` nobody else changes it until the transaction ends. Raises UnknownAnswer."""
    found = select(answers).where(answers.c.id == answer_id)
    row = db.execute(found.with_for_update() if change else found).mappings().first()
    if row is None:
        raise UnknownAnswer(f"no answer {answer_id!r:.60} is kept here", "answer_id")
    return dict(row)


def remove(db: Connection, answer_id: str) -> None:
    """Delete an answer with its grades and texts. Raises UnknownAnswer."""
    if not db.execute(delete(answers).where(answers.c.id == answer_id)).rowcount:
        raise UnknownAnswer(f"no answer {answer_id!r:.60} is kept here", "answer_id")
    db.execute(delete(tested).where(tested.c.answer_id == answer_id))


def forget(db: Connection, keep_days: float, now: float) -> int:
    """Delete the answers that were given more than `keep_days` days before `now`, in seconds since 1970; how many."""
    old = answers.c.created < now - keep_days * DAY
    gone = select(answers.c.id).where(old)
    db.execute(delete(tested).where(tested.c.answer_id.in_(gone)))
    return db.execute(delete(answers).where(old)).rowcount
