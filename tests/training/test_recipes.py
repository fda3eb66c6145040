from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from demur_training import recipes
from demur_training.errors import RecipeError
from demur_training.rewards import check_settings

# The paper's table of hyper-parameters, with the keys it names as verl spells them.
PAPER: dict[str, Any] = {
    "data.max_response_length": 20480,
    "data.train_batch_size": 512,
    "actor_rollout_ref.rollout.n": 16,
    "actor_rollout_ref.actor.ppo_mini_batch_size": 32,
    "actor_rollout_ref.rollout.temperature": 1.0,
    "actor_rollout_ref.rollout.top_p": 1.0,
    "actor_rollout_ref.rollout.top_k": -1,
    "actor_rollout_ref.rollout.val_kwargs.temperature": 1.0,
    "actor_rollout_ref.rollout.val_kwargs.top_p": 0.7,
    "actor_rollout_ref.rollout.val_kwargs.top_k": -1,
    "actor_rollout_ref.rollout.val_kwargs.do_sample": True,
    "algorithm.lam": 1.0,
    "algorithm.gamma": 1.0,
    "actor_rollout_ref.actor.clip_ratio_low": 0.2,
    "actor_rollout_ref.actor.clip_ratio_high": 0.28,
    "actor_rollout_ref.actor.clip_ratio_c": 10.0,
    "actor_rollout_ref.actor.entropy_coeff": 0,
    "algorithm.kl_ctrl.kl_coef": 0.0,
    "algorithm.use_kl_in_reward": False,
    "actor_rollout_ref.actor.kl_loss_coef": 0.0,
    "actor_rollout_ref.actor.use_kl_loss": False,
    "actor_rollout_ref.actor.loss_agg_mode": "token-mean",
    "actor_rollout_ref.actor.optim.lr": 1e-6,
    "actor_rollout_ref.actor.optim.lr_warmup_steps": 10,
    "actor_rollout_ref.actor.optim.weight_decay": 0.1,
    "reward.reward_kwargs.overlong_buffer_cfg.len": 4096,
    "reward.reward_kwargs.overlong_buffer_cfg.penalty_factor": 1.0,
}
PAPER_CRITIC: dict[str, Any] = {
    "critic.optim.lr": 1e-5,
    "critic.optim.lr_warmup_steps": 10,
    "critic.optim.weight_decay": 0.01,
    "critic.ppo_mini_batch_size": 32,
    # 20 critic-only steps: steps count from 1, and verl updates the actor once the step reaches this number.
    "trainer.critic_warmup": 21,
}
ALGORITHM = {
    "ppo": "gae",
    "ppo-value": "gae",
    "confidence-brier": "gae",
    "confidence-ce": "grpo",
    "confidence-prod": "gae",
    "confidence-min": "gae",
    "explicit-risk": "grpo",
    "confidence-decoupled": "grpo",
}
REWARD = {
    "ppo": ("response", "binary"),
    "ppo-value": ("response", "success"),
    "confidence-brier": ("response", "brier"),
    "confidence-ce": ("response", "cross_entropy"),
    "confidence-prod": ("claims", "brier"),
    "confidence-min": ("claims", "brier"),
    "explicit-risk": ("explicit_risk", "explicit_risk"),
    "confidence-decoupled": ("response", "brier"),
}


def test_all_recipes_but_the_exact_form_run_under_verl() -> None:
    assert set(ALGORITHM) == {name for name in recipes.names() if recipes.compose(name).demur.loop == "verl"}
    assert [name for name in ALGORITHM if recipes.compose(name).demur.advantages != "one"] == ["confidence-decoupled"]
    assert all(recipes.about(name) for name in recipes.names())


@pytest.mark.parametrize("scale", ["4x8", "1x8"])
@pytest.mark.parametrize("recipe", ALGORITHM)
def test_every_recipe_composes_validates_and_keeps_the_papers_table(recipe: str, scale: str, tiny_model: Path) -> None:
    config = recipes.compose(recipe, scale, [f"actor_rollout_ref.model.path={tiny_model}"])
    recipes.validate(config)
    table = PAPER | (PAPER_CRITIC if ALGORITHM[recipe] == "gae" else {"trainer.critic_warmup": 0})
    assert {key: OmegaConf.select(config, key) for key in table} == table
    assert config.algorithm.adv_estimator == ALGORITHM[recipe]
    assert config.critic.model.path == config.actor_rollout_ref.model.path
    assert (config.trainer.nnodes, config.trainer.n_gpus_per_node) == (int(scale[0]), 8)


@pytest.mark.parametrize("recipe", recipes.names())
def test_every_checkpoint_has_been_validated(recipe: str) -> None:
    trainer = recipes.compose(recipe).trainer
    assert trainer.test_freq > 0
    assert trainer.save_freq % trainer.test_freq == 0  # else the best of a run may have been thrown away


@pytest.mark.parametrize("recipe", ALGORITHM)
def test_every_recipe_validates_at_smoke_scale(recipe: str, tiny_model: Path) -> None:
    config = recipes.compose(recipe, "cpu-smoke", [f"actor_rollout_ref.model.path={tiny_model}"])
    recipes.validate(config)
    assert config.trainer.device == "cpu"


@pytest.mark.parametrize("recipe", REWARD)
def test_every_recipe_names_a_reward_we_have(recipe: str) -> None:
    settings = recipes.reward_settings(recipes.compose(recipe))
    check_settings(settings)
    assert (settings["contract"], settings["rule"]) == REWARD[recipe]
    assert settings["aggregation"] == {"confidence-prod": "product"}.get(recipe, "min")


# Keys verl's code reads and its files do not list; everything else in our files must be a key of verl's.
UNLISTED = {
    "critic.ppo_infer_max_token_len_per_gpu",
    "actor_rollout_ref.rollout.enable_sleep_mode",
    "actor_rollout_ref.rollout.engine_kwargs.vllm.worker_extension_cls",
    "actor_rollout_ref.model.override_config.attn_implementation",
    "critic.model.override_config.attn_implementation",
    "ray_kwargs.ray_init.num_gpus",
    "ray_kwargs.ray_init.include_dashboard",
}
OWN = ("demur.", "reward.reward_kwargs.", "reward.custom_reward_function.reward_kwargs.")


def test_our_files_hold_no_key_that_verl_does_not_know() -> None:
    known = {name for name, _ in recipes.flatten(recipes.verl_defaults())}
    for path in recipes.folder().rglob("*.yaml"):
        mine = {name for name, _ in recipes.flatten(OmegaConf.load(path))}
        unknown = {name for name in mine - known - UNLISTED if not name.startswith(OWN)}
        assert not unknown, f"{path.name}: {unknown}"
        assert not mine & set(recipes.UNREAD), path.name


def test_the_last_word_is_the_users() -> None:
    config = recipes.compose("ppo", "cpu-smoke", ["data.train_batch_size=8", "+trainer.note=mine", "trainer.logger=[]"])
    assert (config.data.train_batch_size, config.trainer.note, config.trainer.logger) == (8, "mine", [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("confidence-briar",), "did you mean confidence-brier"),
        (("ppo", "2x8"), "no such scale: 2x8"),
        (("ppo", "4x8", ["trainer.total_epoch=1"]), "did you mean trainer.total_epochs"),
        (("ppo", "4x8", ["trainer.total_epochs"]), "key=value"),
        (("ppo", "4x8", ["=1"]), "key=value"),
        (("ppo", "4x8", ["trainer=1"]), "trainer is a section"),
        (("ppo", "4x8", ["trainer.nnodes.x=1"]), "no such key"),
        (("ppo", "4x8", ["data.train_batch_size=[1"]), "cannot set data.train_batch_size"),
    ],
)
def test_what_does_not_exist_is_named_with_what_does(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        recipes.compose(*arguments)


def test_a_configuration_verl_refuses_is_one_line(tiny_model: Path) -> None:
    overrides = [f"actor_rollout_ref.model.path={tiny_model}", "actor_rollout_ref.actor.loss_agg_mode=token-median"]
    with pytest.raises(RecipeError, match="verl refuses this configuration"):
        recipes.validate(recipes.compose("ppo", "4x8", overrides))
