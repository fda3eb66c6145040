"""The two servers, this one and vLLM's own: the same model and engine settings, each with a port of its own."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from bench.processor_time import seconds_of

STARTUP_SECONDS = 900
CONTEXT = 2048
SEQUENCES = 128


@dataclass(frozen=True, slots=True)
class Contender:
    """A server that runs. `process` is its API process alone: the engine has processes of its own."""

    name: str
    base: str
    process: psutil.Process
    ready_after: float
    """Seconds from the command to the first reply that says it is ready."""

    def cpu_seconds(self) -> float:
        """Of the API process so far."""
        return seconds_of([self.process.pid])


@dataclass(frozen=True, slots=True)
class Setup:
    """A model folder and how both engines run it. `reserved_cores` are left to the API process."""

    folder: Path
    dtype: str
    reserved_cores: int
    end_tokens: tuple[int, ...] = ()
    """Those that end a sample; never drawn where all samples are to be equally long."""

    def demur(self, port: int) -> list[str]:
        arguments = {"max_model_len": CONTEXT, "max_num_seqs": SEQUENCES, "enforce_eager": True, "dtype": self.dtype}
        command = [sys.executable, "-m", "demur", "serve", "--model", str(self.folder), "--port", str(port)]
        command += ["--force-contract", "never", "--critic", "off", "--prompt-wording", "trained"]  # as vLLM is asked
        return [*command, *(f"--engine-arg={name}={json.dumps(value)}" for name, value in arguments.items())]

    def vllm(self, port: int) -> list[str]:
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(self.folder)]
        command += ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", "m", "--dtype", self.dtype]
        command += ["--max-model-len", str(CONTEXT), "--max-num-seqs", str(SEQUENCES), "--enforce-eager"]
        return [*command, "--gpu-memory-utilization", "0.1", "--disable-uvicorn-access-log"]

    @property
    def environment(self) -> Mapping[str, str]:
        """As much cache under both, and as many compute threads; our limit on samples at once is lifted to vLLM's."""
        return os.environ | {
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "VLLM_CPU_NUM_OF_RESERVED_CPU": str(self.reserved_cores),
            "DEMUR_MAX_RUNNING_SAMPLES": "4096",
            "DEMUR_MAX_QUEUED_SAMPLES": "4096",
            "DEMUR_TIMEOUT": "600",
        }


@contextlib.contextmanager
def serving(
    name: str, command: list[str], port: int, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Contender]:
    """Start a server, wait until it answers, stop it in the end."""
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
    base = f"http://127.0.0.1:{port}"
    try:
        while not _healthy(base):
            if process.poll() is not None or time.monotonic() > began + STARTUP_SECONDS:
                raise SystemExit(f"bench: {name} did not start:\n{log.read_text()[-3000:]}")
            time.sleep(0.1)
        yield Contender(name, base, psutil.Process(process.pid), time.monotonic() - began)
    finally:
        process.terminate()
        process.wait(60)


def _healthy(base: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{base}/health", timeout=2, trust_env=False).status_code == 200
    return False
