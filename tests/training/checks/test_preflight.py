import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig

from demur_training import recipes
from demur_training.checks import preflight
from demur_training.data.preparation import DataSettings, write
from demur_training.errors import DataError, EnvironmentProblem, ModelError, RecipeError, TrainingError


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    rows = [{"question": f"What is {i}+{i}?", "answer": str(2 * i)} for i in range(120)]
    write(rows, "sums", DataSettings("response"), folder)
    return folder


def compose(model: Path, data: Path, *overrides: str, recipe: str = "confidence-brier") -> DictConfig:
    return recipes.compose(
        recipe,
        "cpu-smoke",
        [
            f"actor_rollout_ref.model.path={model}",
            f"data.train_files=[{data / 'train.parquet'}]",
            f"data.val_files=[{data / 'val.parquet'}]",
            f"trainer.default_local_dir={data / 'run'}",
            *overrides,
        ],
    )


def test_a_run_that_can_start_has_nothing_to_say(tiny_model: Path, data: Path) -> None:
    assert preflight.check(compose(tiny_model, data)) == []


@pytest.mark.parametrize(
    ("overrides", "error", "message"),
    [
        (["actor_rollout_ref.model.path=/nowhere/model"], ModelError, "no such model folder: /nowhere/model"),
        (["data.train_files=[/nowhere.parquet]"], DataError, "train_files: no such file.*demur-train data"),
        (["data.val_files=[/nowhere.parquet]"], DataError, "val_files: no such file"),
        (["data.max_prompt_length=20"], ModelError, "every prompt is longer than data.max_prompt_length=20"),
        (["data.train_batch_size=120"], DataError, "has 108 rows, fewer than data.train_batch_size=120"),
        (["data.train_batch_size=4"], RecipeError, "ppo_mini_batch_size is larger"),
        (["data.max_response_length=500"], RecipeError, "max_model_len=.* is shorter"),
        (
            ["actor_rollout_ref.rollout.max_model_len=null", "data.max_response_length=99999"],
            RecipeError,
            "cannot hold one longest sequence",
        ),
        (
            ["actor_rollout_ref.actor.ppo_max_token_len_per_gpu=200"],
            RecipeError,
            r"actor.ppo_max_token_len_per_gpu: 200 tokens cannot hold one longest sequence \(288\)",
        ),
        (
            ["actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu=200"],
            RecipeError,
            "rollout.log_prob_max_token_len_per_gpu: 200 tokens cannot hold",
        ),
        (
            ["critic.ppo_infer_max_token_len_per_gpu=200"],
            RecipeError,
            "critic.ppo_infer_max_token_len_per_gpu: 200 tokens cannot hold",
        ),
        (["trainer.v1.trainer_mode=colocate_async"], RecipeError, "trainer_mode=colocate_async is not implemented"),
        (["trainer.v1.trainer_mode=separate_async"], RecipeError, "trainer_mode=separate_async is not implemented"),
        (["trainer.max_critic_ckpt_to_keep=5"], RecipeError, "max_critic_ckpt_to_keep=5 differs from"),
        (["demur.advantages=two"], RecipeError, "demur.advantages=two: there are one, decoupled"),
        (["demur.advantages=decoupled"], RecipeError, "decoupled is for algorithm.adv_estimator=grpo"),
        (
            ["demur.advantages=decoupled", "algorithm.adv_estimator=grpo", "demur.loop=exact"],
            RecipeError,
            "decoupled is for demur.loop=verl",
        ),
        (
            [
                "demur.advantages=decoupled",
                "algorithm.adv_estimator=grpo",
                "reward.custom_reward_function.reward_kwargs.rule=binary",
            ],
            RecipeError,
            "decoupled needs a confidence that is scored",
        ),
        (
            ["actor_rollout_ref.model.override_config.attn_implementation=flash_attention_2"],
            EnvironmentProblem,
            "flash-attn is not installed",
        ),
        (["trainer.logger=[console,mlflow]"], EnvironmentProblem, "mlflow is not installed: .*pip install mlflow"),
        (["reward.custom_reward_function.reward_kwargs.rule=briar"], RecipeError, "no such reward rule: briar"),
        (["reward.custom_reward_function.reward_kwargs.contract=claims"], DataError, "follows the contract response"),
    ],
)
def test_what_cannot_work_is_one_line(
    overrides: list[str], error: type[TrainingError], message: str, tiny_model: Path, data: Path
) -> None:
    with pytest.raises(error, match=message) as caught:
        preflight.check(compose(tiny_model, data, *overrides))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "recipe"),
    [
        (["critic.ppo_infer_max_token_len_per_gpu=150", "critic.fsdp.ulysses_sequence_parallel_size=2"], "ppo"),
        (
            [
                "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=150",
                "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2",
                "critic.ppo_infer_max_token_len_per_gpu=300",
                "actor_rollout_ref.model.use_remove_padding=true",
            ],
            "ppo",
        ),
        (["critic.ppo_infer_max_token_len_per_gpu=150"], "confidence-ce"),  # which has no critic
    ],
)
def test_a_split_sequence_needs_less_room_on_each_gpu(
    overrides: list[str], recipe: str, tiny_model: Path, data: Path
) -> None:
    assert preflight.check(compose(tiny_model, data, *overrides, recipe=recipe)) == []


@pytest.mark.parametrize("machine", [["trainer.nnodes=4"], ["trainer.n_gpus_per_node=8"]])
def test_a_loop_for_one_device_is_not_given_more(machine: list[str], tiny_model: Path, data: Path) -> None:
    with pytest.raises(RecipeError, match="confidence-exact trains on one device"):
        preflight.check(compose(tiny_model, data, *machine, recipe="confidence-exact"))
    assert preflight.check(compose(tiny_model, data, recipe="confidence-exact")) == []


def test_trackers_that_are_installed_are_taken(tiny_model: Path, data: Path) -> None:
    assert preflight.check(compose(tiny_model, data, "trainer.logger=[console,tensorboard,wandb,file]")) == []


def test_a_base_model_without_a_chat_template_is_refused(tiny_model: Path, data: Path, tmp_path: Path) -> None:
    bare = Path(shutil.copytree(tiny_model, tmp_path / "bare"))
    (bare / "chat_template.jinja").unlink()
    with pytest.raises(ModelError, match="has no chat template"):
        preflight.check(compose(bare, data))


def test_long_prompts_are_counted(tiny_model: Path, data: Path, tmp_path: Path) -> None:
    rows = [
        {"question": f"What is {i}+{i}? " + "really? " * (40 * (i % 4 == 0)), "answer": str(2 * i)} for i in range(120)
    ]
    write(rows, "sums", DataSettings("response"), tmp_path, validation=rows[1:4])
    remarks = preflight.check(compose(tiny_model, tmp_path, "data.max_prompt_length=300"))
    assert remarks == [
        f"{tmp_path / 'train.parquet'}: 30 of 117 prompts exceed data.max_prompt_length=300 and are left out"
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"prompt": []}, "row 0: no prompt"),
        ({"prompt": [{"role": "user", "content": "?"}], "reward_model": {"ground_truth": ""}}, "row 0: no answer"),
        ({"prompt": [{"role": "user", "content": "?"}], "reward_model": {"ground_truth": "1"}}, "contract None"),
    ],
)
def test_rows_of_other_making_are_named(row: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        preflight.check_rows([row], "file", "response")


def test_a_half_written_checkpoint_is_not_resumed_from(tiny_model: Path, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "global_step_4" / "actor"
    folder.mkdir(parents=True)
    (folder / "fsdp_config.json").write_text(json.dumps({"world_size": 1}))
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("4")
    remarks = preflight.check(compose(tiny_model, data, f"trainer.default_local_dir={tmp_path}"))
    assert remarks == [f"no whole checkpoint in {tmp_path}: starting from the beginning"]
