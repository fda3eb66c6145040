"""`demur calibrate --feedback`: out of a server and out of its database, audits to certify on, the others to learn from."""

import json
from random import Random

import numpy as np
import pytest
from typer.testing import CliRunner

from demur.calibration.calibrate import Options, calibrate
from demur.calibration.calibrator_file import read
from demur.cli import main
from demur.feedback.refitting import source_of
from feedback.simulated import CONDITIONS, grade, row, write
from live import serving

MADE = "2026-11-25T12:00:00Z"
runner = CliRunner()


def simulated(number: int, rng: Random, *, bias: float, queue: str, probability: float = 0.05) -> tuple[dict, bool]:
    """An answer whose stated confidence is too high by `bias` log odds, and whether it is right."""
    confidence = rng.betavariate(3, 1.5)
    odds = np.log(confidence / (1 - confidence)) - bias
    right = rng.random() < 1 / (1 + np.exp(-odds))
    return row(number, confidence, queue, probability=probability), right


def filled(server, audits: int, learned: int, bias: float = 1.0, seed: int = 6, first: int = 0) -> None:
    rng = Random(seed)
    made = [simulated(first + i, rng, bias=bias, queue="audit") for i in range(audits)]
    made += [
        simulated(first + audits + i, rng, bias=bias, queue="learn", probability=rng.choice([0.01, 0.05]))
        for i in range(learned)
    ]
    write(server, (each for each, _ in made))
    right = {each["id"]: verdict for each, verdict in made}
    grade(server, lambda item: right[item["id"]])


def test_out_of_a_server(keep, tmp_path) -> None:
    server = keep(planned_audits=300)
    filled(server, 300, 200)
    with serving(server.app) as url:
        done = runner.invoke(
            main, ["calibrate", "--feedback", url, "--out", str(tmp_path / "c.json"), "--resamples", "100"]
        )
    assert done.exit_code == 0, done.output
    assert "300 audits and 200 answers to learn from" in done.output
    made = read(tmp_path / "c.json")
    assert (made.rows, made.certification.rows, made.certification.look) == (500, 300, 0)
    assert made.certification.exact
    assert made.model is not None
    assert (made.model.name, made.model.fingerprint) == ("demur-test", "0123456789ab")
    assert {name: getattr(made, name) for name in ("contract", "prompt")} == {
        name: CONDITIONS[name] for name in ("contract", "prompt")
    }
    assert made.sampling["temperature"] == 1.0


def test_out_of_a_database_with_its_parent_and_the_looks_before(keep, database, tmp_path, monkeypatch) -> None:
    filled(keep(), 120, 0)
    monkeypatch.setenv("DEMUR_PLANNED_AUDITS", "200")
    for out, before in (("a.json", []), ("b.json", ["--parent", str(tmp_path / "a.json")])):
        words = ["calibrate", "--feedback", database, "--out", str(tmp_path / out), "--resamples", "100", *before]
        done = runner.invoke(main, words)
        assert done.exit_code == 0, done.output
    assert "look 2 and every promise is tested at delta / 2^2" in done.output
    first, second = (read(tmp_path / name) for name in ("a.json", "b.json"))
    assert (first.parent, second.parent) == (None, first.id)
    assert (first.certification.look, second.certification.look) == (1, 2)
    assert (first.certification.mode, first.certification.rows) == ("split", 72)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--feedback", "nowhere.db"], "no database"),
        (["--feedback", "http://127.0.0.1:9"], "127.0.0.1:9"),
        ([], "--ask or --feedback"),
        (["--feedback", "x.db", "rows.jsonl"], "--ask or --feedback"),
    ],
)
def test_what_gives_no_rows_is_said(tmp_path, words, message) -> None:
    done = runner.invoke(main, ["calibrate", "--out", str(tmp_path / "c.json"), *words], env={"COLUMNS": "200"})
    assert done.exit_code in (1, 2)
    assert message in done.output
    assert "Traceback" not in done.output


def test_too_few_audits_are_told(keep, database, tmp_path) -> None:
    filled(keep(), 20, 200)
    done = runner.invoke(main, ["calibrate", "--feedback", database, "--out", str(tmp_path / "c.json")])
    assert done.exit_code == 1
    assert "the audits: 20 graded rows are too few" in done.output


def test_rows_to_learn_from_never_certify(keep) -> None:
    server = keep()
    filled(server, 100, 80)
    refit = server.call("POST", "/v1/feedback/refits", json={}).json()
    twice = next(each for each in refit["rows"] if each["queue"] == "audit")["problem"]
    next(each for each in refit["rows"] if each["queue"] == "learn")["problem"] = twice
    source = source_of(refit, split=True)
    assert source.fitting is not None
    assert (len(source.rows.rows), source.fitting.sum()) == (179, 79)
    assert {each.record["queue"] for each, fits in zip(source.rows.rows, source.fitting, strict=True) if fits} == {
        "learn"
    }
    assert source_of(refit, split=False).fitting is None
    weights = [each.weight for each in source.rows.rows]
    assert set(weights) == {1.0, 20.0, 100.0}
    audits = [each for each in refit["rows"] if each["queue"] == "audit"]
    for audit in audits[:70]:
        audit["problem"] = "what everybody asks"
    for options in ({"split": True}, {"split": False, "raw": True}):
        certifying = [each for each in source_of(refit, **options).rows.rows if each.record["queue"] == "audit"]
        assert len({each.problem for each in certifying}) == 100
    assert len({each.problem for each in source_of(refit, split=False).rows.rows}) == 31


def test_weights_undo_an_unequal_draw() -> None:
    """Of right answers one in four is drawn, of wrong ones all: weighted, the map knows the share of all."""
    from demur.calibration.fit import Graded, logistic

    rng = np.random.default_rng(7)
    p = rng.uniform(0.3, 0.99, 20_000)
    right = rng.random(len(p)) < p
    drawn = np.where(right, rng.random(len(p)) < 0.25, True)
    rows = Graded(p[drawn, None], right[drawn], np.arange(drawn.sum()))
    weighted = Graded(rows.signals, rows.correct, rows.problem, np.where(rows.correct, 4.0, 1.0))
    plain, known = (float(logistic(each, (0,), 1.0)(p[:, None]).mean()) for each in (rows, weighted))
    assert known == pytest.approx(right.mean(), abs=0.02)
    assert plain < right.mean() - 0.15


def test_a_refit_beats_the_old_calibrator_after_a_shift(keep, database) -> None:
    before = keep()
    filled(before, 400, 0, bias=0.2)
    old = calibrate(source_of(json.loads(_taken(before)), split=True), Options(resamples=100), MADE).calibrator
    after = keep(url=database + "2")
    filled(after, 300, 300, bias=1.8, seed=8)
    new = calibrate(
        source_of(json.loads(_taken(after)), split=True), Options(resamples=100, parent=old.id), MADE
    ).calibrator
    rng = Random(9)
    fresh = [simulated(i, rng, bias=1.8, queue="audit") for i in range(4000)]
    signals = np.array([[each["confidence"]] for each, _ in fresh])
    right = np.array([verdict for _, verdict in fresh])
    brier = [_brier(each.confidence(signals), right) for each in (old, new)]
    assert brier[1] < brier[0] - 0.03
    assert new.parent == old.id


def _taken(server) -> str:
    return server.call("POST", "/v1/feedback/refits", json={}).text


def _brier(confidence, right) -> float:
    return float(((confidence - right) ** 2).mean())
