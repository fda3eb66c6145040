"""The two queues: what is drawn into them, who gets what, and what a skip does."""

import asyncio
from collections import Counter
from random import Random

import numpy as np
import pytest

from demur.feedback.draws import LEAST, draw, uncertainty

SURE = "Two rows of 20 are 40.\nAnswer: 70\nConfidence: 0.9"


def test_audits_are_a_plain_share_of_everything() -> None:
    rng = Random(1)
    for confidence in (None, 0.0, 0.5, 0.99):
        drawn = [draw(confidence, 0.05, 0.3, rng) for _ in range(20_000)]
        audits = [one for one in drawn if one.queue == "audit"]
        assert len(audits) / len(drawn) == pytest.approx(0.05, abs=0.006)
        assert {one.probability for one in audits} == {0.05}
        assert np.mean([one.rank for one in audits]) == pytest.approx(0.5, abs=0.03)


def test_what_teaches_most_is_drawn_most_and_its_chance_is_known() -> None:
    rng = Random(2)
    for confidence in (None, 0.5, 0.9, 0.999):
        drawn = [draw(confidence, 0.05, 0.3, rng) for _ in range(20_000)]
        learned = [one for one in drawn if one.queue == "learn"]
        (probability,) = {one.probability for one in learned}
        assert probability == pytest.approx(0.95 * 0.3 * uncertainty(confidence))
        assert len(learned) / len(drawn) == pytest.approx(probability, abs=0.01)
    assert uncertainty(0.999) == LEAST


def test_any_first_part_of_the_learn_queue_keeps_the_chances_in_proportion() -> None:
    """Sequential Poisson sampling: whoever stops early has a sample with chances proportional to the weights."""
    rng = Random(3)
    drawn = [(p, draw(p, 0.0, 0.4, rng)) for p in (0.5, 0.9) for _ in range(40_000)]
    queue = sorted((one.rank, p) for p, one in drawn if one.queue == "learn")
    counts = Counter(p for _, p in queue[:2000])
    assert counts[0.9] / counts[0.5] == pytest.approx(uncertainty(0.9), rel=0.1)


def test_every_item_goes_to_one_grader_until_its_lease_runs_out(keep) -> None:
    server = keep(SURE)
    ids = {server.ask(f"{i} eggs?")["id"] for i in range(6)}
    first, second = server.take(limit=4), server.take(limit=4)
    assert {item["answer_id"] for item in first + second} == ids
    assert len(first) == 4
    assert len(second) == 2
    assert server.take(limit=4) == []
    server.clock.now += 601
    again = server.take(limit=9)
    assert {item["answer_id"] for item in again} == ids
    lost = server.say(first[0]["answer_id"], correct=True, lease=first[0]["lease"])
    assert lost.status_code == 409
    held = next(item for item in again if item["answer_id"] == first[0]["answer_id"])
    assert server.say(held["answer_id"], correct=True, lease=held["lease"]).json()["source"] == "audit"


def test_many_graders_at_once_share_the_queue_without_overlap(keep) -> None:
    server = keep(SURE)
    for i in range(30):
        server.ask(f"{i} eggs?")
    server.feedback.flush()

    async def grab() -> list[str]:
        found = await asyncio.gather(*(server.feedback.claim("audit", f"grader{i}", 3) for i in range(10)))
        return [item["id"] for items in found for item in items]

    taken = asyncio.run(grab())
    assert len(taken) == len(set(taken)) == 30


def test_later_goes_behind_the_others_and_release_goes_back(keep) -> None:
    server = keep(SURE)
    for i in range(3):
        server.ask(f"{i} eggs?")
    first = server.take()[0]
    server.say(first["answer_id"], lease=first["lease"], skip="later")
    second = server.take()[0]
    assert second["answer_id"] != first["answer_id"]
    server.say(second["answer_id"], lease=second["lease"], skip="release")
    assert server.take()[0]["answer_id"] == second["answer_id"]
    order = [item["answer_id"] for item in server.take(limit=5)]
    assert order[-1] == first["answer_id"]


def test_an_audit_skipped_for_good_counts_as_wrong(keep) -> None:
    server = keep(SURE)
    server.ask()
    (item,) = server.take()
    server.say(item["answer_id"], lease=item["lease"], skip="for_good")
    found = server.summary()
    assert (found["audit"]["skipped"], found["audit"]["open"]) == (1, 0)
    assert found["drift"][0] | {"e_value": 0} == {
        "watched": "0123456789ab",
        "max_error": 0.5,
        "threshold": 0.5,
        "audits": 1,
        "wrong": 1,
        "e_value": 0,
        "processes": {"promise": 1.0},
        "alarm_at": 40.0,
        "drifted_since": None,
    }
    rows = server.call("POST", "/v1/feedback/refits", json={}).json()["rows"]
    assert [row["correct"] for row in rows] == [False]


def test_a_verdict_taken_back_comes_back_to_its_grader(keep) -> None:
    server = keep(SURE)
    server.ask()
    (item,) = server.take()
    server.say(item["answer_id"], lease=item["lease"], correct=False)
    assert server.say(item["answer_id"], lease=item["lease"], correct=None).json()["verdict"] == "undone"
    assert server.take() == []
    server.say(item["answer_id"], lease=item["lease"], correct=True)
    rows = server.call("POST", "/v1/feedback/refits", json={}).json()["rows"]
    assert [row["correct"] for row in rows] == [True]


def test_a_correction_without_the_lease_counts_if_it_is_the_graders(keep) -> None:
    server = keep(SURE)
    server.ask()
    (item,) = server.take()
    server.say(item["answer_id"], lease=item["lease"], correct=False)
    assert server.say(item["answer_id"], correct=True).json()["source"] == "audit"
    rows = server.call("POST", "/v1/feedback/refits", json={}).json()["rows"]
    assert [row["correct"] for row in rows] == [True]


def test_verdicts_on_claims_leave_the_item_open(keep) -> None:
    steps = 'Solution:\n<Confidence value=0.97 text="a">2 * 20 = 40</Confidence>\nAnswer:40'
    server = keep(steps)
    server.ask(contract="claims")
    (item,) = server.take()
    assert [claim["text"] for claim in item["claims"]] == ["2 * 20 = 40"]
    assert server.say(item["answer_id"], lease=item["lease"], claim=0, correct=True).json()["source"] == "audit"
    assert server.summary()["audit"]["graded"] == 0


def test_volunteered_verdicts_enter_neither_queue(keep) -> None:
    server = keep(SURE, audit_share=0.0)
    server.say(server.ask()["id"], correct=False)
    found = server.summary()
    assert (found["volunteered"], found["drift"]) == (1, [])
    assert server.call("POST", "/v1/feedback/refits", json={}).json()["rows"] == []


def test_a_summary_never_says_what_would_be_promised(keep) -> None:
    server = keep(SURE)
    server.ask()
    told = str(server.summary())
    assert "guarantee" not in told
    assert "confidence" not in told
