"""The end-to-end smoke test, for real: Ray, FSDP, vLLM rollouts, a kill, a resume, a critic, export, serving, HTTP evaluation."""

from pathlib import Path

import pytest

from demur_training.run.training_metrics import read_log
from demur_training.smoke import toy_task
from demur_training.smoke.end_to_end import EndToEndSmoke, Sizes, change


@pytest.mark.training
@pytest.mark.timeout(3600)
def test_a_tiny_model_learns_what_it_knows(tmp_path: Path) -> None:
    smoke = EndToEndSmoke(tmp_path)
    smoke.prepare()

    reward = smoke.train()
    assert reward.rose, reward
    assert smoke.change("brier", "critic/vf_loss").z < -3
    steps = [row["step"] for row in read_log(tmp_path / "brier" / "metrics.jsonl")]
    assert steps[-36:] == list(range(1, 37))  # killed at 14, resumed from 10, every step logged once

    loss = smoke.train_critic()
    assert loss.last < loss.first, loss

    positions = smoke.study_critic_position()
    assert positions.chosen < 0.8 * positions.constant, positions  # not the last token's: nothing trains that

    before, after = smoke.evaluate("base"), smoke.evaluate("model")
    assert after["n"] == smoke.sizes.test
    assert after["brier"]["high"] < before["brier"]["low"]
    assert after["smece"]["value"] < before["smece"]["value"]
    assert (
        after["accuracy"]["low"] < sum(1 / n for n in toy_task.SIDES) / len(toy_task.SIDES) < after["accuracy"]["high"]
    )


def test_learning_is_told_from_noise() -> None:
    rising = [0.01 * step + 0.02 * (-1) ** step for step in range(40)]
    level = [0.3 + 0.05 * (-1) ** step for step in range(40)]
    assert change(rising).rose
    assert not change(level).rose
    assert not change([0.3] * 40).rose
    assert change(rising).first < change(rising).last


def test_the_run_is_killed_between_two_checkpoints() -> None:
    sizes = Sizes()
    assert sizes.save_every < sizes.killed_at < sizes.steps
    assert sizes.killed_at % sizes.save_every
