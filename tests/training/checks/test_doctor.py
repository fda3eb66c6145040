import dataclasses
import re
import shutil
from pathlib import Path

import pytest

from demur_training import recipes
from demur_training.checks import attention, doctor, machine, resource_estimate
from demur_training.checks.machine import Device, Driver
from demur_training.errors import EnvironmentProblem
from demur_training.versions import installed

QWEN3_4B = {
    "hidden_size": 2560,
    "num_hidden_layers": 36,
    "intermediate_size": 9728,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "tie_word_embeddings": True,
}
SHAPE = resource_estimate.Shape.of(QWEN3_4B)


def test_the_papers_model_has_four_billion_parameters() -> None:
    assert SHAPE.parameters == pytest.approx(4.02e9, rel=0.01)
    assert SHAPE.cache_bytes == 2 * 36 * 8 * 128 * 2


def test_a_tiny_model_is_counted_like_transformers_does(tiny_model: Path) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    norms = sum(p.numel() for name, p in model.named_parameters() if "norm" in name)
    assert resource_estimate.Shape.of(model.config.to_dict()).parameters == model.num_parameters() - norms


@pytest.mark.parametrize("scale", ["4x8", "1x8"])
@pytest.mark.parametrize("recipe", ["confidence-brier", "confidence-ce"])
def test_the_papers_scale_fits_on_eighty_gigabytes(recipe: str, scale: str) -> None:
    finding = doctor.fits(recipes.compose(recipe, scale), SHAPE, 80.0)
    assert finding.verdict == "ok", finding.what


def test_what_does_not_fit_comes_with_advice() -> None:
    crowded = recipes.compose("confidence-brier", "1x8", ["actor_rollout_ref.rollout.gpu_memory_utilization=0.9"])
    assert "gpu_memory_utilization" in doctor.fits(crowded, SHAPE, 80.0).what
    small = doctor.fits(recipes.compose("confidence-brier", "1x8"), SHAPE, 40.0)
    assert small.verdict == "missing"
    assert "ppo_max_token_len_per_gpu" in small.what


def test_states_are_shared_and_a_critic_doubles_them() -> None:
    def states(gpus: int, critic: bool) -> float:
        return resource_estimate.memory(SHAPE, resource_estimate.Workload(gpus, 1000, critic, 0.5, 1000)).states

    assert states(8, True) == pytest.approx(2 * states(8, False)) == pytest.approx(4 * states(32, True))
    assert states(8, True) == pytest.approx(2 * 4.02e9 * 16 / 8 / 2**30, rel=0.01)


def test_gpus_are_counted_against_the_scale() -> None:
    config = recipes.compose("ppo", "1x8")
    assert [f.verdict for f in doctor.hardware(config, [Device("H100", 80)] * 8)] == ["ok"]
    lacking = list(doctor.hardware(config, [Device("H100", 80)] * 2))
    assert lacking[0].verdict == "missing"
    assert "2 here (H100 (80 GiB)); the scale wants 8 on each of 1 nodes: take another --scale" in lacking[0].what


def test_a_cpu_machine_is_examined_for_the_smoke_scale(tiny_model: Path, tmp_path: Path) -> None:
    overrides = [f"actor_rollout_ref.model.path={tiny_model}", f"trainer.default_local_dir={tmp_path / 'run'}"]
    findings = doctor.examine(recipes.compose("confidence-brier", "cpu-smoke", overrides))
    assert not [finding.what for finding in findings if finding.verdict == "missing"]
    assert any("has a chat template" in finding.what for finding in findings)


def test_a_model_that_is_not_there_is_what_is_missing(tmp_path: Path) -> None:
    overrides = [f"actor_rollout_ref.model.path={tmp_path / 'nowhere'}"]
    findings = doctor.examine(recipes.compose("ppo", "cpu-smoke", overrides))
    assert findings[-1].verdict == "missing"
    assert "no such model folder" in findings[-1].what


def test_a_disk_that_is_too_small_comes_with_the_fix(tmp_path: Path) -> None:
    config = recipes.compose("ppo", "4x8", [f"trainer.default_local_dir={tmp_path}"])
    huge = dataclasses.replace(SHAPE, layers=36_000)
    finding = doctor.disk(config, huge)
    assert (finding.verdict, "another --out" in finding.what) == ("missing", True)


def test_all_of_the_machine_is_examined_whatever_becomes_of_the_model(tmp_path: Path) -> None:
    overrides = [f"actor_rollout_ref.model.path={tmp_path / 'nowhere'}"]
    said = [finding.what for finding in doctor.examine(recipes.compose("ppo", "1x8", overrides))]
    for check in ("verl 0.9.1", "flash-attn", "GPUs:", "torch is a build without CUDA", "shared memory:", "nowhere"):
        assert any(check in what for what in said), check


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "cannot read the configuration of .*: Unrecognized model"),
        ("{oops", "config.json.* is not a valid JSON file"),
        ('{"model_type": "mamba"}', "has no num_attention_heads in its configuration"),
    ],
)
def test_a_model_that_cannot_be_read_is_one_line(content: str, message: str, tiny_model: Path, tmp_path: Path) -> None:
    broken = Path(shutil.copytree(tiny_model, tmp_path / "broken"))
    (broken / "config.json").write_text(content)
    last = doctor.examine(recipes.compose("ppo", "cpu-smoke", [f"actor_rollout_ref.model.path={broken}"]))[-1]
    assert last.verdict == "missing"
    assert re.search(message, last.what), last.what
    assert "\n" not in last.what


def test_checkpoints_of_the_papers_model_take_this_much_disk(tmp_path: Path) -> None:
    assert resource_estimate.checkpoint_gib(SHAPE, critic=True) == pytest.approx(2 * 4.02e9 * 12 / 2**30, rel=0.01)
    here = f"trainer.default_local_dir={tmp_path}"
    assert "5 checkpoints take 449.5 GiB" in doctor.disk(recipes.compose("ppo", "4x8", [here]), SHAPE).what
    many = recipes.compose("confidence-ce", "4x8", [here, "trainer.max_actor_ckpt_to_keep=8"])
    assert "11 checkpoints take 494.5 GiB" in doctor.disk(many, SHAPE).what


def test_the_page_of_arithmetic_says_what_the_code_computes() -> None:
    page = (recipes.folder().parent / "SCALING.md").read_text()
    plans = [
        resource_estimate.Workload(gpus, 22528, critic, 0.6, 22528) for gpus in (8, 32) for critic in (True, False)
    ]
    for name, attribute in (("**training, in all**", "training"), ("**generating, in all**", "rollout")):
        numbers = " | ".join(
            f"{getattr(resource_estimate.memory(SHAPE, workload), attribute):.0f}" for workload in plans
        )
        assert f"| {name} | {numbers} |" in page
    for length in (2000, 4000, 8000, 16000):
        eight, many = (
            resource_estimate.step(SHAPE, resource_estimate.Workload(gpus, 22528, True, 0.6, 22528), 8192, length)
            for gpus in (8, 32)
        )
        times = [f"{s.generating / 60:.0f} + {s.training / 60:.0f} min" for s in (eight, many)]
        hours = [f"{60 * s.seconds / 3600:.0f} h" for s in (eight, many)]
        assert f"| {length:,} | {eight.tokens / 1e6:.0f} M | {' | '.join(times + hours)} |" in page


def test_the_page_assumes_the_recipes_settings() -> None:
    config = recipes.compose("confidence-brier", "4x8")
    assert doctor.workload(config) == resource_estimate.Workload(32, 22528, True, 0.6, 22528)
    assert config.data.train_batch_size * config.actor_rollout_ref.rollout.n == 8192


def test_no_more_sequences_are_in_flight_than_the_engines_take() -> None:
    def seconds(outputs: int, sequences: int, tensor_parallel: int = 1) -> float:
        workload = resource_estimate.Workload(8, 22528, True, 0.6, 22528, tensor_parallel, sequences)
        return resource_estimate.step(SHAPE, workload, outputs, 2000).generating

    assert seconds(8192, 16) > 2 * seconds(8192, 64) > 2 * seconds(8192, 512)
    assert seconds(64, 8) == pytest.approx(seconds(64, 256))  # fewer outputs than places
    assert seconds(8192, 16, tensor_parallel=2) > 1.5 * seconds(8192, 16)  # half as many engines
    config = recipes.compose("ppo", "1x8", ["actor_rollout_ref.rollout.max_num_seqs=7"])
    few = doctor.workload(config)
    assert few.sequences == 7
    assert resource_estimate.memory(SHAPE, few).concurrent == 7


def test_every_process_of_a_node_loads_a_model_with_tied_embeddings() -> None:
    untied = dataclasses.replace(SHAPE, tied=False)
    workload = doctor.workload(recipes.compose("confidence-brier", "4x8"))
    assert resource_estimate.host_gib(SHAPE, workload) == pytest.approx(8 * 4 * SHAPE.parameters / 2**30)
    assert resource_estimate.host_gib(untied, workload) == pytest.approx(4 * untied.parameters / 2**30)


@pytest.mark.parametrize(
    ("recipe", "offload", "bytes_each"),
    [
        ("confidence-brier", ["actor_rollout_ref.actor.fsdp_config.optimizer_offload=true"], 8),
        ("confidence-brier", ["critic.fsdp.param_offload=true", "critic.fsdp.optimizer_offload=true"], 12),
        ("confidence-ce", ["critic.fsdp.param_offload=true"], 0),  # there is no critic
    ],
)
def test_offloaded_states_add_to_host_memory(recipe: str, offload: list[str], bytes_each: int) -> None:
    plain, more = (doctor.workload(recipes.compose(recipe, "4x8", overrides)) for overrides in ([], offload))
    added = resource_estimate.host_gib(SHAPE, more) - resource_estimate.host_gib(SHAPE, plain)
    assert added == pytest.approx(bytes_each * SHAPE.parameters / 4 / 2**30)


def test_host_memory_that_is_not_there_is_what_is_missing() -> None:
    config = recipes.compose("confidence-brier", "1x8")
    assert doctor.host(config, SHAPE, 256.0).verdict == "ok"
    short = doctor.host(config, SHAPE, 64.0)
    assert (short.verdict, "120 GiB" in short.what) == ("missing", True)
    assert "trainer.n_gpus_per_node" in short.what
    assert 0 < machine.host_memory_gib() < 2**20


def test_the_page_says_the_host_memory_that_the_code_computes() -> None:
    page = (recipes.folder().parent / "SCALING.md").read_text()
    workload = doctor.workload(recipes.compose("confidence-brier", "1x8"))
    plain = resource_estimate.host_gib(SHAPE, workload)
    both = resource_estimate.host_gib(SHAPE, dataclasses.replace(workload, offloaded=24))
    assert f"{plain:.0f} GiB on a node of 8 GPUs" in page
    assert f"{both - plain:.0f} GiB on one node, for both models" in page


def test_flash_attention_is_asked_for_where_a_run_trains_with_it() -> None:
    assert installed("flash-attn") is None
    with pytest.raises(EnvironmentProblem, match="attn_implementation=sdpa"):
        attention.require(recipes.compose("confidence-brier", "1x8"))
    instead = recipes.compose("confidence-brier", "1x8", attention.INSTEAD.split())
    assert set(attention.implementations(instead)) == {"sdpa"}
    attention.require(instead)
    actor_only = attention.INSTEAD.split()[:1]
    attention.require(recipes.compose("confidence-ce", "1x8", actor_only))  # no critic
    with pytest.raises(EnvironmentProblem):
        attention.require(recipes.compose("confidence-brier", "1x8", actor_only))
    said = [finding.what for finding in doctor.packages(recipes.compose("ppo", "1x8")) if finding.verdict == "missing"]
    assert any("scripts/setup training-gpu" in what for what in said)


def test_packed_sequences_do_not_see_each_other_without_flash_attention() -> None:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "vocab_size": 64}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16}
    model = Qwen3ForCausalLM._from_config(Qwen3Config(**shape, **heads), attn_implementation="sdpa").eval()
    one, other = torch.randint(0, 64, (1, 9)), torch.randint(0, 64, (1, 7))
    positions = torch.cat([torch.arange(9), torch.arange(7)])[None]
    with torch.no_grad():
        packed = model(
            input_ids=torch.cat([one, other], 1), position_ids=positions, attention_mask=None, use_cache=False
        ).logits[0]
        alone = torch.cat([model(input_ids=one).logits[0], model(input_ids=other).logits[0]])
    assert torch.allclose(packed, alone, atol=1e-5)


@pytest.mark.parametrize(
    ("driver", "verdict", "fix"),
    [
        (Driver("580.159.04", "13.0", True), "ok", "driver 580.159.04, torch for CUDA 13.0"),
        (Driver("580.159.04", None, False), "missing", "scripts/setup training-gpu"),
        (Driver(None, "13.0", False), "missing", "--gpus all"),
        (Driver("470.1", "13.0", False), "missing", "cannot use driver 470.1"),
    ],
)
def test_a_driver_that_torch_cannot_use_comes_with_the_fix(driver: Driver, verdict: str, fix: str) -> None:
    finding = doctor.drives(driver)
    assert (finding.verdict, fix in finding.what) == (verdict, True), finding


def test_the_driver_is_read_from_the_kernels_file(tmp_path: Path) -> None:
    lines = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\nGCC version: 13\n"
    (tmp_path / "version").write_text(lines)
    assert machine.driver(tmp_path / "version").version == "580.95.05"
    assert machine.driver(tmp_path / "none").version is None


def test_a_container_without_shared_memory_comes_with_the_fix(tmp_path: Path) -> None:
    assert doctor.shares(0.0625).verdict == "missing"
    assert "--shm-size" in doctor.shares(0.0625).what
    assert doctor.shares(64).verdict == "ok"
    assert machine.shared_memory_gib(tmp_path) > 0
    assert machine.shared_memory_gib(tmp_path / "none") == 0
