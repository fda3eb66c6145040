"""From questions to a promise and on to its end: served, graded, calibrated, served with it, drifted, refused."""

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

from demur.calibration.calibrate import Options, calibrate
from demur.calibration.calibrator import Calibrator
from demur.calibration.calibrator_file import write
from demur.feedback.refitting import source_of
from demur.feedback.tables import answers
from feedback import simulated

SURE = "Two rows of 20 are 40.\nAnswer: 70\nConfidence: 0.98"
MADE = "2026-11-25T12:00:00Z"


@dataclass(frozen=True)
class Promised:
    """A calibrator from graded answers, the file it is in, and what the answers were drawn under."""

    calibrator: Calibrator
    file: Path
    conditions: dict[str, Any]


@pytest.fixture
def promised(keep, tmp_path) -> Promised:
    server = keep(SURE)
    server.ask()
    server.feedback.flush()
    with server.feedback._db.begin() as db:
        conditions = db.scalars(select(answers.c.conditions)).one()
    rng = Random(11)
    made = [(simulated.row(i, p, conditions=conditions), rng.random() < p) for i in range(600) if (p := rng.random())]
    simulated.write(server, (each for each, _ in made))
    right = {each["id"]: verdict for each, verdict in made}
    simulated.grade(server, lambda item: right.get(item["id"], True))
    refit = json.loads(server.call("POST", "/v1/feedback/refits", json={}).text)
    options = Options(levels=(0.1, 0.2), resamples=100)
    calibrator = calibrate(source_of(refit, split=True), options, MADE).calibrator
    write(tmp_path / "calibrator.json", calibrator)
    assert calibrator.guarantee_for(0.2) is not None
    return Promised(calibrator, tmp_path / "calibrator.json", conditions)


def test_a_calibrator_out_of_feedback_is_served_and_its_promise_is_what_drift_tests(keep, promised, tmp_path) -> None:
    served = {"calibrators": (promised.file,), "url": str(tmp_path / "second.db")}
    server = keep(SURE, drift_max_error=0.25, drift_refuses=True, **served)
    given = server.ask(max_error=0.25)
    held = promised.calibrator.guarantee_for(0.25)
    assert given["guarantee"]["max_error"] == held.max_error == 0.2
    assert given["guarantee"]["calibration"]["id"] == promised.calibrator.id
    server.feedback.flush()
    with server.feedback._db.begin() as db:
        row = db.execute(select(answers)).mappings().one()
    assert row["calibrator"] == promised.calibrator.id
    assert (row["promise_error"], row["promise_threshold"]) == (0.2, held.threshold)
    assert row["conditions"] == promised.conditions
    assert row["signals"] == {"verbalized": 0.98}

    wrong = (
        simulated.row(i, 0.95, calibrator=row["calibrator"], promise_error=0.2, promise_threshold=held.threshold)
        for i in range(60)
    )
    simulated.write(server, wrong)
    simulated.grade(server, lambda item: False)
    (card,) = server.call("GET", "/v1/models").json()["data"]
    assert card["demur"]["drift"]["watched"] == promised.calibrator.id
    assert card["demur"]["drift"]["drifted_since"] is not None
    refused = server.call("POST", "/v1/answers", json={"question": "How many eggs?", "max_error": 0.25})
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "guarantee_unavailable")
    assert server.ask(risk_threshold=0.5)["decision"] == "answer"


def test_drift_refuses_nothing_unless_the_operator_wants_that(keep, promised, tmp_path) -> None:
    served = {"calibrators": (promised.file,), "url": str(tmp_path / "second.db")}
    server = keep(SURE, drift_max_error=0.25, **served)
    held = promised.calibrator.guarantee_for(0.25)
    named = {"calibrator": promised.calibrator.id, "promise_error": 0.2, "promise_threshold": held.threshold}
    simulated.write(server, (simulated.row(i, 0.95, **named) for i in range(60)))
    simulated.grade(server, lambda item: False)
    assert server.feedback.drifted(promised.calibrator.id)
    assert server.ask(max_error=0.25)["guarantee"]["max_error"] == 0.2
