"""What verl's engines and optimisers receive from a recipe: configuration objects, built by verl's own code."""

import ast
import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

from demur_training import recipes
from demur_training.errors import RecipeError


@dataclass(frozen=True)
class Received:
    """The configuration of a role's engine and of its optimiser."""

    engine: Any
    optim: Any


def received(config: DictConfig) -> dict[str, Received]:
    """As verl 0.9.1 builds them: `ActorRolloutRefWorker.init_model` for the actor, `PPOTrainer._setup` for the critic."""
    from verl.utils.config import omega_conf_to_dataclass

    actor: Any = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    actor.engine.max_token_len_per_gpu = config.actor_rollout_ref.actor.ppo_max_token_len_per_gpu
    actor.engine.infer_max_token_len_per_gpu = config.actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu
    critic: Any = omega_conf_to_dataclass(config.critic)
    critic.engine.infer_max_token_len_per_gpu = critic.ppo_infer_max_token_len_per_gpu
    critic.engine.max_token_len_per_gpu = critic.ppo_infer_max_token_len_per_gpu
    return {"actor": Received(actor.engine, actor.optim), "critic": Received(critic.engine, critic.optim)}


def compose(model: Path, *overrides: str, recipe: str = "confidence-brier", scale: str = "1x8") -> DictConfig:
    return recipes.compose(recipe, scale, [f"actor_rollout_ref.model.path={model}", *overrides])


@pytest.mark.parametrize("role", ["actor", "critic"])
def test_an_engine_takes_one_longest_sequence_and_no_more(role: str, tiny_model: Path) -> None:
    longest = 2048 + 20480
    engine = received(compose(tiny_model))[role].engine
    assert (engine.max_token_len_per_gpu, engine.infer_max_token_len_per_gpu) == (longest, longest)
    assert engine.strategy == "fsdp2"


@pytest.mark.parametrize("role", ["actor", "critic"])
def test_one_key_sets_the_token_budget_of_all_engines(role: str, tiny_model: Path) -> None:
    engine = received(compose(tiny_model, "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=50000"))[role].engine
    assert (engine.max_token_len_per_gpu, engine.infer_max_token_len_per_gpu) == (50000, 50000)


@pytest.mark.parametrize(("role", "learning_rate", "weight_decay"), [("actor", 1e-6, 0.1), ("critic", 1e-5, 0.01)])
def test_an_optimiser_gets_the_papers_settings(
    role: str, learning_rate: float, weight_decay: float, tiny_model: Path
) -> None:
    optim = received(compose(tiny_model))[role].optim
    assert (optim.lr, optim.weight_decay, optim.lr_warmup_steps) == (learning_rate, weight_decay, 10)
    assert (optim.clip_grad, optim.lr_scheduler_type, optim.optimizer) == (1.0, "constant", "AdamW")


READ = {
    "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu": (
        "40000",
        lambda got: got["actor"].engine.infer_max_token_len_per_gpu,
    ),
    "actor_rollout_ref.actor.optim.clip_grad": ("0.5", lambda got: got["actor"].optim.clip_grad),
    "actor_rollout_ref.actor.fsdp_config.use_torch_compile": (
        "false",
        lambda got: got["actor"].engine.use_torch_compile,
    ),
    "critic.optim.clip_grad": ("0.5", lambda got: got["critic"].optim.clip_grad),
    "critic.ppo_infer_max_token_len_per_gpu": ("40000", lambda got: got["critic"].engine.max_token_len_per_gpu),
    "critic.fsdp.ulysses_sequence_parallel_size": (
        "2",
        lambda got: got["critic"].engine.ulysses_sequence_parallel_size,
    ),
}


@pytest.mark.parametrize("key", READ)
def test_the_key_that_is_recommended_reaches_the_engine(key: str, tiny_model: Path) -> None:
    value, look = READ[key]
    before, after = look(received(compose(tiny_model))), look(received(compose(tiny_model, f"{key}={value}")))
    assert str(after).lower() == value
    assert after != before


@pytest.mark.parametrize("key", [key for key, instead in recipes.UNREAD.items() if instead])
def test_a_key_that_reaches_no_engine_names_the_one_that_does(key: str, tiny_model: Path) -> None:
    assert recipes.UNREAD[key] in READ
    value = {"use_torch_compile": False}.get(key.rpartition(".")[2], 7)
    config = compose(tiny_model)
    before = received(config)
    OmegaConf.update(config, key, value, force_add=True)
    assert received(config) == before
    for prefix in ("", "+"):
        with pytest.raises(RecipeError, match=f"{key} and does not read it: set {recipes.UNREAD[key]}"):
            compose(tiny_model, f"{prefix}{key}={value}")


@pytest.mark.parametrize("key", [key for key, instead in recipes.UNREAD.items() if instead is None])
def test_a_key_that_nothing_reads_is_a_key_of_verls_that_its_code_does_not_mention(key: str) -> None:
    known = {name for name, _ in recipes.flatten(recipes.verl_defaults())}
    assert key in known
    leaf = key.rpartition(".")[2]
    reads = re.compile(rf"""\.{leaf}\b(?!=)|(?:get|pop|select)\([^()]*["'][\w.]*\b{leaf}["']|\[["']{leaf}["']\]""")
    assert not [name for name, code in code_of_a_run().items() if reads.search(code)]
    with pytest.raises(RecipeError, match=f"{key} and does not read it, and has nothing in its place"):
        recipes.compose("ppo", "1x8", [f"{key}=1"])


@cache
def code_of_a_run() -> dict[str, str]:
    """verl's modules, without those that only declare settings and without other trainers than the synchronous one; of
    the old trainer's module the functions that the synchronous one takes from it."""
    [root] = importlib.util.find_spec("verl").submodule_search_locations  # type: ignore[union-attr]
    others = (
        "trainer/config/",
        "workers/config/",
        "experimental/fully_async",
        "experimental/separation",
        "experimental/one_step",
        "trainer/main_ppo_v0",
        "trainer/sft_trainer",
    )
    names = {path.relative_to(root).as_posix(): path.read_text() for path in Path(root).rglob("*.py")}
    code = {name: text for name, text in names.items() if not name.startswith(others)}
    code["trainer/ppo/ray_trainer.py"] = "\n".join(borrowed(code["trainer/ppo/ray_trainer.py"], code))
    return code


def borrowed(source: str, code: dict[str, str]) -> list[str]:
    """Of the module of the old trainer, the functions that modules of the synchronous one import."""
    taken = {
        alias.name
        for name, text in code.items()
        if name.startswith("trainer/ppo/v1/")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == "verl.trainer.ppo.ray_trainer"
        for alias in node.names
    }
    found = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name in taken]
    assert {node.name for node in found} == taken
    return [ast.unparse(node) for node in found]


def test_what_verl_reads_and_gets_wrong_is_refused_with_what_it_does() -> None:
    """`compute_advantage` draws rows of a batch anew, and the trainer writes its results back under the old keys."""
    taken = code_of_a_run()["trainer/ppo/ray_trainer.py"]
    assert "use_pf_ppo" in taken
    assert "compute_pf_ppo_reweight_data" in taken
    engine = code_of_a_run()["workers/engine/fsdp/transformer_impl.py"]
    assert "lora_rank" in engine
    assert '.lora.get("rank"' not in engine
    assert '.get("lora", {}).get("rank"' in code_of_a_run()["trainer/ppo/v1/trainer_base.py"]
    for key in recipes.BROKEN:
        assert key in {name for name, _ in recipes.flatten(recipes.verl_defaults())}
        with pytest.raises(RecipeError, match=f"verl breaks a run with {key}"):
            recipes.compose("ppo", "1x8", [f"{key}=1"])
