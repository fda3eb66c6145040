"""Drift, looks and refits, over simulated answers written straight into the store."""

import asyncio
from dataclasses import replace
from random import Random

import pytest
from sqlalchemy import select

from demur.core.calibration.drift import SLACK, Drift, Overconfidence
from demur.feedback import stored_answers as kept
from demur.feedback.database import open_database
from demur.feedback.grades import Given, Grader
from demur.feedback.options import FeedbackOptions
from demur.feedback.tables import answers, drift
from feedback.simulated import CONDITIONS, grade, row, write


def test_the_process_is_the_core_s_over_first_verdicts_in_their_order(keep) -> None:
    server = keep(risk_threshold=0.8, drift_max_error=0.1)
    rng = Random(4)
    right = [rng.random() < 0.7 for _ in range(60)]
    write(server, (row(i, 0.9) for i in range(60)))
    write(server, (row(100 + i, confidence) for i, confidence in enumerate((0.7, None))))
    grade(server, lambda item: int(item["id"][4:]) >= 100 or right[int(item["id"][4:])])
    (found,) = server.summary()["drift"]
    state = Drift.start(0.1)
    for each in right:
        state = state.add(not each)
    assert found["audits"] == 60
    assert found["e_value"] == pytest.approx(state.value)
    assert found["wrong"] == right.count(False)
    assert found["drifted_since"] is not None
    assert server.feedback.drift[0].alarm_at is not None


def test_corrections_deletions_and_restarts_never_rewrite_it(keep) -> None:
    server = keep(drift_max_error=0.2)
    write(server, (row(i, 0.9) for i in range(40)))
    grade(server, lambda item: int(item["id"][4:]) % 3 > 0)
    before = server.summary()["drift"]
    corrected = [Given(answer_id=row(i, 0.9)["id"], verdict="right") for i in range(40)]
    asyncio.run(server.feedback.give(corrected, Grader(name="grader", may_grade=True)))
    for i in range(10):
        assert server.call("DELETE", f"/v1/feedback/{row(i, 0.9)['id']}").status_code == 200
    assert server.summary()["drift"] == before
    assert keep(drift_max_error=0.2).summary()["drift"] == before


def test_under_a_calibrator_what_it_states_is_tested_too_and_the_mean_rings(keep) -> None:
    server = keep(risk_threshold=0.8, drift_max_error=0.2)
    rng = Random(7)
    sure = [0.9 if rng.random() < 0.5 else 0.6 for _ in range(80)]
    right = [rng.random() < 0.6 for _ in sure]
    write(server, (row(i, p, calibrator="cal_1") for i, p in enumerate(sure)))
    grade(server, lambda item: right[int(item["id"][4:])])
    (found,) = server.summary()["drift"]
    promise, confidence = Drift.start(0.2), Overconfidence.start(SLACK)
    for p, each in zip(sure, right, strict=True):
        promise = promise.add(not each) if p >= 0.8 else promise
        confidence = confidence.add(not each, p)
    assert found["audits"] == sure.count(0.9)
    assert found["processes"] == pytest.approx({"promise": promise.value, "confidence": confidence.value})
    assert found["e_value"] == pytest.approx((promise.value + confidence.value) / 2)


def test_confidences_below_the_threshold_that_became_untrue_ring_too(keep) -> None:
    server = keep(risk_threshold=0.8, drift_max_error=0.2)
    write(server, (row(i, 0.75, calibrator="cal_1") for i in range(60)))
    grade(server, lambda item: False)
    (found,) = server.summary()["drift"]
    assert found["audits"] == 0
    assert found["drifted_since"] is not None


BY_CLAIM = CONDITIONS | {"contract": "claims", "granularity": "claims"}


def by_claim(number: int, *stated: float | None, drawn: int | None = 0, **fields):
    claims = [[f"step {i}", p] for i, p in enumerate(stated)]
    confidence = None if drawn is None else stated[drawn]
    return row(number, 0.5, conditions=BY_CLAIM, claims=claims, **fields) | {
        "drift_claim": drawn,
        "drift_confidence": confidence,
    }


def judge_claims(server, said, whole: bool | None = True) -> None:
    """Take all audits; said(item, claim) is a verdict or None for none; then the answer itself."""

    async def work() -> None:
        for item in await server.feedback.claim("audit", "grader", 1000):
            about = {"answer_id": item["id"], "lease": item["lease"]}
            words = {True: "right", False: "wrong"}
            given = [
                Given(**about, claim=i, verdict=words[verdict])
                for i in range(len(item["claims"]))
                if (verdict := said(item, i)) is not None
            ]
            given += [] if whole is None else [Given(**about, verdict=words[whole])]
            await server.feedback.give(given, Grader(name="grader", may_grade=True))

    asyncio.run(work())


def test_of_answers_decided_by_claim_the_drawn_claim_is_tested(keep) -> None:
    server = keep(risk_threshold=0.8, drift_max_error=0.2)
    write(server, [by_claim(i, 0.9, 0.95, drawn=1) for i in range(40)])
    write(server, [by_claim(100, 0.9), by_claim(101, 0.3), by_claim(102, None, drawn=None)])
    judge_claims(server, lambda item, claim: claim == 0, whole=True)
    (found,) = server.summary()["drift"]
    assert (found["audits"], found["wrong"]) == (41, 40)


def test_the_first_verdict_on_the_drawn_claim_counts_and_no_other(keep) -> None:
    server = keep(risk_threshold=0.5, drift_max_error=0.2)
    write(server, [by_claim(1, 0.9, 0.9)])
    judge_claims(server, lambda item, claim: None, whole=False)
    assert server.summary()["drift"] == []
    for verdict in (False, True):
        server.say(by_claim(1, 0.9)["id"], claim=0, correct=verdict)
    assert server.summary()["drift"] == []  # nobody took it from a queue for that


def test_claims_are_handed_out_for_a_refit_one_by_one(keep) -> None:
    server = keep(planned_audits=2)
    write(server, [by_claim(1, 0.9, 0.4), by_claim(2, 0.8, None), by_claim(3, 0.7, queue="learn", probability=0.1)])
    write(server, [row(9, 0.9)])
    judge_claims(server, lambda item, claim: None if (item["id"][-1], claim) == ("2", 1) else claim == 0)
    grade(server, lambda item: True)
    found = server.call("POST", "/v1/feedback/refits", json={"level": "claims"}).json()
    rows = [(each["problem"], each["claim"], each["correct"], each["signals"]["verbalized"]) for each in found["rows"]]
    assert rows == [
        ("problem 1", 0, True, 0.9),
        ("problem 1", 1, False, 0.4),
        ("problem 2", 0, True, 0.8),
        ("problem 2", 1, False, None),
    ]
    assert (found["audits"], found["unjudged"], found["look"], found["level"]) == (2, 1, 0, "claims")
    whole = server.call("POST", "/v1/feedback/refits", json={}).json()
    assert [each["problem"] for each in whole["rows"]] == ["problem 9"]
    assert whole["look"] == 1


def test_an_alarm_stays_and_is_told_by_metrics_and_models(keep) -> None:
    server = keep(drift_max_error=0.1)
    write(server, (row(i, 0.9) for i in range(60)))
    grade(server, lambda item: False)
    metrics = server.call("GET", "/metrics").text
    assert 'demur_drift_alarm{watched="0123456789ab"} 1.0' in metrics
    assert 'demur_feedback_grades_total{source="audit",verdict="wrong"} 60.0' in metrics
    card = server.call("GET", "/v1/models").json()["data"][0]["demur"]
    assert card["drift"]["drifted_since"] == 1_800_000_000
    write(server, (row(100 + i, 0.9) for i in range(300)))
    grade(server, lambda item: True)
    assert server.summary()["drift"][0]["drifted_since"] == 1_800_000_000


def test_all_processes_together_stay_within_alpha(keep) -> None:
    server = keep(drift_max_error=0.1, drift_alpha=0.04)
    write(server, (row(i, 0.9, calibrator=f"cal_{i}") for i in range(12)))
    grade(server, lambda item: True)
    with server.feedback._db.begin() as db:
        alphas = db.scalars(select(drift.c.alpha)).all()
    assert len(alphas) == 12
    assert sum(alphas) < 0.04
    assert max(alphas) == pytest.approx(0.02)


def test_looks_are_counted_until_the_plan_is_fulfilled(keep) -> None:
    server = keep(planned_audits=30)

    def look(**body) -> int:
        server.clock.now += 1
        return server.call("POST", "/v1/feedback/refits", json=body).json()["look"]

    write(server, (row(i, 0.9) for i in range(30)))
    grade(server, lambda item: True)
    assert look() == 0
    assert look() == 1 + 1
    assert look(since=server.clock.now) == 1
    early = keep(url=f"{server.feedback._db.url.database}2", planned_audits=31)
    write(early, (row(i, 0.9) for i in range(30)))
    grade(early, lambda item: True)
    assert early.call("POST", "/v1/feedback/refits", json={}).json()["look"] == 1


def test_the_first_look_is_at_as_many_audits_as_were_planned(keep) -> None:
    server = keep(planned_audits=20)
    write(server, (row(i, 0.9) for i in range(30)))
    grade(server, lambda item: True)
    first = server.call("POST", "/v1/feedback/refits", json={}).json()
    assert (first["look"], first["audits"], first["beyond"], len(first["rows"])) == (0, 20, 10, 20)
    server.clock.now += 1
    again = server.call("POST", "/v1/feedback/refits", json={}).json()
    assert (again["look"], again["audits"], again["beyond"], len(again["rows"])) == (2, 30, 0, 30)
    with server.feedback._db.begin() as db:
        ranks = {row.id: row.rank for row in db.execute(select(answers.c.id, answers.c.rank))}
    used = {each["answer_id"] for each in first["rows"]}
    assert max(ranks[one] for one in used) < min(rank for one, rank in ranks.items() if one not in used)


def test_rows_carry_their_weights_and_other_conditions_are_left_out(keep) -> None:
    server = keep()
    write(server, [row(1, 0.9), row(2, 0.4, "learn", probability=0.02), row(3, 0.4, None)])
    write(server, [row(4, 0.9, conditions=CONDITIONS | {"temperature": 0.2})])
    grade(server, lambda item: True)
    found = server.call("POST", "/v1/feedback/refits", json={}).json()
    assert [(each["queue"], each["weight"]) for each in found["rows"]] == [("audit", 1.0), ("learn", 50.0)]
    assert (found["left_out"], found["conditions"]) == (1, CONDITIONS)
    assert found["fingerprint"] == "0123456789ab"


@pytest.mark.parametrize(("share", "remarkable"), [(0.1, False), (0.5, True)])
def test_a_key_that_grades_wrongly_on_purpose_stands_out(keep, share, remarkable) -> None:
    """One of three keys turns a share of its verdicts around: half of them shows, a tenth hides in the noise."""
    server = keep()
    write(server, (row(i, 0.9) for i in range(900)))
    rng = Random(5)
    for name in ("aaa", "bbb", "bad"):
        turned = share if name == "bad" else 0.0
        grade(server, lambda item, turned=turned: (rng.random() < 0.85) != (rng.random() < turned), name, limit=300)
    found = {each["grader"]: each for each in server.summary()["graders"]}
    assert found["bad"]["remarkable"] is remarkable
    assert found["bad"]["deviation"] < 0
    assert not found["aaa"]["remarkable"] or remarkable


def test_agreement_is_counted_where_two_spoke_of_one_thing(keep) -> None:
    server = keep()
    write(server, (row(i, 0.9) for i in range(4)))
    grade(server, lambda item: True, "queue")

    async def volunteer() -> None:
        given = [Given(answer_id=row(i, 0.9)["id"], verdict="right" if i else "wrong") for i in range(3)]
        await server.feedback.give(given, Grader(name="other", may_grade=True))
        await server.feedback.give(
            [Given(answer_id=row(3, 0.9)["id"], verdict="right", gold="71")], Grader(name="gold", may_grade=True)
        )

    asyncio.run(volunteer())
    found = {each["grader"]: (each["compared"], each["agreed"]) for each in server.summary()["graders"]}
    assert found["other"] == (3, 2)
    assert found["queue"] == (4, 2)


def test_old_answers_are_forgotten_with_their_texts(keep) -> None:
    server = keep(keep_days=10)
    write(server, [row(1, 0.9), row(2, 0.9, created=1_800_000_000.0 - 11 * 86_400)])
    grade(server, lambda item: True)
    server.feedback._tidy()
    with server.feedback._db.begin() as db:
        assert [each["id"] for each in db.execute(select(kept.answers.c.id)).mappings()] == [row(1, 0.9)["id"]]


def test_epochs_end_where_shares_or_model_change(keep, database) -> None:
    db = open_database(database)
    options = FeedbackOptions()
    with db.begin() as connection:
        first = kept.epoch_of(connection, options, "m", "a", 1.0)
        assert kept.epoch_of(connection, options, "m", "a", 2.0) == first
        second = kept.epoch_of(connection, replace(options, audit_share=0.1), "m", "a", 3.0)
        third = kept.epoch_of(connection, options, "m", "b", 4.0)
    assert len({first, second, third}) == 3
    db.dispose()
