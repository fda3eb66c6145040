"""Everything that can be known to be wrong before a run starts: seconds now instead of an hour later."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from demur.core.contracts import CONTRACTS
from demur_training import recipes
from demur_training.base_model import load_tokenizer
from demur_training.checks import attention
from demur_training.data.rows import read_file
from demur_training.errors import DataError, EnvironmentProblem, ModelError, RecipeError
from demur_training.rewards import check_settings
from demur_training.run import checkpoints
from demur_training.versions import installed, require_tested_verl

MEASURED_PROMPTS = 2000
ADVANTAGES = ("one", "decoupled")
TRACKERS = ("tensorboard", "wandb", "mlflow", "swanlab", "trackio", "clearml")
"""verl's loggers that import a package of their own name."""


def check(config: DictConfig) -> list[str]:
    """Raise TrainingError for what cannot work; returns remarks for what will work otherwise than expected."""
    require_tested_verl(installed("verl"))
    attention.require(config)
    settings = recipes.reward_settings(config)
    check_settings(settings)
    tokenizer = load_tokenizer(config.actor_rollout_ref.model.path)
    remarks = []
    for key in ("train_files", "val_files"):
        for name in _listed(config.data[key]):
            rows = read_rows(name, key)
            check_rows(rows, name, settings["contract"])
            remarks += _check_lengths(rows, name, tokenizer, config.data.max_prompt_length)
            if key == "train_files":
                _check_batch(rows, name, config)
    _check_loop(config)
    _check_advantages(config)
    _check_loggers(config)
    _check_context(config)
    _check_retention(config)
    recipes.validate(config)
    return remarks + _check_resume(config)


def read_rows(name: str, key: str) -> list[dict[str, Any]]:
    """The rows of a file that verl reads. Raises DataError when it is missing or empty."""
    if not Path(name).is_file():
        raise DataError(f"data.{key}: no such file: {name} (write it with `demur-train data`)")
    rows = list(read_file(Path(name)))
    if not rows:
        raise DataError(f"data.{key}: {name} has no rows")
    return rows


def check_rows(rows: list[dict[str, Any]], name: str, contract: str) -> None:
    """Raise DataError unless every row has a prompt, an answer and the recipe's contract."""
    for number, row in enumerate(rows):
        if not row.get("prompt"):
            raise DataError(f"{name}, row {number}: no prompt (write the file with `demur-train data`)")
        if not (row.get("reward_model") or {}).get("ground_truth"):
            raise DataError(f"{name}, row {number}: no answer in reward_model.ground_truth")
        written = (row.get("extra_info") or {}).get("contract")
        if written != contract:
            raise DataError(
                f"{name}, row {number}: its prompt follows the contract {written}, the recipe's is {contract}:"
                " write the file again with this recipe"
            )


def domain(config: DictConfig) -> str:
    """The domain the training prompts were written for."""
    return read_rows(_listed(config.data.train_files)[0], "train_files")[0]["extra_info"]["domain"]


def _check_lengths(rows: list[dict[str, Any]], name: str, tokenizer: Any, limit: int) -> list[str]:
    measured = rows[:MEASURED_PROMPTS]
    lengths = list(prompt_lengths(measured, tokenizer))
    too_long = sum(length > limit for length in lengths)
    if too_long == len(lengths):
        raise ModelError(
            f"{name}: every prompt is longer than data.max_prompt_length={limit}; the longest has {max(lengths)} tokens"
        )
    if not too_long:
        return []
    return [f"{name}: {too_long} of {len(lengths)} prompts exceed data.max_prompt_length={limit} and are left out"]


def prompt_lengths(rows: list[dict[str, Any]], tokenizer: Any) -> Iterator[int]:
    """Tokens of each prompt, chat template included."""
    for row in rows:
        text = tokenizer.apply_chat_template(row["prompt"], add_generation_prompt=True, tokenize=False)
        yield len(tokenizer(text, add_special_tokens=False)["input_ids"])


def _check_batch(rows: list[Mapping[str, Any]] | list[dict[str, Any]], name: str, config: DictConfig) -> None:
    size = config.data.train_batch_size
    if len(rows) < size:
        raise DataError(f"{name} has {len(rows)} rows, fewer than data.train_batch_size={size}")
    if size < config.actor_rollout_ref.actor.ppo_mini_batch_size:
        raise RecipeError("actor_rollout_ref.actor.ppo_mini_batch_size is larger than data.train_batch_size")


def _check_loop(config: DictConfig) -> None:
    devices = config.trainer.nnodes * config.trainer.n_gpus_per_node
    if config.demur.loop == "exact" and devices != 1:
        raise RecipeError(
            f"{config.demur.recipe} trains on one device and would leave {devices - 1} of {devices} idle: set"
            " trainer.nnodes=1 trainer.n_gpus_per_node=1"
        )
    mode = config.trainer.v1.trainer_mode
    if config.demur.loop == "verl" and mode != "sync":
        raise RecipeError(f"trainer.v1.trainer_mode={mode} is not implemented: our trainer is verl's `sync` one")


def _check_advantages(config: DictConfig) -> None:
    kind = config.demur.advantages
    if kind not in ADVANTAGES:
        raise RecipeError(f"demur.advantages={kind}: there are {', '.join(ADVANTAGES)}")
    if kind != "decoupled":
        return
    settings = recipes.reward_settings(config)
    contract = CONTRACTS[settings["contract"]]
    wanted = {"demur.loop": "verl", "algorithm.adv_estimator": "grpo"}
    for key, value in wanted.items():
        if OmegaConf.select(config, key) != value:
            raise RecipeError(f"demur.advantages=decoupled is for {key}={value}")
    whole = contract.states_confidence and not contract.has_claims
    if not whole or settings["rule"] not in ("brier", "cross_entropy"):
        raise RecipeError(
            "demur.advantages=decoupled needs a confidence that is scored: reward_kwargs.contract=response with"
            " rule=brier or rule=cross_entropy"
        )


def _check_loggers(config: DictConfig) -> None:
    """verl imports a tracker when the models are loaded already."""
    for name in _listed(config.trainer.logger):
        if name in TRACKERS and find_spec(name) is None:
            raise EnvironmentProblem(f"trainer.logger: {name} is not installed: .venv/bin/uv pip install {name}")


def _check_context(config: DictConfig) -> None:
    needed = config.data.max_prompt_length + config.data.max_response_length
    context = config.actor_rollout_ref.rollout.max_model_len
    if context is not None and context < needed:
        raise RecipeError(
            f"actor_rollout_ref.rollout.max_model_len={context} is shorter than the longest prompt and response"
            f" together ({needed})"
        )
    if config.actor_rollout_ref.actor.use_dynamic_bsz:
        for key, budget in _token_budgets(config).items():
            if budget < needed:
                raise RecipeError(f"{key}: {budget} tokens cannot hold one longest sequence ({needed})")


def _token_budgets(config: DictConfig) -> Mapping[str, int]:
    """What the engines take into one micro-batch, by the key that says so; a split sequence is on several GPUs."""
    from verl.trainer.ppo.utils import need_critic

    actor, critic = config.actor_rollout_ref.actor, config.critic
    split = max(actor.ulysses_sequence_parallel_size, actor.fsdp_config.ulysses_sequence_parallel_size)
    budgets = {
        "actor_rollout_ref.actor.ppo_max_token_len_per_gpu": actor.ppo_max_token_len_per_gpu * split,
        "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu": (
            config.actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu * split
        ),
    }
    if need_critic(config):
        own = critic.ppo_infer_max_token_len_per_gpu * critic.fsdp.ulysses_sequence_parallel_size
        budgets["critic.ppo_infer_max_token_len_per_gpu"] = own
    return budgets


def _check_retention(config: DictConfig) -> None:
    actor, critic = config.trainer.max_actor_ckpt_to_keep, config.trainer.max_critic_ckpt_to_keep
    if actor != critic:
        raise RecipeError(
            f"trainer.max_critic_ckpt_to_keep={critic} differs from trainer.max_actor_ckpt_to_keep={actor}, but a"
            " checkpoint is kept or removed as a whole: set the latter only"
        )


def _check_resume(config: DictConfig) -> list[str]:
    run = Path(config.trainer.default_local_dir)
    if config.trainer.resume_mode != "auto" or not run.is_dir():
        return []
    repaired = checkpoints.repair_tracker(run)
    remarks = [repaired] if repaired else []
    newest = checkpoints.latest(run)
    return [*remarks, f"resuming from {newest}"] if newest else remarks


def _listed(files: Any) -> list[str]:
    return [files] if isinstance(files, str) else list(files)
