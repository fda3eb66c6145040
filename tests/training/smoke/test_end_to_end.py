"""The end-to-end smoke test, for real: Ray, FSDP, vLLM rollouts, a kill, a resume, a critic, export, serving, HTTP evaluation."""

from pathlib import Path

import pytest

from demur_training.smoke import verdict
from demur_training.smoke.end_to_end import EndToEndSmoke, Sizes, change
from demur_training.smoke.verdict import Check


@pytest.mark.training
@pytest.mark.timeout(3600)
def test_a_tiny_model_learns_what_it_knows(tmp_path: Path) -> None:
    checks = list(verdict.run(EndToEndSmoke(tmp_path)))
    assert len(checks) == 10
    assert not [check.line() for check in checks if not check.held]


def test_the_verdict_names_what_failed() -> None:
    good, bad = Check("rewards rise", True, "0.1 -> 0.3"), Check("a kill is survived", False, "12 steps logged")
    assert verdict.summary([good]) == "PASSED: all 1 checks"
    assert verdict.summary([good, bad]) == "FAILED: a kill is survived"
    assert bad.line().startswith("FAILED")


def test_learning_is_told_from_noise() -> None:
    rising = [0.01 * step + 0.02 * (-1) ** step for step in range(40)]
    level = [0.3 + 0.05 * (-1) ** step for step in range(40)]
    assert change(rising).rose
    assert not change(level).rose
    assert not change([0.3] * 40).rose
    assert change([1 - value for value in rising]).fell
    assert not change(rising).fell
    assert change(rising).first < change(rising).last


def test_one_step_that_goes_wrong_hides_no_trend() -> None:
    rising = [0.01 * step + 0.02 * (-1) ** step for step in range(40)]
    level = [0.3 + 0.05 * (-1) ** step for step in range(40)]
    for at in (2, 20, 38):
        assert change([*rising[:at], -1.0, *rising[at + 1 :]]).rose
        assert not change([*level[:at], -1.0, *level[at + 1 :]]).rose


def test_the_run_is_killed_between_two_checkpoints() -> None:
    sizes = Sizes()
    assert sizes.save_every < sizes.killed_at < sizes.steps
    assert sizes.killed_at % sizes.save_every
