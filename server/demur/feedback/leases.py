"""Who grades what now: an item that somebody has taken is nobody else's until the lease runs out."""

import secrets
from typing import Any

from sqlalchemy import Connection, func, or_, select, update

from demur.feedback.options import QueueName
from demur.feedback.tables import answers


def claim(
    db: Connection, queue: QueueName, grader: str, limit: int, lease: float, now: float, *, with_text: bool = True
) -> list[dict[str, Any]]:
    """Take up to `limit` open items of a queue, each for `lease` seconds: those skipped least, then by rank.

    PostgreSQL passes over rows that another transaction is taking; SQLite lets one transaction write at a time.
    """
    free = or_(answers.c.leased_until.is_(None), answers.c.leased_until < now)
    where = [answers.c.queue == queue, answers.c.state == "open", free]
    where += [answers.c.messages.is_not(None)] if with_text else []
    found = select(answers).where(*where).order_by(answers.c.skips, answers.c.rank).limit(limit)
    items = [dict(row) for row in db.execute(found.with_for_update(skip_locked=True)).mappings()]
    for item in items:
        item |= {"lease": f"lea_{secrets.token_hex(12)}", "leased_by": grader, "leased_until": now + lease}
        taken = {name: item[name] for name in ("lease", "leased_by", "leased_until")}
        db.execute(update(answers).where(answers.c.id == item["id"]).values(**taken))
    return items


def progress(db: Connection, queue: QueueName, since: float = 0.0) -> dict[str, int]:
    """How many items of a queue are open, graded and skipped for good, of answers given at `since` or later, in seconds
    since 1970."""
    counted = (
        select(answers.c.state, func.count())
        .where(answers.c.queue == queue, answers.c.created >= since)
        .group_by(answers.c.state)
    )
    found = {row[0]: row[1] for row in db.execute(counted)}
    return {state: found.get(state, 0) for state in ("open", "graded", "skipped")}
