"""verl's task runner with our trainer: the one Ray actor that drives a run."""

from collections.abc import Callable
from typing import Any

import ray
from omegaconf import DictConfig, OmegaConf

NOTHING_LEFT = "Received an empty list as keys"
"""What verl 0.9.1 says when the engine or the reward failed for every question of a step."""


@ray.remote
class TaskRunner:
    """What `verl.trainer.main_ppo.run_ppo` starts; recipes may bring their own (its `task_runner_class`)."""

    def run(self, config: DictConfig) -> None:
        """Train until the last step, then let go of the transfer queue and the loggers."""
        import transfer_queue as tq
        from verl.utils.logging_utils import configure_verl_logging

        from demur_training.verl.trainer import CalibrationTrainer

        configure_verl_logging()
        config.transfer_queue.enable = True
        OmegaConf.resolve(config)
        tq.init(config.transfer_queue)
        try:
            trainer = CalibrationTrainer(config)  # pyright: ignore[reportAbstractUsage]  (verl's decorator hides it)
            drive(trainer, lambda trainer: _agent_loops(config, trainer))
        finally:
            tq.close()


def drive(trainer: Any, agent_loops: Callable[[Any], Any]) -> None:
    """Set the trainer up and train until the last step; its loggers are told whether the run ended well.

    Raises RuntimeError when every question of a step failed, and whatever else ended the run.
    """
    exit_code = 1
    try:
        trainer.init()
        trainer.fit(agent_loops(trainer))
        exit_code = 0
    except ValueError as error:
        if NOTHING_LEFT not in str(error):
            raise
        raise RuntimeError("no output of this step was generated and scored; an error above says why") from error
    finally:
        tracking = getattr(trainer, "logger", None)  # verl makes it at the beginning of `fit`
        if tracking is not None:
            tracking.finish(exit_code=exit_code)


def _agent_loops(config: DictConfig, trainer: Any) -> Any:
    from verl.trainer.ppo.v1 import AgentLoopManagerTQ

    return AgentLoopManagerTQ.create(
        config=config,
        llm_client=trainer.get_llm_client(),
        teacher_client=trainer.get_teacher_client(),
        reward_loop_worker_handles=trainer.get_reward_handles(),
    )
