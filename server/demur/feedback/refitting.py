"""`demur calibrate --feedback`: graded answers out of a server, or out of its database, as rows for a calibrator.

Audits are a plain random sample, so thresholds are certified on them; what was graded to learn from makes the map, each
row weighted by how unlikely it was to be drawn. Where there are too few of those, the audits are split as ever.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from demur.calibration.errors import CalibrationError
from demur.calibration.graded_source import GradedSource
from demur.calibration.matching import OWN
from demur.calibration.row_checks import FEWEST_ROWS, check_enough
from demur.calibration.rows import SignalRow, with_names
from demur.evaluation.rows import Level
from demur.feedback.remote import ask_server, at_database, is_server

QUEUES = {"audit": "the audits", "learn": "those to learn from"}
Refit = Mapping[str, Any]
"""A `refits.Refit` as JSON, with its rows."""


def read_refit(place: str, since: float, level: Level = "response", *, judge: bool = True) -> Refit:
    """The graded rows of a server (http:// or https://, the key in DEMUR_API_KEY) or of a database; without `judge`
    none that a judge graded.

    Raises CalibrationError.
    """
    if is_server(place):
        asked = {"since": since, "level": level} | ({} if judge else {"judge": False})
        return ask_server(place, "POST", "/v1/feedback/refits", asked)
    return _from_database(place, since, level, judge)


def source_of(refit: Refit, *, split: bool, raw: bool = False) -> GradedSource:
    """Rows and what they may be applied to. With `split`, those to learn from make the map where they can; with `raw`
    there is no map.

    Where audits have no part in the map each of them certifies: they are independent draws of all that is answered, in
    which a question that is asked often comes often. Elsewhere answers to one question stay together, and one counts.
    Raises CalibrationError for too few audits.
    """
    audits = [_row(row) for row in refit["rows"] if row["queue"] == "audit"]
    certified_on = {row.problem for row in audits}
    others = [_row(row) for row in refit["rows"] if row["queue"] == "learn" and row["problem"] not in certified_on]
    level = refit["level"]
    check_enough(with_names(audits, level), "the audits" if level == "response" else "the claims of the audits")
    fits = split and _teaches(others)
    if fits or raw:
        audits = [replace(row, problem=f"{row.record['answer_id']}") for row in audits]
    rows = [*others, *audits] if fits else audits
    conditions = refit["conditions"]
    own = {name: conditions.get(name) for name in OWN}
    sampling = {name: value for name, value in conditions.items() if name not in OWN}
    fitting = np.arange(len(rows)) < len(others) if fits else None
    model = {"name": refit["model"], "fingerprint": refit["fingerprint"]}
    return GradedSource(with_names(rows, level), model, {**own, "sampling": sampling}, fitting)


def told(refit: Refit) -> str:
    """How many rows there are, and which look at them this is."""
    learned = len({row["answer_id"] for row in refit["rows"] if row["queue"] == "learn"})
    text = f"{refit['audits']} audits and {learned} answers to learn from"
    if refit["level"] == "claims":
        text += f", {len(refit['rows'])} claims in all"
    if refit["unjudged"]:
        text += f"; {refit['unjudged']} claims of audits have no verdict and count as wrong: grade every step"
    if refit["put_off"]:
        text += f"; {refit['put_off']} audits were put off until later and count as wrong: grade them"
    if refit["beyond"]:
        text += f"; {refit['beyond']} audits beyond the {refit['planned']} that were planned are kept for another look"
    text += _judged(refit)
    if refit["left_out"]:
        text += f"; {refit['left_out']} others were asked for differently and are left out"
    if refit["look"]:
        text += (
            f"; {refit['planned']} audits were planned, so this is look {refit['look']} and every promise is tested at"
            f" delta / 2^{refit['look']}"
        )
    return text


def _judged(refit: Refit) -> str:
    """Whose verdicts these are, where they are not people's."""
    counts = {queue: _judged_answers(refit, queue) for queue in QUEUES}
    told = [f"{count} of {words}" for queue, words in QUEUES.items() if (count := counts[queue])]
    return f"; a judge graded {' and '.join(told)} (--no-judge leaves them out)" if told else ""


def _judged_answers(refit: Refit, queue: str) -> int:
    return len({row["answer_id"] for row in refit["rows"] if row["judged"] and row["queue"] == queue})


def _teaches(rows: list[SignalRow]) -> bool:
    right = sum(row.correct is True for row in rows)
    return len(rows) >= FEWEST_ROWS and 0 < right < len(rows)


def _row(row: Mapping[str, Any]) -> SignalRow:
    return SignalRow(
        problem=row["problem"],
        sample=0,
        claim=row["claim"],
        correct=row["correct"],
        signals=row["signals"],
        group=None,
        question=None,
        record=row,
        weight=row["weight"],
    )


def _from_database(place: str, since: float, level: Level, judge: bool) -> Refit:
    with at_database(place) as (db, model, fingerprint):
        from demur.feedback import refits
        from demur.feedback.errors import JudgedAudits
        from demur.feedback.opening import options_of
        from demur.settings import Settings

        asked = since, "command", time.time(), level
        try:
            taken = refits.take(db, options_of(Settings()), model, fingerprint, *asked, judge=judge)
        except JudgedAudits as error:
            raise CalibrationError(f"--no-judge: {error}") from None
    return asdict(taken)
