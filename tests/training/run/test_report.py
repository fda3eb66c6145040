"""The page of a run: what is drawn, what is shown of the outputs, and that none of it can run."""

import json
import re
from pathlib import Path

import pytest

from demur_training import recipes
from demur_training.errors import DataError
from demur_training.run import report, validation_outputs
from demur_training.run.training_metrics import RunLog, read_log
from verl_checkpoint import write_checkpoint

HOSTILE = "<script>alert(1)</script>"


def write_run(folder: Path, *, validated: tuple[int, ...] = (0, 10, 20)) -> Path:
    log = RunLog(folder / "metrics.jsonl")
    for step in range(1, 21):
        figures = {"critic/score/mean": step / 40, "calibration/accuracy": 0.5, "calibration/confidence": 0.7}
        if step in validated:
            figures |= {"val-calibration/sums/smece": 0.3 - step / 100, "val-core/sums/reward/mean@1": step / 40}
        log.append(step, figures)
    (folder / "validation").mkdir()
    for step in validated:
        rows = [
            {"input": f"What is {i} + 1?", "output": f"Answer: {i}\nConfidence: 0.{i % 10}", "gts": str(i + 1),
             "score": 0.5, "valid": float(i % 3 == 0), "confidence": (i % 10) / 10}
            for i in range(30)
        ]  # fmt: skip
        rows.append({"input": "?", "output": HOSTILE, "gts": "1", "score": -1.0, "valid": 0.0, "confidence": None})
        rows.append({"input": "not graded", "output": "", "gts": "", "score": 0.0, "valid": None})
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "validation" / f"{step}.jsonl").write_text(text + '{"input": "cut sho')
    return folder


def test_the_page_shows_curves_reliability_and_outputs_and_runs_nothing(tmp_path: Path) -> None:
    report.write(write_run(tmp_path), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert text.count("<img") == 3 + 3  # reward, right and sure, one validation measure; three validations
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    assert "20 steps." in text


def test_the_page_says_when_an_alarm_rang(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    assert "printed a warning" not in report.page(run, read_log(run / "metrics.jsonl"))
    for step, alarms in ((21, 1.0), (22, 0.0), (23, 2.0)):
        RunLog(run / "metrics.jsonl").append(step, {"calibration/alarms": alarms})
    assert "printed a warning at step 21, 23." in report.page(run, read_log(run / "metrics.jsonl"))


def test_the_page_names_the_best_checkpoints(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    assert "No checkpoint that is kept was validated" in report.page(run, read_log(run / "metrics.jsonl"))
    write_checkpoint(run, 20)
    said = report.page(run, read_log(run / "metrics.jsonl"))
    assert "highest validation reward is that of step 20, the one with the lowest smECE that of step 20." in said


def test_what_is_worth_reading_comes_first(tmp_path: Path) -> None:
    outputs = validation_outputs.read(write_run(tmp_path), 20)
    assert len(outputs) == 31  # what was not graded and what a kill cut short are left out
    kinds = report._samples(outputs)
    assert [one.confidence for one in kinds["Surest, and wrong"]] == [0.9, 0.9, 0.8, 0.8]
    assert not any(one.right for one in kinds["Surest, and wrong"])
    assert all(one.right for one in kinds["Least sure, and right"])
    assert [one.output for one in kinds["No confidence could be read"]] == [HOSTILE]


def test_a_run_without_validation_has_a_page(tmp_path: Path) -> None:
    report.write(write_run(tmp_path, validated=()), tmp_path / "page.html")
    assert "was not validated" in (tmp_path / "page.html").read_text()


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is it a run's folder"):
        report.write(tmp_path, tmp_path / "page.html")


def test_every_run_keeps_the_outputs_of_its_validations(tmp_path: Path) -> None:
    config = recipes.compose("ppo", "1x8", [f"trainer.default_local_dir={tmp_path}"])
    assert config.trainer.validation_data_dir == str(tmp_path / validation_outputs.FOLDER)
