"""What the processes of a run find in their environment."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from demur_training import recipes
from demur_training.run import launch


def test_nodes_of_a_cluster_get_the_environment_from_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")  # the user's own
    config = recipes.compose("ppo", "4x8", [f"trainer.default_local_dir={tmp_path}"])
    wanted = launch.environment(config)
    launch.pass_environment(config)
    passed = OmegaConf.merge(get_ppo_ray_runtime_env(config), config.ray_kwargs.ray_init.runtime_env)  # as `run_ppo`
    assert {key: passed.env_vars[key] for key in wanted} == wanted | {"VLLM_LOGGING_LEVEL": "DEBUG"}
    assert passed.env_vars.NCCL_DEBUG == "WARN"  # verl's stay


def test_trackers_write_into_the_folder_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from verl.utils.tracking import Tracking

    run = tmp_path / "run"
    config = recipes.compose("ppo", "1x8", [f"trainer.default_local_dir={run}"])
    for key, value in {**launch.environment(config), "WANDB_MODE": "offline", "WANDB_SILENT": "true"}.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)
    run.mkdir()
    tracking = Tracking("demur", "run", ["tensorboard", "wandb"], {"trainer": {}})
    tracking.log({"critic/score/mean": 0.5}, step=1)
    tracking.finish()
    assert {path.name for path in tmp_path.iterdir()} == {"run"}
    assert list((run / "tensorboard").glob("events.out.tfevents.*"))
    assert list((run / "wandb").glob("offline-run-*/*.wandb"))
    assert launch.environment(config)["MLFLOW_TRACKING_URI"] == f"sqlite:///{run}/mlflow.db"
