"""Claims from answers to a promise: graded one by one, calibrated by problem, served, refitted, watched."""

from random import Random

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from demur.calibration.calibrator_file import read
from demur.cli import main
from demur.feedback.tables import answers
from feedback.simulated import row, write
from feedback.test_watching_and_refits import judge_claims

STEPS = [f'<Confidence value={p} text="a sum">Row {i}.</Confidence>' for i, p in enumerate((0.97, 0.9, 0.2))]
SOURCE = "\n".join(["Solution:", *STEPS, "Answer: 70"])
BY_CLAIM = {"contract": "claims", "granularity": "claims"}


def last_row(server):
    server.feedback.flush()
    with server.feedback._db.begin() as db:
        return db.execute(select(answers).order_by(answers.c.created.desc()).limit(1)).mappings().one()


@pytest.fixture
def graded(keep):
    """A server with 300 graded audits of three claims each, and their conditions: a claim that states p is right with
    that chance, but for one answer in 33, whose claims are all wrong."""
    server = keep(SOURCE, planned_audits=301)
    server.ask(**BY_CLAIM)
    conditions = last_row(server)["conditions"]
    rng, right, made = Random(3), {}, []
    for i in range(300):
        stated = [rng.betavariate(6, 1) for _ in range(3)]
        spoilt = rng.random() < 0.03
        made.append(row(i, 0.5, conditions=conditions, claims=[[None, p] for p in stated]))
        right[made[-1]["id"]] = [not spoilt and rng.random() < p for p in stated]
    write(server, made)
    judge_claims(server, lambda item, claim: right.get(item["id"], [True] * 3)[claim])
    return server


def test_claims_are_calibrated_by_problem_served_with_a_promise_and_watched(graded, keep, tmp_path) -> None:
    out, database = tmp_path / "claims.json", str(graded.feedback._db.url.database)
    words = ["calibrate", "--feedback", database, "--level", "claims", "--max-error", "0.2,0.3", "--resamples", "100"]
    done = CliRunner().invoke(main, [*words, "--out", str(out)], env={"DEMUR_PLANNED_AUDITS": "301"})
    assert done.exit_code == 0, done.output
    assert "301 audits and 0 answers to learn from, 903 claims in all" in done.output
    made = read(out)
    assert (made.level, made.granularity, made.contract) == ("claims", "claims", "claims")
    assert made.certification.exact
    assert made.certification.rows == 181  # problems, and not the 543 claims that these have
    held = made.guarantee_for(0.3)
    assert held is not None, made.guarantees
    assert held.answered <= 181

    server = keep(SOURCE, calibrators=(out,), url=str(tmp_path / "second.db"), drift_max_error=0.3)
    given = server.ask(**BY_CLAIM, max_error=0.3)
    assert given["guarantee"]["max_error"] == held.max_error
    assert given["confidence_source"] == "calibrated"
    assert [one["decision"] for one in given["claims"]] == ["assert", "assert", "highlight"]
    kept = last_row(server)
    assert kept["calibrator"] == made.id
    assert kept["drift_claim"] in (0, 1)
    assert kept["drift_confidence"] == pytest.approx(given["claims"][kept["drift_claim"]]["confidence"])
    judge_claims(server, lambda item, claim: claim == kept["drift_claim"])
    (watched,) = server.summary()["drift"]
    assert (watched["watched"], watched["audits"], watched["wrong"]) == (made.id, 1, 0)
    assert watched["max_error"] == held.max_error


def test_a_whole_answer_gets_no_promise_that_was_made_for_claims(graded, keep, tmp_path) -> None:
    out, database = tmp_path / "claims.json", str(graded.feedback._db.url.database)
    words = ["calibrate", "--feedback", database, "--level", "claims", "--max-error", "0.3", "--resamples", "100"]
    assert CliRunner().invoke(main, [*words, "--out", str(out)]).exit_code == 0
    server = keep(SOURCE, calibrators=(out,), url=str(tmp_path / "second.db"))
    asked = {"question": "How many eggs?", "contract": "claims", "granularity": "response", "max_error": 0.3}
    refused = server.call("POST", "/v1/answers", json=asked)
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "guarantee_unavailable")


def test_claims_that_nobody_judged_count_as_wrong_and_that_is_said(keep, tmp_path) -> None:
    server = keep(SOURCE)
    for _ in range(30):
        server.ask(**BY_CLAIM)
    judge_claims(server, lambda item, claim: None if claim == 2 else claim == 0)
    database = str(server.feedback._db.url.database)
    done = CliRunner().invoke(
        main, ["calibrate", "--feedback", database, "--level", "claims", "--out", str(tmp_path / "c.json")]
    )
    assert "30 claims of audits have no verdict and count as wrong: grade every step" in done.output
