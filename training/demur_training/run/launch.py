"""Starts a run: checks everything, writes down what is about to happen, hands over to verl."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from demur_training.checks import attention, preflight
from demur_training.verl import value_model
from demur_training.verl.cpu import platform

CONFIG = "config.yaml"


def run(config: DictConfig) -> None:
    """Train until the last step. Blocks. Raises TrainingError before anything long starts."""
    _prepare_process(config)
    for remark in preflight.check(config):
        print(remark, flush=True)
    config.demur.domain = preflight.domain(config)
    folder = Path(config.trainer.default_local_dir).absolute()
    config.trainer.default_local_dir = str(folder)
    folder.mkdir(parents=True, exist_ok=True)
    OmegaConf.save(config, folder / CONFIG, resolve=True)
    LOOPS[config.demur.loop](config)


def environment(config: DictConfig) -> dict[str, str]:
    """Environment variables of the driver and of everything Ray and vLLM start."""
    quiet = {"VERL_LOGGING_LEVEL": "WARN", "TQ_LOGGING_LEVEL": "ERROR", "VLLM_LOGGING_LEVEL": "ERROR"}
    shared = {**quiet, **_trackers(config), "HYDRA_FULL_ERROR": "1", "TOKENIZERS_PARALLELISM": "false"}
    if config.trainer.device == "cpu":
        return shared | platform.environment()
    return shared | ({} if attention.critic_is_flash(config) else {"VERL_USE_EXTERNAL_MODULES": value_model.PLUGIN})


def pass_environment(config: DictConfig) -> None:
    """Hand `environment` to Ray by its configuration too: the nodes of a cluster that is already up inherit nothing."""
    settings = {key: os.environ.get(key, value) for key, value in environment(config).items()}
    for key, value in settings.items():
        OmegaConf.update(config, f"ray_kwargs.ray_init.runtime_env.env_vars.{key}", value, force_add=True)


def _trackers(config: DictConfig) -> dict[str, str]:
    """Where trackers write: into the run's folder, where verl would have them write beside whatever started Ray."""
    folder = Path(config.trainer.default_local_dir).absolute()
    database = f"sqlite:///{folder / 'mlflow.db'}"
    return {"TENSORBOARD_DIR": str(folder / "tensorboard"), "WANDB_DIR": str(folder), "MLFLOW_TRACKING_URI": database}


def _prepare_process(config: DictConfig) -> None:
    settings = environment(config)
    os.environ.update({key: value for key, value in settings.items() if key not in os.environ})
    if config.trainer.device == "cpu":
        import demur_training.verl.cpu.plugin  # noqa: F401  (verl was imported to compose: too late for its own hook)


def _verl(config: DictConfig) -> None:
    import ray
    from verl.trainer.main_ppo import run_ppo

    from demur_training.verl.task_runner import TaskRunner

    pass_environment(config)
    try:
        run_ppo(config, task_runner_class=TaskRunner)
    finally:
        ray.shutdown()


def _exact(config: DictConfig) -> None:
    import torch

    from demur_training.exact.loop import train

    if config.trainer.device == "cpu":  # too small for threads to share: they would wait for each other
        torch.set_num_threads(1)
    train(config)


LOOPS: Mapping[str, Callable[[DictConfig], None]] = {"verl": _verl, "exact": _exact}
