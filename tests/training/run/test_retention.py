"""Disk: what a run leaves behind, however often it is resumed."""

from pathlib import Path

import pytest

from demur_training.run import checkpoints, retention
from demur_training.run.training_metrics import RunLog
from verl_checkpoint import write_checkpoint


def log(run: Path, rewards: dict[int, float | None], source: str = "sums") -> None:
    for step, reward in rewards.items():
        figures = {} if reward is None else {retention.REWARD.format(source=source): reward}
        RunLog(run / "metrics.jsonl").append(step, {"critic/score/mean": 9.0, **figures})


def test_the_newest_stay_whoever_saved_them_and_the_others_go_with_their_critics(tmp_path: Path) -> None:
    for step in (10, 20, 30, 40, 50):
        write_checkpoint(tmp_path, step)
    assert retention.prune(tmp_path, 2) == [10, 20, 30]
    assert sorted(path.name for path in tmp_path.glob("global_step_*")) == ["global_step_40", "global_step_50"]
    assert (checkpoints.latest(tmp_path) or tmp_path).name == "global_step_50"
    assert retention.prune(tmp_path, 2) == []


def test_the_best_by_validation_stays_too(tmp_path: Path) -> None:
    log(tmp_path, {10: 0.1, 15: 0.9, 20: 0.3, 30: 0.2, 40: None, 50: 0.25})
    for step in (10, 20, 30, 40, 50):
        write_checkpoint(tmp_path, step)
    assert retention.best(tmp_path) == 20
    assert retention.prune(tmp_path, 2) == [10, 30]
    log(tmp_path, {60: 0.4})
    write_checkpoint(tmp_path, 60)
    assert retention.best(tmp_path) == 60
    assert retention.prune(tmp_path, 2) == [20, 40]
    assert checkpoints.steps(tmp_path) == [50, 60]


def test_validation_sets_count_alike_and_ties_go_to_the_earlier(tmp_path: Path) -> None:
    for step, (first, second) in {1: (0.0, 0.6), 2: (0.4, 0.2), 3: (0.3, 0.3)}.items():
        figures = {retention.REWARD.format(source="a/b"): first, retention.REWARD.format(source="c"): second}
        RunLog(tmp_path / "metrics.jsonl").append(step, figures)
    for step in (2, 3):
        write_checkpoint(tmp_path, step)
    assert retention.best(tmp_path) == 2


def test_the_best_by_calibration_stays_beside_the_best_by_reward(tmp_path: Path) -> None:
    smece = {10: 0.3, 20: 0.05, 30: 0.2, 40: 0.1, 50: 0.1}
    log(tmp_path, {10: 0.9, 20: 0.1, 30: 0.2, 40: 0.3, 50: 0.4})
    for step, value in smece.items():
        RunLog(tmp_path / "metrics.jsonl").append(step, {retention.SMECE.format(source="sums"): value})
        write_checkpoint(tmp_path, step)
    assert (retention.best(tmp_path), retention.best(tmp_path, "smece")) == (10, 20)
    assert retention.prune(tmp_path, 1) == [30, 40]
    assert checkpoints.steps(tmp_path) == [10, 20, 50]


def test_half_written_checkpoints_never_count_as_kept(tmp_path: Path) -> None:
    log(tmp_path, {5: 1.0})
    for step in (5, 10, 20, 30, 40):
        write_checkpoint(tmp_path, step)
    for step in (5, 20, 40):  # 40 may be being written right now
        (tmp_path / f"global_step_{step}" / "data.pt").unlink()
    assert retention.prune(tmp_path, 2) == [5, 20]
    assert checkpoints.steps(tmp_path) == [10, 30, 40]


@pytest.mark.parametrize("keep", [None, 0])
def test_everything_can_be_kept(keep: int | None, tmp_path: Path) -> None:
    for step in (10, 20, 30):
        write_checkpoint(tmp_path, step)
    assert retention.prune(tmp_path, keep) == []
    assert checkpoints.steps(tmp_path) == [10, 20, 30]


def test_a_run_that_was_never_validated_has_no_best(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, 10)
    assert retention.best(tmp_path) is None
