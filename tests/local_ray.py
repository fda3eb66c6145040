"""A real Ray cluster on this machine, with the application that is shipped on it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import yaml

from live import free_port

TOOLS = Path(sys.executable).parent
STARTUP = 400.0
PATIENT = {
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "120",
    "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "120",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""A busy machine takes longer to start what Ray gives five seconds."""
STATUS = """
import sys, ray
from ray import serve
ray.init(sys.argv[1], log_to_driver=False, logging_level="ERROR")
states = [d.replica_states for a in serve.status().applications.values() for d in a.deployments.values()]
print(sum(state.get("RUNNING", 0) for state in states))
"""


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster of one node with two replicas of the application on it."""

    ray: psutil.Process
    address: str
    url: str
    deploy: Path
    folder: Path
    """Where Ray keeps its sockets and logs."""

    def replicas(self) -> list[psutil.Process]:
        return [child for child in self.ray.children(recursive=True) if "ServeReplica" in title(child)]

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/ready", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def is_whole(self) -> bool:
        """Both replicas take requests: `/ready` says so of one, and a process may be there long before its model is."""
        return len(self.replicas()) == 2 and self.is_ready() and self._running() == 2

    def logged(self) -> str:
        """The end of what each replica wrote: why one is not there, in the message of the check that missed it."""
        logs = sorted(self.folder.glob("s/session_latest/logs/serve/replica_*"), key=lambda log: log.stat().st_mtime)
        logs += self.folder.glob("s/session_latest/logs/worker-*.err")
        return "\n\n".join(
            f"{log.name}:\n{log.read_text(errors='replace')[-3000:]}" for log in logs if log.stat().st_size
        )

    def _running(self) -> int:
        """How many replicas Ray Serve calls running. It is asked by another process, since this one is no part of it."""
        asked = subprocess.run(
            [sys.executable, "-c", STATUS, self.address], stdout=subprocess.PIPE, check=True, env=_environ(self.deploy)
        )
        return int(asked.stdout)


def title(process: psutil.Process) -> str:
    """What the process calls itself; nothing once it ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it ended meanwhile
        return ""


@contextmanager
def local_cluster(deploy: Path, arguments: dict[str, Any]) -> Iterator[Cluster]:
    """Two replicas with these `args` of `ray_serve.yaml`, which else is as it is shipped, on a small machine."""
    folder = Path(tempfile.mkdtemp(prefix="ray"))  # short: Ray's sockets lie in it
    http = free_port()
    config = folder / "serve.yaml"
    config.write_text(yaml.safe_dump(_small(deploy, http, arguments)))
    start = [TOOLS / "ray", "start", "--head", "--block", "--disable-usage-stats", "--include-dashboard=false"]
    start += [f"--temp-dir={folder / 's'}", f"--port={free_port()}", f"--ray-client-server-port={free_port()}"]
    start += ["--num-cpus=2", "--object-store-memory=80000000", "--min-worker-port=0", "--max-worker-port=0"]
    try:
        with _process(start, deploy, folder / "ray.log", "Ray runtime started") as ray:
            address = re.search(r"--address='([^']+)'", (folder / "ray.log").read_text())
            assert address
            found = Cluster(ray, address[1], f"http://127.0.0.1:{http}", deploy, folder)
            serve = [TOOLS / "serve", "run", f"--app-dir={deploy}", f"--address={address[1]}", config]
            with _process(serve, deploy, folder / "serve.log"):
                assert until(found.is_whole), (folder / "serve.log").read_text()[-3000:]
                yield found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _small(deploy: Path, port: int, arguments: dict[str, Any]) -> dict[str, Any]:
    config = yaml.safe_load((deploy / "ray_serve.yaml").read_text())
    config["http_options"] |= {"host": "127.0.0.1", "port": port}
    application = config["applications"][0]
    application["args"] = arguments
    application["deployments"][0] |= {"ray_actor_options": {"num_cpus": 0.1}, "health_check_timeout_s": 120}
    return config


@contextmanager
def _process(command: list[object], deploy: Path, log: Path, announces: str = "") -> Iterator[psutil.Process]:
    """Runs until the context ends, with all that it started."""
    environ = _environ(deploy)
    with log.open("wb") as output:
        running = subprocess.Popen(list(map(str, command)), stdout=output, stderr=output, env=environ)
    process = psutil.Process(running.pid)
    try:
        said = until(lambda: announces in log.read_text() or running.poll() is not None)
        assert said, log.read_text()[-3000:]
        assert running.poll() is None, log.read_text()[-3000:]
        yield process
    finally:
        children = process.children(recursive=True)
        running.terminate()
        try:
            running.wait(30)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
        for child in psutil.wait_procs(children, 10)[1]:
            child.kill()


def _environ(deploy: Path) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(deploy), os.environ.get("PYTHONPATH")]))
    return os.environ | PATIENT | {"RAY_AUTH_MODE": "disabled", "PYTHONPATH": path}


def until(condition: Callable[[], bool]) -> bool:
    """Wait for it, and say whether it came."""
    end = time.monotonic() + STARTUP
    while not (true := condition()) and time.monotonic() < end:
        time.sleep(0.2)
    return true
