"""Verdicts: given, corrected, taken back. Every one is kept; the last of a grader about one thing holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import Connection, desc, func, insert, select, update

from demur.core.equivalence import is_correct
from demur.feedback import stored_answers as kept
from demur.feedback.errors import BadGrade, LeaseLost, UnknownAnswer
from demur.feedback.options import FeedbackOptions
from demur.feedback.tables import answers, grades
from demur.feedback.watching import add

Verdict = Literal["right", "wrong", "undone", "skipped", "later", "release"]
GradeSource = Literal["audit", "learn", "volunteered", "gold", "judge"]
QUEUES = ("audit", "learn", "judge")
"""Sources that verdicts have which came with a lease: a person's are those of the queue, a judge's are marked."""
MOST_AT_ONCE = 500
"""Answers that one query asks for."""
MOST_GRADES = 200
"""Of one answer, corrections included: nobody needs more, and a loop would fill the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One verdict as it comes: about an answer, one of its claims (from 0) or one of its samples.

    `lease` shows that the item was taken from a queue. `skipped` is for good, `later` puts the item behind the others
    and `release` gives it back. `gold` marks a verdict that is made by comparing with a known answer, which counts for
    the queue that the item was taken from, and `judge` one that a model gave.
    """

    answer_id: str
    verdict: Verdict
    claim: int | None = None
    sample: int | None = None
    lease: str | None = None
    gold: str | None = None
    judge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grader:
    """Who grades: the id of a key, and whether it may grade answers of others."""

    name: str
    may_grade: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A verdict as it is kept. `repeated`: it was there already. `alarm`: the drift test began to ring."""

    answer_id: str
    claim: int | None
    sample: int | None
    verdict: Verdict
    source: GradeSource
    at: float
    repeated: bool = False
    alarm: bool = False


def give(db: Connection, given: Given, grader: Grader, options: FeedbackOptions, now: float) -> Kept:
    """Keep a verdict. Raises UnknownAnswer, LeaseLost or BadGrade, and then nothing has changed."""
    answer = kept.read(db, given.answer_id, change=True)
    _check(answer, given, grader)
    _check_judge(answer, given, options)
    given = _compared(answer, given)
    source = _source(db, answer, given, grader)
    last = _last(db, given, grader, source)
    if last is not None and last["verdict"] == given.verdict:
        return _kept(given, source, float(last["at"]), repeated=True)
    if given.verdict in ("right", "wrong", "undone", "skipped"):
        if last is None and given.verdict == "undone":
            raise BadGrade("there is no verdict of this key to take back", "correct")
        _write(db, given, grader, source, now)
    alarm = False
    if given.sample is None and (source in QUEUES or (source == "gold" and given.lease is not None)):
        if given.claim is None:
            _requeue(db, answer, given, options, now)
        if given.verdict in ("right", "wrong", "skipped"):
            alarm = add(db, answer, given.claim, given.verdict != "right", options, now)
    return _kept(given, source, now, alarm=alarm)


def _check(answer: Mapping[str, Any], given: Given, grader: Grader) -> None:
    if not grader.may_grade and answer["caller"] != grader.name:
        raise UnknownAnswer(f"no answer {given.answer_id!r:.60} is kept here", "answer_id")
    if given.claim is not None and given.sample is not None:
        raise BadGrade("a verdict is about a claim or a sample, not both", "sample")
    if given.claim is not None and not 0 <= given.claim < len(answer["claims"]):
        raise BadGrade(f"the answer has {len(answer['claims'])} claims, counted from 0", "claim")
    if given.sample is not None and not 0 <= given.sample < answer["samples"]:
        raise BadGrade(f"the answer has {answer['samples']} samples, counted from 0", "sample")
    if given.lease is not None and given.lease != answer["lease"]:
        raise LeaseLost("the lease ran out, and the item went to somebody else; take another one", "lease")
    if given.lease is None and given.verdict in ("skipped", "later", "release"):
        raise BadGrade("only an item taken from the queue can be skipped; send its lease", "lease")
    if given.lease is not None and not grader.may_grade:
        raise LeaseLost("this key has not the right to grade", "lease")


def _check_judge(answer: Mapping[str, Any], given: Given, options: FeedbackOptions) -> None:
    """A judge's verdicts never certify anything, or ring, unless the operator says so."""
    if not given.judge:
        return
    if given.lease is None or given.gold is not None:
        raise BadGrade("a judge grades what it took from a queue; send its lease, and no gold", "judge")
    if answer["queue"] == "audit" and not options.judge_audits:
        raise BadGrade("audits are for people; DEMUR_JUDGE_AUDITS=true has a judge grade them in their place", "judge")


def _compared(answer: Mapping[str, Any], given: Given) -> Given:
    """With a known answer the verdict is whether the kept one means the same."""
    if given.gold is None:
        return given
    if given.claim is not None or given.sample is not None:
        raise BadGrade("a known answer is compared with the whole answer; leave claim and sample out", "gold")
    if answer["messages"] is None:
        raise BadGrade("the text of this answer was not kept, so nothing can be compared; send correct", "gold")
    return replace(given, verdict="right" if is_correct(answer["answer"], given.gold) else "wrong")


def _source(db: Connection, answer: Mapping[str, Any], given: Given, grader: Grader) -> GradeSource:
    """The queue, where the item was taken from it, and where its grader corrects the verdict; else volunteered."""
    if given.judge:
        return "judge"
    if given.gold is not None:
        return "gold"
    if answer["queue"] is None:
        return "volunteered"
    if given.lease is not None or (grader.may_grade and _graded_by(db, answer, given) == grader.name):
        return answer["queue"]
    return "volunteered"


def _graded_by(db: Connection, answer: Mapping[str, Any], given: Given) -> str | None:
    found = select(grades.c.grader).where(grades.c.source == answer["queue"], *_about(given))
    return db.scalar(found.order_by(desc(grades.c.id)).limit(1))


def _about(given: Given) -> tuple[Any, ...]:
    """Conditions on the same answer and the same claim or sample."""
    of = [grades.c.answer_id == given.answer_id]
    of += [grades.c.claim.is_(None) if given.claim is None else grades.c.claim == given.claim]
    of += [grades.c.sample.is_(None) if given.sample is None else grades.c.sample == given.sample]
    return tuple(of)


def _last(db: Connection, given: Given, grader: Grader, source: GradeSource) -> Mapping[str, Any] | None:
    found = select(grades).where(*_about(given), grades.c.grader == grader.name, grades.c.source == source)
    row = db.execute(found.order_by(desc(grades.c.id)).limit(1)).mappings().first()
    return None if row is None else dict(row)


def _write(db: Connection, given: Given, grader: Grader, source: GradeSource, now: float) -> None:
    count = db.scalar(select(func.count()).select_from(grades).where(grades.c.answer_id == given.answer_id)) or 0
    if count >= MOST_GRADES:
        raise BadGrade(f"this answer has {MOST_GRADES} verdicts already, corrections included", "answer_id")
    row = {"answer_id": given.answer_id, "claim": given.claim, "sample": given.sample, "verdict": given.verdict}
    db.execute(insert(grades).values(**row, source=source, grader=grader.name, at=now))
    if given.gold is not None:
        db.execute(update(answers).where(answers.c.id == given.answer_id).values(gold=given.gold))


def _requeue(db: Connection, answer: Mapping[str, Any], given: Given, options: FeedbackOptions, now: float) -> None:
    """What a verdict does to the item in its queue."""
    if given.verdict in ("later", "release") and answer["state"] != "open":
        return
    free = {"lease": None, "leased_by": None, "leased_until": None}
    changes: dict[Verdict, dict[str, Any]] = {
        "right": {"state": "graded", "correct": True, "judged": given.judge},
        "wrong": {"state": "graded", "correct": False, "judged": given.judge},
        "skipped": {"state": "skipped", "correct": None},
        "undone": {"state": "open", "correct": None, "leased_until": now + options.lease},
        "later": {"skips": answer["skips"] + 1, **free},
        "release": free,
    }
    db.execute(update(answers).where(answers.c.id == given.answer_id).values(**changes[given.verdict]))


def _kept(given: Given, source: GradeSource, at: float, *, repeated: bool = False, alarm: bool = False) -> Kept:
    return Kept(
        answer_id=given.answer_id,
        claim=given.claim,
        sample=given.sample,
        verdict=given.verdict,
        source=source,
        at=at,
        repeated=repeated,
        alarm=alarm,
    )


@dataclass(frozen=True, slots=True)
class Held:
    """The verdict on a claim that holds. `judged`: a model gave it."""

    right: bool
    judged: bool


def claims_held(db: Connection, answer_ids: Sequence[str]) -> dict[tuple[str, int], Held]:
    """The verdicts on claims that hold, of those that came through the queues, by answer and claim. What was skipped
    for good counts as wrong."""
    held: dict[tuple[str, int], Held] = {}
    for start in range(0, len(answer_ids), MOST_AT_ONCE):
        some = answer_ids[start : start + MOST_AT_ONCE]
        about_claims = grades.c.claim.is_not(None), grades.c.sample.is_(None), grades.c.source.in_(QUEUES)
        found = select(grades).where(grades.c.answer_id.in_(some), *about_claims).order_by(grades.c.id)
        for row in db.execute(found).mappings():
            about = row["answer_id"], row["claim"]
            if row["verdict"] == "undone":
                held.pop(about, None)
            else:
                held[about] = Held(row["verdict"] == "right", row["source"] == "judge")
    return held


def history(db: Connection, answer_id: str) -> list[dict[str, Any]]:
    """Every verdict on an answer, in the order they were given."""
    found = select(grades).where(grades.c.answer_id == answer_id).order_by(grades.c.id)
    return [dict(row) for row in db.execute(found).mappings()]
