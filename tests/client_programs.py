"""Runs the programs of tests/ecosystem, each in the environment that `scripts/setup-ecosystem` makes for it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent / "ecosystem"
ROOT = HERE.parent.parent
ENVIRONMENTS = ROOT / ".ecosystem"
NODE = "node"
OWN = "own"
"""The environment of the server itself, where vLLM is."""
SECONDS = 420
Seen = dict[str, list[Any]]
Run = Callable[..., Seen]


@dataclass(frozen=True)
class Programs:
    """Runs programs against one server; what they reported, by name."""

    url: str
    model: str = "demur-test"

    def __call__(self, program: str, environment: str = "") -> Seen:
        command = self._command(program, environment)
        assert Path(command[0]).exists(), "run scripts/setup-ecosystem more first"
        paths = [HERE / "programs", ROOT / "clients" / "python" / "src", HERE.parent]
        told = {
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "DEMUR_MODEL": self.model,
            **_QUIET,
        }
        with TemporaryDirectory() as cache:
            told["DSPY_CACHEDIR"] = cache
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                env=told,
                timeout=SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        assert done.returncode == 0, done.stderr[-3000:]
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["')]
        return {name: seen for name, *seen in lines}

    def _command(self, program: str, environment: str) -> list[str]:
        if environment == NODE:
            assert (HERE / "node" / "node_modules").exists(), "run scripts/setup-ecosystem more first"
            return [shutil.which("node") or "node", str(HERE / "node" / f"{program}.js"), self.url]
        own = ENVIRONMENTS / environment / "bin" / "python"
        python = sys.executable if environment == OWN else str(own)
        return [python, str(HERE / "programs" / f"{program}.py"), self.url]


_QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
    "HF_HUB_OFFLINE": "1",
}
