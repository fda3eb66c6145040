"""A calibrator beside the served one: what it would have decided about the answers that were given, and who was right.

It is computed behind the reply, from the signals that the reply needed anyway, and changes nothing about it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, insert, select

from demur.calibration.matching import ServedCalibrator
from demur.calibration.store import CalibratorStore
from demur.core.answers import ParsedConfidence
from demur.core.threshold import decide_claim
from demur.feedback.record import Row
from demur.feedback.tables import answers, grades, shadows

WHOLE = -1
"""In place of a claim's number: the whole answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Decisions of one calibrator beside those of the served one.

    Of `decisions` answers (claims, where claims are decided on) `both` were or would have been given by both, and so
    on. Of those that were audited, `right` and `wrong` count each kind.
    """

    calibrator: str
    served: str
    decisions: int
    both: int
    only_served: int
    only_shadow: int
    neither: int
    right: Mapping[str, int]
    wrong: Mapping[str, int]


def kind_of(old: bool, new: bool) -> str:
    """What became of an answer: given by both, by one of them, or by neither."""
    return {(True, True): "both", (True, False): "only_served", (False, True): "only_shadow"}.get((old, new), "neither")


def beside(rows: Iterable[Row], store: CalibratorStore) -> list[dict[str, Any]]:
    """What the shadows of a store say of rows that its calibrators decided; rows that they do not fit are left out."""
    served = {one.calibrator.id: one for one in store.loaded}
    return [
        found
        for row in rows
        if (old := served.get(row["calibrator"] or "")) is not None
        for new in store.shadows
        if _fits(new, row)
        for found in _of(row, old, new)
    ]


def keep(db: Connection, compared: Sequence[Mapping[str, Any]]) -> None:
    """Write what `beside` found."""
    if compared:
        db.execute(insert(shadows), [dict(one) for one in compared])


def _fits(new: ServedCalibrator, row: Row) -> bool:
    """Whether it would have been applied, and has all signals that it takes."""
    conditions = row["conditions"]
    voted_alike = new.source == conditions.get("source")
    return voted_alike and new.misfit(conditions) is None and set(new.calibrator.signals) <= row["signals"].keys()


def _of(row: Row, old: ServedCalibrator, new: ServedCalibrator) -> Iterator[dict[str, Any]]:
    """One entry for the answer, or for each of its claims."""
    at = _threshold(row, new)
    about = {"answer_id": row["id"], "calibrator": new.calibrator.id, "served": old.calibrator.id}
    if new.calibrator.level == "claims":
        for claim, (_, stated) in enumerate(row["claims"]):
            first, second = old.of_claim(stated), new.of_claim(stated)
            decided = decide_claim(first, row["risk_threshold"]) == "assert"
            other = at is not None and decide_claim(second, at) == "assert"
            yield about | {"claim": claim, "confidence": second, "old": decided, "new": other}
        return
    read = {name: ParsedConfidence("missing" if p is None else "value", p) for name, p in row["signals"].items()}
    confidence = new.confidence(read).value
    could = row["reason"] in (None, "below_threshold")  # what has no answer has none under any confidence
    given = could and at is not None and confidence is not None and confidence >= at
    yield about | {"claim": WHOLE, "confidence": confidence, "old": row["decision"] == "answer", "new": given}


def _threshold(row: Row, new: ServedCalibrator) -> float | None:
    """What the caller asked for: a threshold, or the error rate that was promised, None where it is not certified."""
    if row.get("max_error") is None:
        return row["risk_threshold"]
    held = new.calibrator.guarantee_for(row["max_error"])
    return None if held is None else held.threshold


def comparisons(db: Connection) -> list[Compared]:
    """What is known of each calibrator that ever computed beside another one, the one that was newest first."""
    verdict = _verdict()
    grouped = (
        select(shadows.c.calibrator, shadows.c.served, shadows.c.old, shadows.c.new, verdict, func.count())
        .join(answers, answers.c.id == shadows.c.answer_id)
        .group_by(shadows.c.calibrator, shadows.c.served, shadows.c.old, shadows.c.new, verdict)
    )
    found: dict[tuple[str, str], dict[str, dict[str | None, int]]] = {}
    for calibrator, served, old, new, said, count in db.execute(grouped):
        kinds = found.setdefault((calibrator, served), {})
        kinds.setdefault(kind_of(bool(old), bool(new)), {})[said] = count
    newest = select(shadows.c.calibrator, func.max(answers.c.created)).join(answers).group_by(shadows.c.calibrator)
    last = {row[0]: row[1] for row in db.execute(newest)}
    ordered = sorted(found.items(), key=lambda item: -last[item[0][0]])
    return [_compared(calibrator, served, kinds) for (calibrator, served), kinds in ordered]


def _verdict() -> ColumnElement[str | None]:
    """Of an audit: right, wrong, or null where nobody has said. What was skipped for good counts as wrong."""
    about_claim = and_(
        grades.c.answer_id == shadows.c.answer_id,
        grades.c.claim == shadows.c.claim,
        grades.c.sample.is_(None),
        grades.c.source.in_(["audit", "judge"]),
    )
    last = select(grades.c.verdict).where(about_claim).order_by(grades.c.id.desc()).limit(1).scalar_subquery()
    of_claim = case((last == "right", "right"), (last.in_(["wrong", "skipped"]), "wrong"))
    right = and_(answers.c.state == "graded", answers.c.correct.is_(True))
    of_answer = case((right, "right"), (answers.c.state.in_(["graded", "skipped"]), "wrong"))
    said = case((shadows.c.claim == WHOLE, of_answer), else_=of_claim)
    return case((answers.c.queue == "audit", said)).label("verdict")


def _compared(calibrator: str, served: str, kinds: Mapping[str, Mapping[str | None, int]]) -> Compared:
    sums = {kind: sum(counts.values()) for kind, counts in kinds.items()}
    return Compared(
        calibrator=calibrator,
        served=served,
        decisions=sum(sums.values()),
        both=sums.get("both", 0),
        only_served=sums.get("only_served", 0),
        only_shadow=sums.get("only_shadow", 0),
        neither=sums.get("neither", 0),
        right={kind: counts["right"] for kind, counts in kinds.items() if "right" in counts},
        wrong={kind: counts["wrong"] for kind, counts in kinds.items() if "wrong" in counts},
    )
