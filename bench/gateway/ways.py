"""The ways to ask the host: directly, through this server, through the LiteLLM proxy; each started by this program."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
from bench.gateway.host import PIECES, SLOWLY
from bench.processor_time import seconds_of
from bench.soak.wire import post

HOST_PORT, DEMUR_PORT, LITELLM_PORT = 8421, 8422, 8423
LITELLM = "1.108.7"
ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / "build" / "litellm"
QUESTION = "What is 2 + 2? Give reasons."
STARTUP_SECONDS = 300
UNLIMITED = {
    "DEMUR_MAX_RUNNING_SAMPLES": "100000",
    "DEMUR_MAX_RUNNING_TOKENS": str(10**9),
    "DEMUR_MAX_QUEUED_SAMPLES": "100000",
    "DEMUR_MAX_QUEUED_TOKENS": str(10**9),
    "DEMUR_UPSTREAM_LIMIT": "1000",
    "DEMUR_TIMEOUT": "600",
    "DEMUR_LOG_FORMAT": "text",
}


@dataclass(frozen=True, slots=True)
class Way:
    """One address that answers, and the process behind it: a gateway, or the host itself."""

    name: str
    port: int
    process: psutil.Process

    def request(self, *, streamed: bool, samples: int, pieces: int = PIECES, slowly: bool = False) -> bytes:
        """The same question in this one's words. A stream of ours shows text as it comes where nothing is withheld."""
        question = f"{QUESTION} {SLOWLY}" if slowly else QUESTION
        messages = [{"role": "user", "content": question}]
        body: dict[str, Any] = {"stream": streamed, "max_tokens": pieces}
        if self.name == "demur":
            asked = {"question": question, "samples": samples, "risk_threshold": 0}
            return post(body | asked)
        asked = {"model": "m", "messages": messages, "n": samples}
        return post(body | asked, key="sk-bench", path="/v1/chat/completions")

    def cpu_seconds(self) -> float:
        """Of the process and those it has started."""
        return seconds_of([each.pid for each in self._tree()])

    def memory_mib(self) -> float:
        return sum(each.memory_info().rss for each in self._tree()) / 2**20

    def _tree(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]


@contextmanager
def running(command: Sequence[str], url: str, environment: Mapping[str, str], log: Path) -> Iterator[psutil.Process]:
    """Start a program, wait until `url` answers, stop it in the end. Raises SystemExit with the end of its log."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=os.environ | environment, cwd=ROOT
        )
    try:
        end = time.monotonic() + STARTUP_SECONDS
        while not _answers(url):
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"bench: {command[0]} did not start:\n{log.read_text()[-3000:]}")
            time.sleep(0.1)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(60)


@contextmanager
def host(work: Path, owner: str) -> Iterator[Way]:
    """The scripted host, asked directly; `owner` is what it says it is."""
    command = [sys.executable, "-m", "bench.gateway.host", str(HOST_PORT), owner]
    with running(command, f"http://127.0.0.1:{HOST_PORT}/v1/models", {}, work / "host.log") as process:
        yield Way("direct", HOST_PORT, process)


@contextmanager
def demur(work: Path, upstreams: int = 1) -> Iterator[Way]:
    """This server over the host, known by so many names: each may have 1,000 samples in flight."""
    named = [f"http://127.0.0.1:{HOST_PORT}/{number}/v1" for number in range(upstreams)]
    command = [
        sys.executable,
        "-m",
        "demur",
        "serve",
        "--engine",
        "openai",
        "--model",
        "m",
        "--force-contract",
        "never",
    ]
    command += ["--port", str(DEMUR_PORT)]
    environment = UNLIMITED | {"DEMUR_UPSTREAMS": json.dumps(named)}
    with running(command, f"http://127.0.0.1:{DEMUR_PORT}/health", environment, work / "demur.log") as process:
        yield Way("demur", DEMUR_PORT, process)


@contextmanager
def litellm(work: Path) -> Iterator[Way]:
    """The LiteLLM proxy over the host, with its defaults and without keys, in an environment of its own."""
    install()
    upstream = {"model": "openai/m", "api_base": f"http://127.0.0.1:{HOST_PORT}/v1", "api_key": "sk-bench"}
    config = work / "litellm.json"  # JSON is YAML
    config.write_text(json.dumps({"model_list": [{"model_name": "m", "litellm_params": upstream}]}))
    command = [str(ENVIRONMENT / "bin" / "litellm"), "--config", str(config), "--host", "127.0.0.1"]
    command += ["--port", str(LITELLM_PORT)]
    url = f"http://127.0.0.1:{LITELLM_PORT}/health/liveliness"
    environment = {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
    }
    with running(command, url, environment, work / "litellm.log") as process:
        yield Way("litellm", LITELLM_PORT, process)


def install() -> None:
    """Make the environment unless it is there; about 500 MB."""
    stamp = ENVIRONMENT / "installed"
    if stamp.exists() and stamp.read_text() == LITELLM:
        return
    print(f"bench: installing litellm {LITELLM} into {ENVIRONMENT}", file=sys.stderr, flush=True)
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(ENVIRONMENT)], check=True)
    python = str(ENVIRONMENT / "bin" / "python")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, f"litellm[proxy]=={LITELLM}"], check=True)
    stamp.write_text(LITELLM)


def _answers(url: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(url, timeout=5, trust_env=False).status_code == 200
    return False
