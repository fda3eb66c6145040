"""Attention kernels: which implementation verl's engines train with, and whether it is installed."""

from collections.abc import Iterator

from omegaconf import DictConfig

from demur_training.errors import EnvironmentProblem
from demur_training.versions import installed

FLASH = "flash_attention_2"
"""verl's own choice, where a model's `override_config` makes no other. It is the package flash-attn."""

INSTEAD = (
    "+actor_rollout_ref.model.override_config.attn_implementation=sdpa"
    " +critic.model.override_config.attn_implementation=sdpa"
)


def implementations(config: DictConfig) -> Iterator[str]:
    """The implementation of each model that is trained."""
    critic = [config.critic.model] if config.algorithm.adv_estimator == "gae" else []
    return map(_implementation, (config.actor_rollout_ref.model, *critic))


def critic_is_flash(config: DictConfig) -> bool:
    """Whether the critic, if there is one, is loaded with what verl loads critics with."""
    return _implementation(config.critic.model) == FLASH


def wants_flash(config: DictConfig) -> bool:
    """Whether the run needs the package flash-attn."""
    return FLASH in set(implementations(config))


def require(config: DictConfig) -> None:
    """Raise EnvironmentProblem where flash-attn is wanted and not installed.

    Without it packed sequences are told apart by a mask, and every token is compared with every other of its
    micro-batch: the same gradients, at several times the cost where outputs are long.
    """
    if wants_flash(config) and installed("flash-attn") is None:
        raise EnvironmentProblem(
            "flash-attn is not installed: `scripts/setup training-gpu` builds it; to train more slowly without it:"
            f" {INSTEAD}"
        )


def _implementation(model: DictConfig) -> str:
    return model.get("override_config", {}).get("attn_implementation") or FLASH
