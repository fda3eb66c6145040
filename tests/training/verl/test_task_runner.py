"""How a run ended is what its trackers show."""

import pytest

from demur_training.verl.task_runner import NOTHING_LEFT, drive


class Tracking:
    """Stands for wandb, MLflow and their like."""

    def __init__(self) -> None:
        self.exit_codes: list[int] = []

    def finish(self, exit_code: int = 0) -> None:
        self.exit_codes.append(exit_code)


class Trainer:
    """Stands for verl's trainer, which makes its logger as `fit` begins; `ends` is how it ends."""

    def __init__(self, tracking: Tracking, ends: BaseException | None = None, *, at: str = "fit") -> None:
        self._tracking, self._ends, self._at = tracking, ends, at

    def init(self) -> None:
        self._end("init")

    def fit(self, agent_loops: object) -> None:
        assert agent_loops == "agent loops"
        self.logger = self._tracking
        self._end("fit")

    def _end(self, place: str) -> None:
        if self._ends is not None and self._at == place:
            raise self._ends


def test_a_run_that_came_to_its_end_is_a_success() -> None:
    tracking = Tracking()
    drive(Trainer(tracking), lambda _: "agent loops")
    assert tracking.exit_codes == [0]


@pytest.mark.parametrize(
    ("ends", "raised"),
    [
        (RuntimeError("out of memory"), RuntimeError),
        (ValueError("a tensor of another shape"), ValueError),
        (ValueError(f"{NOTHING_LEFT}: []"), RuntimeError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_run_that_crashed_is_a_failure(ends: BaseException, raised: type[BaseException]) -> None:
    tracking = Tracking()
    with pytest.raises(raised):
        drive(Trainer(tracking, ends), lambda _: "agent loops")
    assert tracking.exit_codes == [1]


def test_a_crash_before_there_are_trackers_is_raised_as_it_is() -> None:
    with pytest.raises(RuntimeError, match="no memory"):
        drive(Trainer(Tracking(), RuntimeError("no memory"), at="init"), lambda _: "agent loops")


def test_outputs_that_all_failed_are_said_so() -> None:
    with pytest.raises(RuntimeError, match="no output of this step"):
        drive(Trainer(Tracking(), ValueError(NOTHING_LEFT)), lambda _: "agent loops")
