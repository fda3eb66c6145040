"""Programs with today's clients, each in the environment that `scripts/setup-ecosystem` makes, against a real server."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from demur.api.app import create_app
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PYTHON = ROOT / ".ecosystem" / "bin" / "python"
SCRIPT = {
    "spider": "It is an arachnid.\nAnswer: 8\nConfidence: 0.93",
    "millipede": "They differ.\nAnswer: 750\nConfidence: 0.21",
    "Lovelace": '{"name":["Ada Lovelace",97],"born":[1815,64]}',
}
Seen = dict[str, list[Any]]


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    app = create_app(ScriptedEngine(SCRIPT), Manifest(name="demur-test", contracts=("response",)), Settings())
    with serving(app) as address:
        yield f"{address}/v1"


@pytest.fixture
def run(url, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Seen]:
    """Runs a program; what it reported, by name."""
    assert PYTHON.exists(), "run scripts/setup-ecosystem first"
    quiet = {**_QUIET, "DSPY_CACHEDIR": str(tmp_path_factory.mktemp("dspy"))}

    def ran(program: str) -> Seen:
        paths = os.pathsep.join([str(HERE / "programs"), str(ROOT / "clients" / "python" / "src")])
        told = {"PYTHONPATH": paths, "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **quiet}
        command = [str(PYTHON), str(HERE / "programs" / f"{program}.py"), url]
        done = subprocess.run(command, capture_output=True, text=True, env=told, timeout=110, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        return {name: seen for name, *seen in lines}

    return ran


_QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
}
