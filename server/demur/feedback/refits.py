"""Graded answers for `demur calibrate`: audits to certify on, others to learn from, and how often somebody looked."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from demur.core.answers import Granularity
from demur.feedback.errors import JudgedAudits
from demur.feedback.grades import Held, claims_held
from demur.feedback.options import FeedbackOptions
from demur.feedback.tables import answers, epochs, refits


@dataclass(frozen=True, slots=True, kw_only=True)
class RefitRow:
    """One graded answer or claim. `weight` is 1 for an audit, and for an answer to learn from 1 / the chance that it
    had of being drawn. `judged`: a model gave the verdict."""

    problem: str
    answer_id: str
    claim: int | None
    correct: bool
    signals: Mapping[str, float | None]
    queue: str
    weight: float
    judged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refit:
    """Rows of one model that were drawn under the same conditions.

    `look` is 0 where the planned number of audits was graded before anybody looked, else it counts the looks;
    `left_out` answers were drawn under other conditions than most. `audits` counts answers, whatever the level is.
    `unjudged` claims of audits have no verdict of their own and count as wrong, as do `put_off` audits. At look 0 those
    `beyond` the planned number are no part of it: when to stop would be a choice.
    """

    level: Granularity
    model: str
    fingerprint: str
    conditions: Mapping[str, Any]
    look: int
    planned: int
    audits: int
    left_out: int
    unjudged: int
    put_off: int
    beyond: int
    rows: tuple[RefitRow, ...]


def take(
    db: Connection,
    options: FeedbackOptions,
    model: str,
    fingerprint: str,
    since: float,
    by: str,
    now: float,
    level: Granularity = "response",
    *,
    judge: bool = True,
) -> Refit:
    """The graded rows of a model for a calibrator, of answers that were decided on at this level, and the look counted.

    `since` and `now` are in seconds since 1970. Without `judge`, no row that a judge graded is among them: raises
    JudgedAudits where audits would be, and then no look is counted.
    """
    graded = _graded(db, fingerprint, since, level)
    ways = Counter(_way(row) for row in graded)
    most = ways.most_common(1)[0][0] if ways else "{}"
    usable = [row for row in graded if _way(row) == most]
    held = claims_held(db, [row["id"] for row in usable]) if level == "claims" else {}
    rows = tuple(_claims(usable, held) if level == "claims" else map(_whole, usable))
    if not judge:
        rows = _of_people(rows)
        there = {row.answer_id for row in rows}
        usable = [row for row in usable if row["id"] in there or row["queue"] == "audit"]
    done = [row for row in usable if row["queue"] == "audit"]
    look = _look(db, options, fingerprint, since, len(done), level)
    beyond = _beyond(done, options.planned) if look == 0 else frozenset[str]()
    usable = [row for row in usable if row["id"] not in beyond]
    rows = tuple(row for row in rows if row.answer_id not in beyond)
    audits = len(done) - len(beyond)
    values = {"at": now, "by": by, "since": since, "fingerprint": fingerprint, "look": look, "level": level}
    db.execute(insert(refits).values(**values, audits=audits, learned=len(usable) - audits))
    return Refit(
        level=level,
        model=model,
        fingerprint=fingerprint,
        conditions=json.loads(most),
        look=look,
        planned=options.planned,
        audits=audits,
        left_out=len(graded) - len(usable) - len(beyond),
        unjudged=_unjudged(usable, held) if level == "claims" else 0,
        put_off=sum(row["state"] == "open" for row in usable),
        beyond=len(beyond),
        rows=rows,
    )


def _of_people(rows: Sequence[RefitRow]) -> tuple[RefitRow, ...]:
    """Rows that no judge graded. Raises JudgedAudits: a judge leaves to people what it cannot tell, so that what people
    graded beside it is what is hard to tell, and no plain sample of all answers."""
    audits = {row.answer_id for row in rows if row.judged and row.queue == "audit"}
    if audits:
        raise JudgedAudits(
            f"a judge graded {len(audits)} of the audits, so those that people graded are no plain sample; take audits"
            " since a day from which on people graded all of them, without DEMUR_JUDGE_AUDITS",
            "judge",
        )
    return tuple(row for row in rows if not row.judged)


def _graded(db: Connection, fingerprint: str, since: float, level: Granularity) -> Sequence[Mapping[str, Any]]:
    """Items with a verdict. An audit that was skipped for good, or put off until later, counts as wrong: what somebody
    looked at and did not judge is not vouched for, and leaving it out would make the sample one of easy answers."""
    looked_at = (answers.c.state == "skipped") | (answers.c.skips > 0)
    done = (answers.c.state == "graded") | (looked_at & (answers.c.queue == "audit"))
    found = select(answers).join(epochs).where(epochs.c.fingerprint == fingerprint)
    found = found.where(answers.c.queue.is_not(None), done, answers.c.created >= since)
    rows = [dict(row) for row in db.execute(found.order_by(answers.c.created, answers.c.id)).mappings()]
    return [row for row in rows if (row["conditions"].get("granularity") == "claims") == (level == "claims")]


def _way(row: Mapping[str, Any]) -> str:
    return json.dumps(row["conditions"], sort_keys=True)


def _look(
    db: Connection, options: FeedbackOptions, fingerprint: str, since: float, audits: int, level: Granularity
) -> int:
    """0 for the first look, if all that was planned is graded; else one more than the looks at these rows so far."""
    same = refits.c.fingerprint == fingerprint, refits.c.level == level
    looks = db.scalar(select(func.count()).select_from(refits).where(*same, refits.c.at > since)) or 0
    return 0 if not looks and audits >= options.planned else looks + 1


def _beyond(audits: Sequence[Mapping[str, Any]], planned: int) -> frozenset[str]:
    """The audits after the planned number, in the order in which they were handed out: which these are does not depend
    on how many more were graded."""
    return frozenset(row["id"] for row in sorted(audits, key=lambda row: row["rank"])[planned:])


def _whole(row: Mapping[str, Any]) -> RefitRow:
    right = row["state"] == "graded" and bool(row["correct"])
    return _row(row, None, right, row["signals"], judged=bool(row["judged"]))


def _claims(rows: Sequence[Mapping[str, Any]], held: Mapping[tuple[str, int], Held]) -> Iterator[RefitRow]:
    """Every claim of an audit, one without a verdict as wrong: whoever grades might leave the hard ones out. Of what is
    learned from, only those with a verdict."""
    for row in rows:
        for claim, (_, stated) in enumerate(row["claims"]):
            said = held.get((row["id"], claim))
            if said is not None or row["queue"] == "audit":
                right, judged = (said.right, said.judged) if said else (False, bool(row["judged"]))
                yield _row(row, claim, right, {"verbalized": stated}, judged=judged)


def _unjudged(rows: Sequence[Mapping[str, Any]], held: Mapping[tuple[str, int], Held]) -> int:
    audits = [row for row in rows if row["queue"] == "audit"]
    return sum((row["id"], claim) not in held for row in audits for claim in range(len(row["claims"])))


def _row(
    row: Mapping[str, Any], claim: int | None, right: bool, signals: Mapping[str, float | None], *, judged: bool
) -> RefitRow:
    return RefitRow(
        problem=row["problem"],
        answer_id=row["id"],
        claim=claim,
        correct=right,
        signals=signals,
        queue=row["queue"],
        weight=1.0 if row["queue"] == "audit" else 1 / row["probability"],
        judged=judged,
    )
