import json
from pathlib import Path

import pytest

from demur_training.run.training_metrics import RunLog, one_line, read_log, summarise


def output(confidence: float | None, valid: bool, **more: float) -> dict[str, float | None]:
    return {
        "confidence": confidence,
        "valid": float(valid),
        "format": float(confidence is not None),
        "overlong": 0.0,
        "abstained": 0.0,
        **more,
    }


def test_a_batch_is_summed_up_over_what_states_a_confidence() -> None:
    summary = summarise([output(0.9, True), output(0.5, False), output(None, False, overlong=1.0)])
    assert summary["accuracy"] == pytest.approx(1 / 3)
    assert (summary["format"], summary["overlong"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (summary["confidence"], summary["confidence_spread"]) == (pytest.approx(0.7), pytest.approx(0.2))


def test_validation_adds_the_papers_figures() -> None:
    summary = summarise([output(0.8, True), output(0.4, False), output(0.4, True)], calibration=True)
    assert summary["auc"] == pytest.approx(0.75)
    assert summary["brier"] == pytest.approx((0.04 + 0.16 + 0.36) / 3)
    assert {"snr_gain", "smece"} <= set(summary)


def test_undefined_figures_are_left_out() -> None:
    assert "auc" not in summarise([output(0.8, True)], calibration=True)
    assert "confidence" not in summarise([output(None, False)], calibration=True)
    assert summarise([]) == {}


def test_questions_whose_samples_all_earn_the_same_are_counted() -> None:
    def sample(question: str, score: float) -> dict[str, object]:
        return {**output(0.5, True), "question": question, "score": score}

    alike = [sample("a", 0.75), sample("a", 0.75), sample("b", 0.75), sample("b", -1.0)]
    assert summarise(alike)["groups_alike"] == 0.5
    assert "groups_alike" not in summarise([sample("a", 0.75), sample("b", 0.75)])  # one sample each says nothing
    assert "groups_alike" not in summarise([output(0.5, True)])


def test_the_log_survives_a_kill_and_forgets_steps_done_again(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "run" / "metrics.jsonl")
    for step in range(1, 5):
        log.append(step, {"reward": step / 10, "text": "no number", "nan": float("nan")})
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 5, "rew')
    assert [row["step"] for row in read_log(tmp_path / "run" / "metrics.jsonl")] == [1, 2, 3, 4]
    log.rewind(2)
    log.append(3, {"reward": 9})
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert rows == [{"step": 1, "reward": 0.1}, {"step": 2, "reward": 0.2}, {"step": 3, "reward": 9.0}]


def test_a_run_that_has_not_begun_has_an_empty_log(tmp_path: Path) -> None:
    assert read_log(tmp_path / "metrics.jsonl") == []


def test_one_line_shows_what_there_is() -> None:
    line = one_line(3, 40, {"critic/score/mean": 0.25, "calibration/accuracy": 0.5, "other": 1})
    assert line == "step 3/40  reward 0.250  accuracy 0.500"
