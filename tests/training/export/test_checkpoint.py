import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from omegaconf import OmegaConf

from demur.manifest import Manifest
from demur_training import recipes
from demur_training.errors import CheckpointError
from demur_training.export.adapter import factors
from demur_training.export.checkpoint import export
from demur_training.export.merging import as_critic
from demur_training.run import checkpoints, retention
from demur_training.run.training_metrics import RunLog

CHANGE = 0.05


@pytest.fixture(scope="module")
def weights(tiny_model: Path) -> dict[str, Any]:
    """What training made of the tiny model: a change of rank 2 in every linear layer, one of the norms too."""
    from transformers import AutoModelForCausalLM

    torch.manual_seed(0)
    state = AutoModelForCausalLM.from_pretrained(tiny_model).state_dict()
    for name, weight in state.items():
        if "_proj" in name:
            state[name] = weight + CHANGE * torch.randn(len(weight), 2) @ torch.randn(2, weight.shape[1])
    return state


@pytest.fixture
def run(tiny_model: Path, weights: dict[str, Any], tmp_path: Path) -> Path:
    """A run's folder with one checkpoint, as verl leaves it on one device."""
    from transformers import AutoModelForTokenClassification

    torch.manual_seed(1)
    critic = AutoModelForTokenClassification.from_pretrained(tiny_model, num_labels=1).state_dict()
    folder = tmp_path / "run" / "global_step_8"
    for role, state in (("actor", weights), ("critic", critic)):
        shutil.copytree(tiny_model, folder / role / "huggingface", ignore=shutil.ignore_patterns("*.safetensors"))
        torch.save(state, folder / role / "model_world_size_1_rank_0.pt")
        torch.save({}, folder / role / "optim_world_size_1_rank_0.pt")
        (folder / role / "fsdp_config.json").write_text(json.dumps({"FSDP_version": 2, "world_size": 1}))
    torch.save({}, folder / "data.pt")
    configure(tmp_path / "run", tiny_model, "ppo-value")
    log = RunLog(tmp_path / "run" / "metrics.jsonl")
    log.append(4, {"val-calibration/sums/auc": 0.5})
    log.append(8, {"val-calibration/sums/auc": 0.75, "calibration/overlong_penalty": -0.01})
    log.append(9, {"val-calibration/sums/auc": 0.25})
    return tmp_path / "run"


def configure(run: Path, model: Path, recipe: str) -> None:
    config = recipes.compose(recipe, "cpu-smoke", [f"actor_rollout_ref.model.path={model}", "demur.domain=maths"])
    OmegaConf.save(config, run / "config.yaml", resolve=True)


def test_actor_and_critic_load_and_are_what_was_trained(run: Path, weights: dict[str, Any], tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoModelForTokenClassification

    out = tmp_path / "out"
    export(run, out)
    actor = AutoModelForCausalLM.from_pretrained(out).state_dict()
    assert all(torch.allclose(actor[name].float(), weight, atol=2e-2) for name, weight in weights.items())
    config = json.loads((out / "critic" / "config.json").read_text())
    assert config["architectures"] == ["LlamaForTokenClassification"]
    critic = AutoModelForTokenClassification.from_pretrained(out / "critic")
    trained = torch.load(run / "global_step_8" / "critic" / "model_world_size_1_rank_0.pt")
    assert critic.num_labels == 1
    assert torch.allclose(critic.score.weight.float(), trained["score.weight"], atol=1e-2)


def test_the_manifest_says_how_to_read_the_model_and_its_critic(run: Path, tiny_model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported = export(run / "global_step_8", out, name="sums-value")
    manifest = Manifest.load(out)
    assert manifest == exported.manifest
    assert (manifest.name, manifest.recipe, manifest.base) == ("sums-value", "ppo-value", str(tiny_model))
    assert manifest.critic is not None
    assert (manifest.critic.path, manifest.critic.scale) == ("critic", "unit")
    assert not manifest.calibrated  # its stated confidence earned nothing
    assert manifest.metrics == {"sums/auc": 0.75}
    assert manifest.training["step"] == 8
    assert manifest.training["domain"] == "maths"  # the server words its prompts by it
    text = (out / "README.md").read_text()
    assert "| sums/auc | 0.750 |" in text
    assert "-0.010" in text


def test_a_critic_that_predicts_another_reward_is_left_out(run: Path, tiny_model: Path, tmp_path: Path) -> None:
    configure(run, tiny_model, "confidence-brier")
    exported = export(run, tmp_path / "out")
    assert exported.manifest.calibrated
    assert exported.manifest.critic is None
    assert not (tmp_path / "out" / "critic").exists()
    assert "ppo-value" in exported.remarks[1]


@pytest.mark.parametrize(("recipe", "scale"), [("ppo", "signed"), ("ppo-value", "unit")])
def test_the_scale_follows_the_returns(recipe: str, scale: str, run: Path, tiny_model: Path, tmp_path: Path) -> None:
    configure(run, tiny_model, recipe)
    critic = export(run, tmp_path / "out").manifest.critic
    assert critic is not None
    assert critic.scale == scale


def test_an_adapter_of_full_enough_rank_loses_nothing(
    run: Path, weights: dict[str, Any], tiny_model: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM

    remark = export(run, tmp_path / "out", rank=4).remarks[0]
    adapter = load_file(tmp_path / "out" / "adapter_model.safetensors")
    base = AutoModelForCausalLM.from_pretrained(tiny_model).state_dict()
    name = "model.layers.1.mlp.down_proj"
    change = adapter[f"base_model.model.{name}.lora_B.weight"] @ adapter[f"base_model.model.{name}.lora_A.weight"]
    assert torch.allclose(base[f"{name}.weight"] + change, weights[f"{name}.weight"], atol=2e-2)
    settings = json.loads((tmp_path / "out" / "adapter_config.json").read_text())
    assert (settings["r"], settings["lora_alpha"], settings["base_model_name_or_path"]) == (4, 4, str(tiny_model))
    assert "0.0% of the change lost" in remark


def test_an_adapter_says_what_its_rank_loses(run: Path, tmp_path: Path) -> None:
    remark = export(run, tmp_path / "out", rank=1).remarks[0]
    lost = float(remark.split(", ")[1].split("%")[0])
    assert 10 < lost < 60


def test_factors_are_the_best_of_their_rank() -> None:
    change = torch.diag(torch.tensor([3.0, 2.0, 1.0]))
    b, a = factors(change, 2)
    assert torch.allclose(b @ a, torch.diag(torch.tensor([3.0, 2.0, 0.0])), atol=1e-6)


def test_a_checkpoint_of_the_exact_loop_needs_no_merging(run: Path, tiny_model: Path, tmp_path: Path) -> None:
    configure(run, tiny_model, "confidence-exact")
    shutil.rmtree(run / "global_step_8")
    shutil.copytree(tiny_model, run / "global_step_3" / checkpoints.PLAIN)
    torch.save({}, run / "global_step_3" / checkpoints.PLAIN_STATE)
    manifest = export(run, tmp_path / "out").manifest
    assert (manifest.recipe, manifest.calibrated) == ("confidence-exact", True)
    assert (tmp_path / "out" / "model.safetensors").is_file()


def test_what_cannot_be_exported_is_one_line(run: Path, tmp_path: Path) -> None:
    for missing, message in (("global_step_8/data.pt", "no whole checkpoint"), ("config.yaml", "has no config.yaml")):
        copy = Path(shutil.copytree(run, tmp_path / missing.replace("/", "_")))
        (copy / missing).unlink()
        with pytest.raises(CheckpointError, match=message):
            export(copy, tmp_path / "out")
    with pytest.raises(CheckpointError, match="no such checkpoint"):
        export(tmp_path / "nowhere", tmp_path / "out")
    (run / "global_step_8" / "critic" / "model_world_size_1_rank_0.pt").unlink()
    with pytest.raises(CheckpointError, match=r"half written: model_world_size_1_rank_0\.pt is missing"):
        export(run / "global_step_8", tmp_path / "out")


def test_a_critic_is_described_as_what_it_is() -> None:
    config = as_critic({"architectures": ["Qwen3ForCausalLM"], "hidden_size": 64})
    assert config["architectures"] == ["Qwen3ForTokenClassification"]
    assert config["num_labels"] == 1


def test_the_best_of_a_run_is_exported_when_asked_for(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run / "global_step_8", run / "global_step_12")
    with pytest.raises(CheckpointError, match=r"no checkpoint in .* was validated"):
        export(run, tmp_path / "out", best="reward")
    with pytest.raises(CheckpointError, match="--best accuracy: checkpoints are compared by reward or smece"):
        export(run, tmp_path / "out", best="accuracy")
    log = RunLog(run / "metrics.jsonl")
    for step, reward, smece in ((8, 0.5, 0.2), (12, 0.4, 0.1)):
        figures = {retention.REWARD: reward, retention.SMECE: smece}
        log.append(step, {name.format(source="sums"): value for name, value in figures.items()})
    assert export(run, tmp_path / "best", best="reward").manifest.training["step"] == 8
    assert export(run, tmp_path / "calibrated", best="smece").manifest.training["step"] == 12
    assert export(run, tmp_path / "newest").manifest.training["step"] == 12
