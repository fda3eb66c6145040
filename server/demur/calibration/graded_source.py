"""What an evaluation's folder says about the answers it holds: rows, and what they may be applied to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.calibration.calibrator_file import digest_of
from demur.calibration.errors import CalibrationError
from demur.calibration.matching import OWN
from demur.calibration.row_checks import check_distinct
from demur.calibration.rows import SignalRows, read_signal_rows, with_names
from demur.calibration.votes import Voting, check_single, votes_of
from demur.evaluation.grades_file import GRADED, read_graded
from demur.evaluation.job import CLAIMS, ROWS
from demur.evaluation.rows import Level
from demur.evaluation.run_manifest import read_manifest
from demur.named_file import shown

_PLAIN = re.compile(r"[A-Za-z0-9_.:-]{1,60}", re.ASCII)


@dataclass(frozen=True, slots=True)
class GradedSource:
    """Graded rows and where they came from. `asked` holds the fields of the calibrator that requests are matched by; a
    file of rows says nothing about that, and `model` is None.

    `fitting` names the rows that make the map where that is decided already, as by the queue they were graded from; all
    rows are graded then.
    """

    rows: SignalRows
    model: Mapping[str, str | None] | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    fitting: NDArray[np.bool_] | None = None
    failures: int = 0
    """Questions of the run that got no answer."""


UNKNOWN: Mapping[str, Any] = {
    "contract": None,
    "prompt": None,
    "granularity": None,
    "aggregation": None,
    "sampling": {},
}


def read_source(place: Path, level: Level | None, voting: Voting | None = None) -> GradedSource:
    """Rows of a run's folder or of a file; with `voting` those of the votes that its samples would have come to.

    Raises CalibrationError or StoreError for what cannot be used.
    """
    if not place.is_dir():
        if voting is not None:
            raise CalibrationError(
                f"{shown(place)}: --samples needs the folder of a run with several samples a question"
            )
        rows = read_signal_rows(place, level)
        check_distinct(((row.problem, row.question) for row in rows.rows), shown(place))
        return GradedSource(rows, None, UNKNOWN)
    card = read_manifest(place)
    plan = card.get("plan")
    if not isinstance(plan, dict):
        raise CalibrationError(f"{shown(place)}: run.json has no plan: is it the folder of a run?")
    if voting is not None:
        return _of_votes(place, card, plan, level, voting)
    path = place / (CLAIMS if level == "claims" else ROWS)
    if not path.exists():
        raise CalibrationError(f"{shown(path)} is not there yet; go on with the run by the same demur evaluate command")
    rows = read_signal_rows(path, level, raw=plan.get("confidence_source") or "verbalized")
    _check_raw(card, rows, place)
    check_distinct(_questions(place, rows), shown(place))
    failures = int(card.get("failures") or 0)
    return GradedSource(rows, _model(card, plan), _asked(card, plan, rows.level), failures=failures)


def _of_votes(
    place: Path, card: dict[str, Any], plan: dict[str, Any], level: Level | None, voting: Voting
) -> GradedSource:
    if level == "claims":
        raise CalibrationError("--samples is for whole answers: leave out --level claims")
    check_single(plan, shown(place))
    rows = with_names(votes_of(read_graded(place), voting, shown(place)), "response")
    check_distinct(((row.problem, row.question) for row in rows.rows), shown(place))
    asked = _asked(card, plan, "response")
    asked |= {"sampling": voting.conditions(asked["sampling"])}
    return GradedSource(rows, _model(card, plan), asked, failures=int(card.get("failures") or 0))


def _questions(folder: Path, rows: SignalRows) -> list[tuple[str | int, str | None]]:
    if not (folder / GRADED).exists():
        return [(row.problem, row.question) for row in rows.rows]
    return [(one.question.id, one.question.text) for one in read_graded(folder)]


def _model(card: dict[str, Any], plan: dict[str, Any]) -> dict[str, str | None]:
    served = card.get("served") or {}
    return {"name": plan.get("model") or served.get("name"), "fingerprint": served.get("fingerprint")}


def _check_raw(card: dict[str, Any], rows: SignalRows, place: Path) -> None:
    decided_by = card.get("decided_by", "verbalized")
    if any("signals" in row.record for row in rows.rows) or decided_by not in (None, "calibrated"):
        return
    what = "have several sources" if decided_by is None else "are calibrated already"
    raise CalibrationError(
        f"{shown(place)}: the confidences of this run {what};"
        " make a run with demur evaluate --confidence-source verbalized, or with --include-signals verbalized"
    )


def _asked(card: dict[str, Any], plan: dict[str, Any], level: Level) -> dict[str, Any]:
    """What the answers were drawn under: as the server said it, else as the plan has it, which no server takes."""
    if not isinstance(conditions := card.get("conditions"), dict):
        return _planned(card, plan)
    own = {name: conditions.get(name) for name in OWN}
    if level == "claims":
        own |= {"granularity": "claims", "aggregation": None}
    return {**own, "sampling": {name: _value(value) for name, value in conditions.items() if name not in OWN}}


def _planned(card: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """Everything of the plan that decides what an answer looks like. Texts in it are kept as hashes."""
    chosen = plan.get("selection") is not None
    sampling = {name: plan.get(name) for name in ("temperature", "top_p", "max_tokens", "selection")}
    extra = {name: _value(value) for name, value in (plan.get("extra") or {}).items()}
    return {
        "contract": plan.get("contract"),
        "prompt": (card.get("served") or {}).get("prompt") or plan.get("prompt"),
        "granularity": plan.get("granularity"),
        "aggregation": plan.get("aggregation"),
        "sampling": {**sampling, "samples": plan.get("samples") if chosen else 1, **extra},
    }


def _value(value: Any) -> bool | int | float | str | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return digest_of({"value": value})
