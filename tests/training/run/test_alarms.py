"""What a run is stopped for, and what it is not."""

import pytest

from demur_training import recipes
from demur_training.run.alarms import Alarms

SETTINGS = {"patience": 3, "confidence_spread": 0.02, "format_fall": 0.1, "groups_alike": 0.95}
WELL = {"accuracy": 0.4, "format": 0.99, "confidence": 0.6, "confidence_spread": 0.3, "groups_alike": 0.4}
WRONG = {
    "confidence has collapsed": {"confidence_spread": 0.01},
    "outputs lose their form": {"format": 0.7},
    "every sample earned the same": {"groups_alike": 0.97},
}


def rings(alarms: Alarms, *steps: dict[str, float]) -> list[list[str]]:
    return [alarms.check(WELL | step) for step in steps]


@pytest.mark.parametrize(("told", "wrong"), WRONG.items(), ids=WRONG)
def test_each_rings_once_after_so_many_steps_on_end(told: str, wrong: dict[str, float]) -> None:
    found = rings(Alarms(SETTINGS), {}, wrong, wrong, wrong, wrong)
    assert [len(step) for step in found] == [0, 0, 0, 1, 0]
    assert told in found[3][0]


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_each_forgets_when_all_is_well_and_may_ring_again(wrong: dict[str, float]) -> None:
    found = rings(Alarms(SETTINGS), {}, wrong, wrong, {}, wrong, wrong, wrong, {}, wrong, wrong, wrong)
    assert [len(step) for step in found] == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]


def test_a_form_that_was_never_there_has_not_fallen() -> None:
    assert rings(Alarms(SETTINGS), *[{"format": share} for share in (0.2, 0.25, 0.2, 0.22, 0.3)]) == [[]] * 5


def test_figures_that_are_not_there_ring_nothing() -> None:
    alarms = Alarms(SETTINGS)
    assert [alarms.check({"accuracy": 0.0}) for _ in range(6)] == [[]] * 6


def test_every_recipe_has_all_settings() -> None:
    for name in recipes.names():
        Alarms(recipes.compose(name).demur.alarms)
