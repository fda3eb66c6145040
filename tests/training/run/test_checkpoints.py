from pathlib import Path

import pytest

from demur_training.errors import CheckpointError
from demur_training.run import checkpoints
from verl_checkpoint import write_checkpoint


def test_a_whole_checkpoint_has_no_problem(tmp_path: Path) -> None:
    assert checkpoints.problem(write_checkpoint(tmp_path, 5)) is None
    assert checkpoints.problem(write_checkpoint(tmp_path, 6, roles=("actor",))) is None
    assert checkpoints.steps(tmp_path) == [5, 6]


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("data.pt", "half written: data.pt is missing"),
        ("actor/model_world_size_2_rank_1.pt", "half written: model_world_size_2_rank_1.pt is missing"),
        ("critic/optim_world_size_2_rank_0.pt", "half written: optim_world_size_2_rank_0.pt is missing"),
        ("critic/fsdp_config.json", "half written: fsdp_config.json is missing"),
    ],
)
def test_a_half_written_checkpoint_names_what_is_missing(missing: str, message: str, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, 5)
    (folder / missing).unlink()
    with pytest.raises(CheckpointError, match=message):
        checkpoints.require_whole(folder)


def test_folders_that_are_no_checkpoints_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such checkpoint"):
        checkpoints.require_whole(tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match="no actor folder"):
        checkpoints.require_whole(tmp_path)


@pytest.mark.parametrize("tracker", ["", "10", "junk", "30"])
def test_a_run_resumes_from_its_newest_whole_checkpoint(tracker: str, tmp_path: Path) -> None:
    for step in (5, 9, 10):
        write_checkpoint(tmp_path, step)
    (tmp_path / "global_step_10" / "data.pt").unlink()
    (tmp_path / checkpoints.TRACKER).write_text(tracker)
    assert "resuming from global_step_9" in str(checkpoints.repair_tracker(tmp_path))
    assert (tmp_path / checkpoints.TRACKER).read_text() == "9"
    assert checkpoints.repair_tracker(tmp_path) is None


def test_a_run_without_a_whole_checkpoint_starts_from_the_beginning(tmp_path: Path) -> None:
    assert checkpoints.repair_tracker(tmp_path) is None
    (write_checkpoint(tmp_path, 5) / "data.pt").unlink()
    assert "from the beginning" in str(checkpoints.repair_tracker(tmp_path))
    assert not (tmp_path / checkpoints.TRACKER).exists()
    assert checkpoints.latest(tmp_path) is None
