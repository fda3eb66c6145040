"""A calibrator that computes beside the served one: what it would have decided, and no effect on any reply."""

import asyncio

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

import served_calibrators as files
from demur.calibration.calibrator_file import read
from demur.calibration.versions import shadow_of
from demur.cli import main
from demur.feedback.grades import Given, Grader
from demur.feedback.tables import answers
from live import serving

AS_STATED = {"kind": "identity", "signal": "verbalized"}
HALVED = {"kind": "isotonic", "score": {"kind": "logistic", "intercept": 0.0, "weights": [1.0], "missing": [0.0]}}
HALVED |= {"x": [0.0, 1.0], "y": [0.0, 0.5]}


def answer(messages) -> str:
    """As sure as the question says."""
    return f"Counted.\nAnswer: 70\nConfidence: {messages[-1]['content'].split()[-1]}"


@pytest.fixture
def pair(keep, tmp_path):
    """A server with a calibrator that leaves what is stated, and the file of one that halves it."""
    plain = keep(answer, url=str(tmp_path / "plain.db"))
    plain.ask("0.9")
    plain.feedback.flush()
    with plain.feedback._db.begin() as db:
        conditions = db.scalars(select(answers.c.conditions)).one()
    served = files.file(tmp_path / "calibrator.json", conditions, fingerprint="0123456789ab", map=AS_STATED)
    new = files.file(tmp_path / "new.json", conditions, fingerprint="0123456789ab", map=HALVED, rows=700)
    return keep(answer, calibrators=(served,)), served, new


def shadow(*words):
    done = CliRunner().invoke(main, ["calibrators", *map(str, words)], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


def begin(server, served, new) -> None:
    shadow("shadow", new, "--served", served)
    server.feedback.calibrators.refresh()


def counts(server) -> dict[str, int]:
    server.feedback.flush()
    (found,) = server.summary()["shadows"]
    return {name: found[name] for name in ("decisions", "both", "only_served", "only_shadow", "neither")}


def test_decisions_are_compared_and_no_reply_changes(pair) -> None:
    server, served, new = pair
    before = [server.ask(f"how sure {p}", risk_threshold=0.4) for p in (0.95, 0.7, 0.3)]
    assert server.summary()["shadows"] == []
    begin(server, served, new)
    after = [server.ask(f"how sure {p}", risk_threshold=0.4) for p in (0.95, 0.7, 0.3)]
    kept = ("decision", "confidence", "calibrated", "confidence_source")
    assert [[one[name] for name in kept] for one in after] == [[one[name] for name in kept] for one in before]
    assert counts(server) == {"decisions": 3, "both": 1, "only_served": 1, "only_shadow": 0, "neither": 1}
    metrics = server.call("GET", "/metrics").text
    label = f'demur_shadow_decisions_total{{answered_by="only_served",calibrator="{read(new).id}"}} 1.0'
    assert label in metrics
    shadow("shadow", "--end", "--served", served)
    server.feedback.calibrators.refresh()
    server.ask("how sure 0.95")
    assert counts(server)["decisions"] == 3


def test_what_a_promise_asks_for_is_compared_at_each_one_s_own_threshold(pair, tmp_path) -> None:
    server, served, new = pair
    lower = [files.level(0.1, 0.45), files.level(0.2, None)]
    made = read(new).model_dump(mode="json")
    conditions = {name: made[name] for name in ("contract", "prompt", "granularity", "aggregation")} | made["sampling"]
    files.file(new, conditions, fingerprint="0123456789ab", map=HALVED, guarantees=lower, smallest_max_error=None)
    begin(server, served, new)
    for p in (0.95, 0.7, 0.3):
        server.ask(f"how sure {p}", max_error=0.1)
    assert counts(server) == {"decisions": 3, "both": 1, "only_served": 1, "only_shadow": 0, "neither": 1}


def test_audits_say_who_was_right_and_diff_shows_it(pair) -> None:
    server, served, new = pair
    begin(server, served, new)
    for p, right in ((0.95, True), (0.7, False), (0.7, False), (0.7, True)):
        server.ask(f"how sure {p}", risk_threshold=0.4)
        (item,) = server.take()
        server.say(item["answer_id"], lease=item["lease"], correct=right)
    (found,) = server.summary()["shadows"]
    assert (found["right"]["only_served"], found["wrong"]["only_served"]) == (1, 2)
    assert (found["right"]["both"], found["wrong"]["both"]) == (1, 0)
    with serving(server.app) as url:
        told = shadow("diff", served, new, "--feedback", url)
    line = next(line.split() for line in told.splitlines() if "only the served" in line)
    assert line[-3:] == ["3", "1", "2"]
    database = shadow("diff", served, new, "--feedback", str(server.feedback._db.url.database))
    assert database == told


def test_one_that_takes_a_signal_that_no_request_computes_is_left_out(pair) -> None:
    server, served, new = pair
    made = read(new).model_dump(mode="json")
    conditions = {name: made[name] for name in ("contract", "prompt", "granularity", "aggregation")} | made["sampling"]
    files.file(
        new,
        conditions,
        fingerprint="0123456789ab",
        signals=["verbalized", "p_true"],
        map={"kind": "logistic", "intercept": 0.0, "weights": [1.0, 1.0], "missing": [0.0, 0.0]},
    )
    begin(server, served, new)
    server.ask("how sure 0.9")
    server.feedback.flush()
    assert server.summary()["shadows"] == []


def test_promoting_the_shadow_ends_it_and_deleting_an_answer_takes_its_comparison_along(pair) -> None:
    server, served, new = pair
    begin(server, served, new)
    given = server.ask("how sure 0.9")
    assert counts(server)["decisions"] == 1
    assert server.call("DELETE", f"/v1/feedback/{given['id']}").status_code == 200
    assert server.summary()["shadows"] == []
    shadow("use", read(new).id, "--served", served)
    assert not shadow_of(served).exists()
    server.feedback.calibrators.refresh()
    assert server.ask("how sure 0.9")["confidence"] == pytest.approx(0.45)


def test_claims_are_compared_one_by_one(keep, tmp_path) -> None:
    stated = (0.95, 0.7, 0.3)
    steps = [f'<Confidence value={p} text="a sum">Row {i}.</Confidence>' for i, p in enumerate(stated)]
    source = "\n".join(["Solution:", *steps, "Answer: 70"])
    plain = keep(source, url=str(tmp_path / "plain.db"))
    plain.ask(contract="claims", granularity="claims")
    plain.feedback.flush()
    with plain.feedback._db.begin() as db:
        row = db.execute(select(answers)).mappings().one()
    assert [p for _, p in row["claims"]] == [0.95, 0.7, 0.3], row["text"]
    made = {"fingerprint": "0123456789ab", "level": "claims"}
    served = files.file(tmp_path / "calibrator.json", row["conditions"], map=AS_STATED, **made)
    new = files.file(tmp_path / "new.json", row["conditions"], map=HALVED, **made)
    server = keep(source, calibrators=(served,))
    begin(server, served, new)
    given = server.ask(contract="claims", granularity="claims", risk_threshold=0.4)
    assert [one["decision"] for one in given["claims"]] == ["assert", "assert", "highlight"]
    assert counts(server) == {"decisions": 3, "both": 1, "only_served": 1, "only_shadow": 0, "neither": 1}
    (item,) = server.take()
    verdict = Given(answer_id=given["id"], verdict="wrong", claim=1, lease=item["lease"])
    asyncio.run(server.feedback.give([verdict], Grader(name="g", may_grade=True)))
    assert server.summary()["shadows"][0]["wrong"]["only_served"] == 1
