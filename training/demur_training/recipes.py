"""Recipes: small YAML files over verl's own configuration, composed, checked and changed by `key=value`.

Layers, later ones win: verl's defaults, `shared/verl.yaml`, `shared/paper.yaml`, the recipe, `shared/smoke.yaml` under
a scale named `...-smoke`, the scale, the user.
"""

import copy
import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from demur_training.errors import RecipeError

SHARED = ("verl", "paper")
SMOKE = "-smoke"
"""How the name of a scale ends that trains a tiny model."""

ACTOR = "actor_rollout_ref.actor"
UNREAD: Mapping[str, str | None] = {
    f"{ACTOR}.grad_clip": f"{ACTOR}.optim.clip_grad",
    f"{ACTOR}.use_torch_compile": f"{ACTOR}.fsdp_config.use_torch_compile",
    f"{ACTOR}.ppo_infer_max_token_len_per_gpu": "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu",
    "critic.grad_clip": "critic.optim.clip_grad",
    "critic.ppo_max_token_len_per_gpu": "critic.ppo_infer_max_token_len_per_gpu",
    "critic.forward_max_token_len_per_gpu": "critic.ppo_infer_max_token_len_per_gpu",
    "critic.ulysses_sequence_parallel_size": "critic.fsdp.ulysses_sequence_parallel_size",
    "critic.forward_micro_batch_size": None,
    "critic.forward_micro_batch_size_per_gpu": None,
    "actor_rollout_ref.nccl_timeout": None,
    f"{ACTOR}.calculate_sum_pi_squared": None,
    f"{ACTOR}.freeze_vision_tower": None,
    f"{ACTOR}.use_prefix_grouper": None,
    "actor_rollout_ref.rollout.over_sample_rate": None,
    "actor_rollout_ref.rollout.multi_stage_wake_up": None,
    "actor_rollout_ref.rollout.multi_turn.num_repeat_rollouts": None,
    "data.return_raw_input_ids": None,
    "trainer.balance_batch": None,
    "trainer.esi_redundant_time": None,
    "trainer.ray_wait_register_center_timeout": None,
}
"""Keys that verl 0.9.1 takes and that nothing in a synchronous run reads, and the key that is read in its place."""

BROKEN: Mapping[str, str] = {
    "algorithm.use_pf_ppo": "draws a step's outputs anew and gives their advantages to those that were there before",
    "actor_rollout_ref.model.lora.rank": "is taken for LoRA by its trainer and not by its FSDP engine: set"
    " actor_rollout_ref.model.lora_rank instead",
}
"""Keys that verl 0.9.1 reads, and what it then does wrong in a synchronous run."""


def folder() -> Path:
    """Where the YAML files are: beside the package in a checkout, inside it in a wheel."""
    here = Path(__file__).parent
    return next(p for p in (here.parent / "recipes", here / "recipes") if (p / "shared").is_dir())


def names() -> list[str]:
    """The recipes there are."""
    return sorted(path.stem for path in folder().glob("*.yaml"))


def scales() -> list[str]:
    """The machines there are settings for."""
    return sorted(path.stem for path in (folder() / "scales").glob("*.yaml"))


def about(recipe: str) -> str:
    """The first sentence of a recipe's own comment."""
    lines = (folder() / f"{recipe}.yaml").read_text().splitlines()
    comment = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    return comment.split(". ")[0].rstrip(".") + "."


def compose(recipe: str, scale: str = "4x8", overrides: Sequence[str] = ()) -> DictConfig:
    """verl's whole configuration for one recipe.

    `overrides` are `key=value` with verl's dotted keys; `+key=value` adds a key verl's files do not list. Raises
    RecipeError for an unknown recipe, scale or key, with the nearest names there are.
    """
    _known("recipe", recipe, names())
    _known("scale", scale, scales())
    config = copy.deepcopy(verl_defaults())
    OmegaConf.set_struct(config, False)
    sizes = ["shared/smoke"] if scale.endswith(SMOKE) else []
    layers = [*(f"shared/{name}" for name in SHARED), recipe, *sizes, f"scales/{scale}"]
    for layer in layers:
        config.merge_with(OmegaConf.load(folder() / f"{layer}.yaml"))
    config.demur.recipe = recipe
    OmegaConf.set_struct(config, True)
    for override in overrides:
        _override(config, override)
    return config


@cache
def verl_defaults() -> DictConfig:
    """verl's configuration before anything of ours, with vLLM as the one engine we use."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_module

    with initialize_config_module("verl.trainer.config", version_base=None):
        return hydra_compose("ppo_trainer", overrides=["actor_rollout_ref.rollout.name=vllm"])


def validate(config: DictConfig) -> None:
    """verl's own validation, which also reads the model's configuration and tokenizer.

    Raises RecipeError with what verl said.
    """
    from hydra.errors import InstantiationException
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import validate_config

    try:
        validate_config(config, need_reference_policy(config), need_critic(config))
    except (AssertionError, ValueError, TypeError, InstantiationException, OmegaConfBaseException) as error:
        raise RecipeError(f"verl refuses this configuration: {error}") from error


def reward_settings(config: DictConfig) -> dict[str, Any]:
    """The keyword arguments our reward function gets: contract, rule, aggregation."""
    return dict(config.reward.custom_reward_function.reward_kwargs)


def settings_of(recipe: str) -> dict[str, Any]:
    """The reward settings of a recipe without verl's configuration: from our own files alone."""
    _known("recipe", recipe, names())
    layers = [*(f"shared/{name}" for name in SHARED), recipe]
    merged = OmegaConf.merge(*(OmegaConf.load(folder() / f"{layer}.yaml") for layer in layers))
    return reward_settings(cast(DictConfig, merged))


def flatten(config: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and their values, interpolations not resolved; a list is one value."""
    node: Any = OmegaConf.to_container(config, resolve=False) if isinstance(config, DictConfig) else config
    for key, value in node.items():
        if isinstance(value, dict) and value:
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _override(config: DictConfig, override: str) -> None:
    key, separator, value = override.partition("=")
    if not separator or not key.strip("+"):
        raise RecipeError(f"{override!r} is no override: write key=value, as in trainer.total_epochs=2")
    adds, key = key.startswith("+"), key.lstrip("+")
    if key in UNREAD:
        instead = f": set {UNREAD[key]} instead" if UNREAD[key] else ", and has nothing in its place"
        raise RecipeError(f"verl takes {key} and does not read it{instead}")
    if key in BROKEN:
        raise RecipeError(f"verl breaks a run with {key}: it {BROKEN[key]}")
    if not adds and not _exists(config, key):
        hint = _nearest(key, [name for name, _ in flatten(config)])
        raise RecipeError(f"no such key: {key}{hint} (+{key}=… adds a key that verl's files do not list)")
    try:
        parsed = OmegaConf.from_dotlist([f"value={value}"]).value
        section = OmegaConf.select(config, key)
        if isinstance(section, DictConfig) and not isinstance(parsed, DictConfig):
            raise RecipeError(f"{key} is a section: set a key inside it, such as {key}.{next(iter(section), 'key')}")
        OmegaConf.update(config, key, parsed, force_add=adds)
    except (OmegaConfBaseException, YAMLError, ValueError) as error:
        raise RecipeError(f"cannot set {key} to {value}: {str(error).splitlines()[0]}") from error


def _exists(config: DictConfig, key: str) -> bool:
    parent, _, leaf = key.rpartition(".")
    try:
        node = OmegaConf.select(config, parent) if parent else config
    except OmegaConfBaseException:
        return False
    return isinstance(node, DictConfig) and leaf in node


def _known(kind: str, name: str, known: list[str]) -> None:
    if name not in known:
        raise RecipeError(f"no such {kind}: {name}{_nearest(name, known)}; there are {', '.join(known)}")


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f", did you mean {close[0]}?" if close else ""
