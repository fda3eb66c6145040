from pathlib import Path
from typing import Any

import pytest
import torch
from omegaconf import DictConfig

from demur.core.reward_rules import brier
from demur_training import recipes
from demur_training.data.preparation import DataSettings, write
from demur_training.exact.expected_reward import LABEL, Endings, log_probs
from demur_training.exact.loop import Objective, due, total_steps, train
from demur_training.exact.sampling import ScoredSample, label_end
from demur_training.rewards import Reward
from demur_training.run import checkpoints, retention, validation_outputs
from demur_training.run.training_metrics import read_log


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_model)


@pytest.fixture
def model(tiny_model: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(tiny_model)


@pytest.fixture
def config(tiny_model: Path, tmp_path: Path) -> DictConfig:
    rows = [{"question": f"What is {i}+{i}?", "answer": str(2 * i)} for i in range(20)]
    write(rows, "sums", DataSettings("response"), tmp_path / "data")
    overrides = [
        f"actor_rollout_ref.model.path={tiny_model}",
        f"data.train_files=[{tmp_path / 'data' / 'train.parquet'}]",
        f"data.val_files=[{tmp_path / 'data' / 'val.parquet'}]",
        f"trainer.default_local_dir={tmp_path / 'run'}",
        "data.train_batch_size=2",
        "data.max_response_length=8",
        "actor_rollout_ref.rollout.n=2",
        "trainer.save_freq=1",
        "trainer.test_freq=2",
        "trainer.total_training_steps=2",
    ]
    return recipes.compose("confidence-exact", "cpu-smoke", overrides)


def sample(tokenizer: Any, confidence: str, valid: bool) -> ScoredSample:
    """A well-formed output, as the sampler describes one."""
    response = [*tokenizer.encode(f"Answer: 4\n{LABEL} {confidence}"), tokenizer.eos_token_id]
    score = brier(float(confidence), valid)
    reward = Reward(
        score=score, valid=float(valid), confidence=float(confidence), format=1, overlong=0, abstained=0, claims=0
    )
    return ScoredSample(tokenizer.encode("What is 2+2?"), response, reward, score, label_end(response, tokenizer))


def test_the_label_is_found_in_the_models_own_tokens(tokenizer: Any) -> None:
    response = [*tokenizer.encode(f"{LABEL} is hard\nAnswer: 4\n{LABEL} 0.25"), tokenizer.eos_token_id]
    count = label_end(response, tokenizer)
    assert count is not None
    assert tokenizer.decode(response[:count]) == f"{LABEL} is hard\nAnswer: 4\n{LABEL}"


@pytest.mark.parametrize("valid", [True, False])
def test_one_output_teaches_the_whole_distribution_of_confidences(valid: bool, model: Any, tokenizer: Any) -> None:
    endings = Endings.of(tokenizer.encode, tokenizer.eos_token_id)
    objective = Objective(model, endings, "brier", "exact")
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    drawn = sample(tokenizer, "0.50", valid)
    context = torch.tensor(drawn.prompt + drawn.response[: drawn.label])
    for _ in range(60):  # a random model hardly ever ends as the contract asks, and has nothing to learn from
        (-log_probs(model, context, endings)[0].mean()).backward()
        optimizer.step()
        optimizer.zero_grad()
    for _ in range(60):
        objective.backward([drawn], 1.0)
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        p = log_probs(model, context, endings)[0].exp()
    stated = float((p * torch.tensor(endings.value)).sum() / p.sum())
    assert float(p.sum()) > 0.9  # what fits the contract
    assert stated > 0.8 if valid else stated < 0.2


def test_a_sampled_estimate_moves_only_with_another_sample_to_compare(model: Any, tokenizer: Any) -> None:
    objective = Objective(model, Endings.of(tokenizer.encode, tokenizer.eos_token_id), "brier", "sampled")
    objective.backward([sample(tokenizer, "0.90", True)], 1.0)
    assert all(p.grad is None or float(p.grad.abs().max()) == 0 for p in model.parameters())
    objective.backward([sample(tokenizer, "0.90", True), sample(tokenizer, "0.10", True)], 0.5)
    assert max(float(p.grad.abs().max()) for p in model.parameters() if p.grad is not None) > 0


def test_a_run_logs_validates_saves_and_goes_on(config: DictConfig, tmp_path: Path) -> None:
    train(config)
    log = tmp_path / "run" / "metrics.jsonl"
    rows = read_log(log)
    assert [row["step"] for row in rows] == [1, 2]
    assert any(key.startswith("val-calibration/sums/") for key in rows[1])
    assert retention.best(tmp_path / "run") == 2
    outputs = validation_outputs.read(tmp_path / "run", 2)
    assert outputs[0].prompt
    assert sum(one.score for one in outputs) / len(outputs) == pytest.approx(rows[1]["val-core/sums/reward/mean@1"])
    config.trainer.total_training_steps = 3
    config.trainer.max_actor_ckpt_to_keep = 1
    log.write_text(log.read_text().replace("val-core", "unknown"))  # so that the newest is the best
    train(config)
    assert [row["step"] for row in read_log(log)] == [1, 2, 3]
    assert checkpoints.steps(tmp_path / "run") == [3]
    assert (tmp_path / "run" / "global_step_3" / "state.pt").is_file()
    state = torch.load(tmp_path / "run" / "global_step_3" / "state.pt")
    assert state["optimizer"]["state"][0]["step"] == 3  # the optimizer went on, too


@pytest.mark.parametrize(
    ("step", "every", "total", "expected"),
    [(5, 5, 9, True), (6, 5, 9, False), (9, 5, 9, True), (9, -1, 9, False), (9, 0, 9, False)],
)
def test_what_is_due(step: int, every: int, total: int, expected: bool) -> None:
    assert due(step, every, total) is expected


def test_steps_are_counted_as_verl_does(config: DictConfig) -> None:
    assert total_steps(config, 100) == 2
    config.trainer.total_training_steps = None
    assert total_steps(config, 101) == 50 * config.trainer.total_epochs
    config.trainer.total_training_steps = 7
    config.trainer.total_epochs = 2
    assert total_steps(config, 7) == 6
