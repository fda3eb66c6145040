"""The commands that documents and deployment files give are commands that exist."""

import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from demur_training import cli, recipes
from documented_commands import check_commands, commands

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy" / "training"


@pytest.mark.parametrize(
    "page", ["training/README.md", "training/SCALING.md", "training/scripts/zero_learning_rate.sh"]
)
def test_commands_on_a_page_exist_with_their_options(page: str) -> None:
    assert check_commands(ROOT / page, "demur-train", cli.app)


def test_runs_on_the_page_compose() -> None:
    given = [
        words for words in commands((ROOT / "training" / "README.md").read_text(), "demur-train") if words[0] == "run"
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
