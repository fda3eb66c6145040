"""The commands that documents and deployment files give are commands that exist."""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from commands import commands
from demur_training import cli, recipes
from demur_training.checks import attention

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy" / "training"


def test_runs_on_the_page_compose() -> None:
    given = [
        words[1:]
        for page in ("docs/train-gpus.md", "training/README.md")
        for words, whole in commands(ROOT / page)
        if whole and words[:2] == ["demur-train", "run"]
    ]
    assert any("confidence-brier" in words for words in given)
    for words in given:
        if words[1] in recipes.names():
            result = CliRunner().invoke(cli.app, [*words, "--print"])
            assert result.exit_code == 0, (words, result.output)


def test_every_recipe_is_on_the_page() -> None:
    page = (ROOT / "training" / "README.md").read_text()
    assert all(f"| `{name}` |" in page for name in recipes.names())


@pytest.mark.parametrize("script", ["train.slurm", "ray-job.sh"])
def test_scripts_are_bash(script: str) -> None:
    path = DEPLOY / script
    checked = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert path.stat().st_mode & 0o111
    refused = subprocess.run(["bash", str(path)], capture_output=True, text=True, check=False, env={})
    assert refused.returncode != 0  # without a recipe it says how it is called
    assert "usage" in refused.stderr or "RAY_API_SERVER_ADDRESS" in refused.stderr


def test_the_kubernetes_job_runs_a_recipe_on_as_many_nodes_as_its_scale_wants() -> None:
    job = yaml.safe_load((DEPLOY / "rayjob.yaml").read_text())["spec"]
    words = shlex.split(job["entrypoint"])
    assert words[:2] == ["demur-train", "run"]
    config = recipes.compose(words[2], words[words.index("--scale") + 1])
    cluster = job["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    assert sum(group.get("replicas", 1) for group in groups) == config.trainer.nnodes
    for group in groups:
        limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
        assert limits["nvidia.com/gpu"] == config.trainer.n_gpus_per_node


FAKES = {
    # runs the command that stands behind srun's own options, and says where it was to run
    "srun": '''node=here
while [[ $1 == --* ]]; do case $1 in --nodelist=*) node=${1#*=} ;; esac; shift; done
NODE=$node exec "$@"''',
    "scontrol": 'printf "n1\\nn2\\nn3\\n"',
    "hostname": "echo 10.0.0.1",
    # a node joins two status calls after it was started, if it is not broken
    "ray": """case $1 in
start) echo "start $NODE" >>"$LOG"; [ "$NODE" = "$BROKEN" ] || touch "$STATE/$NODE" ;;
health-check) [ -e "$STATE/n1" ] ;;
status) n=$(ls "$STATE" | grep -c "^n"); echo x >>"$STATE/calls"; [ "$(wc -l <"$STATE/calls")" -gt 2 ] || n=1
    printf "Total Usage:\\n 0.0/90.0 CPU\\n 0.0/%d.0 GPU\\n" $((n * 8)); echo "status $n" >>"$LOG" ;;
esac""",
    "demur-train": 'echo "demur-train $*" >>"$LOG"',
    "sleep": "exec /bin/sleep 0.05",
}


@pytest.fixture
def slurm(tmp_path: Path) -> Callable[..., tuple[int, list[str], str]]:
    """Runs train.slurm in a job of three nodes of eight GPUs; status, what was called in which order, stderr."""
    for folder in ("bin", "state"):
        (tmp_path / folder).mkdir()
    for name, body in FAKES.items():
        (tmp_path / "bin" / name).write_text(f"#!/usr/bin/env bash\n{body}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "bin" / "activate").touch()

    def run(**environment: str) -> tuple[int, list[str], str]:
        job = {"SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_ID": "7", "SLURM_NNODES": "3"}
        job |= {"SLURM_GPUS_PER_NODE": "8", "SLURM_CPUS_PER_TASK": "96", "DEMUR_VENV": str(tmp_path)}
        paths = {
            "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
            "STATE": str(tmp_path / "state"),
            "LOG": str(tmp_path / "log"),
        }
        ended = subprocess.run(
            ["bash", str(DEPLOY / "train.slurm"), "confidence-brier", "--out", "/runs/x"],
            capture_output=True,
            text=True,
            check=False,
            env={"BROKEN": "none", **job, **paths, **environment},
        )
        return ended.returncode, (tmp_path / "log").read_text().splitlines(), ended.stderr

    return run


def test_a_slurm_job_trains_once_every_node_has_joined(slurm: Callable[..., tuple[int, list[str], str]]) -> None:
    status, called, errors = slurm()
    assert status == 0, errors
    assert sorted(line for line in called if line.startswith("start")) == ["start n1", "start n2", "start n3"]
    assert called[-2:] == [
        "status 3",
        "demur-train run confidence-brier --out /runs/x trainer.nnodes=3 trainer.n_gpus_per_node=8",
    ]
    assert called.count("status 1") == 2


@pytest.mark.parametrize(
    ("broken", "message"), [("n1", "the head .* n1 does not answer"), ("n3", "not all of n1 n2 n3")]
)
def test_a_slurm_job_whose_node_does_not_come_gives_up(
    broken: str, message: str, slurm: Callable[..., tuple[int, list[str], str]]
) -> None:
    status, called, errors = slurm(BROKEN=broken, DEMUR_RAY_TIMEOUT="1")
    assert status == 1
    assert re.search(f"train.slurm: {message}.* after 1 seconds; giving up", errors)
    assert not any(line.startswith("demur-train") for line in called)


def test_the_image_is_made_by_the_script_that_a_checkout_uses() -> None:
    image = (DEPLOY / "Dockerfile").read_text()
    pinned, whole = (image.index(f"RUN scripts/setup training-gpu python3.12{last}") for last in (" pinned\n", "\n"))
    assert pinned < image.index("COPY server server") < whole  # a change of the source builds no flash-attn
    assert " wget " in image  # KubeRay's probes call it


def test_what_flash_attention_is_built_with_is_pinned() -> None:
    names = (ROOT / "requirements" / "build-flash-attn.in").read_text().splitlines()
    pins = (ROOT / "requirements" / "training-gpu.txt").read_text()
    for name in names:
        assert name.startswith("#") or re.search(rf"^{name}==", pins, re.MULTILINE), name
    assert not re.search("^flash-attn==", pins, re.MULTILINE)  # it comes after the torch it is built with
    own = (ROOT / "requirements" / "flash-attn.txt").read_text()
    assert re.search(r"^flash-attn==[\d.]+ \\\n    --hash=sha256:[0-9a-f]{64}$", own, re.MULTILINE)


def test_the_script_says_how_to_train_without_flash_attention() -> None:
    sets = (ROOT / "requirements" / "sets.sh").read_text()
    assert f'SDPA="{attention.INSTEAD}"' in sets
