"""The server under the soak, in a process of its own: `python -m bench.soak.server`, settings from the environment.

It is the real server around the scripted engine, whose script is what the question asks for (`wire.question`).
"""

import asyncio
import contextlib
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from demur.api.app import create_app
from demur.core.contracts import CONTRACTS
from demur.engine.base import Message
from demur.engine.demo import unwrap
from demur.engine.scripted import Script, ScriptedEngine
from demur.grading import Grader
from demur.manifest import Manifest
from demur.observability.logs import configure_logging
from demur.serving.server import bind, serve_app
from demur.settings import Settings

ROOT = Path(__file__).parents[2]


def script(messages: Sequence[Message]) -> Script:
    """As many words as asked for, then the nonce as the answer."""
    asked = unwrap(messages[-1]["content"]).question
    wanted = re.search(r"nonce=(\S+) words=(\d{1,6}) delay=(\d+(?:\.\d+)?) width=(\d{1,6})(?!\S)", asked)
    if wanted is None:
        return Script(["Answer: none\nConfidence: 0.5"])
    nonce, words, delay, width = wanted.groups()
    return Script(
        [f"{' '.join(['w' * int(width)] * int(words))}\nAnswer: {nonce}\nConfidence: 0.9"], delay=float(delay)
    )


@dataclass(frozen=True, slots=True)
class Served:
    """A running server. `process` is its own; `log` is where it writes."""

    port: int
    process: psutil.Process
    log: Path

    @property
    def mebibytes(self) -> float:
        return self.process.memory_info().rss / 2**20


@dataclass(slots=True)
class Memory:
    """The server's memory over time, in MiB."""

    seen: list[float] = field(default_factory=list)

    async def watch(self, served: Served, every: float) -> None:
        while True:
            self.seen.append(served.mebibytes)
            await asyncio.sleep(every)


@contextlib.contextmanager
def serving(command: Sequence[str] = (), *, log_to: int | None = None, **settings: object) -> Iterator[Served]:
    """Start a server and stop it in the end; `command` is what to run instead of the one in this module, `log_to` a
    descriptor that its log goes to instead of a file."""
    allow_many_files()
    environ = os.environ | {f"DEMUR_{name.upper()}": str(value) for name, value in settings.items()}
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
        running = subprocess.Popen(
            [sys.executable, *(command or ("-m", "bench.soak.server"))],
            stdout=subprocess.PIPE,
            stderr=log if log_to is None else log_to,
            env=environ,
            text=True,
        )
        try:
            assert running.stdout is not None
            said = re.search(r":(\d+)\b", running.stdout.readline())
            if said is None:
                raise SystemExit(f"soak: the server did not start:\n{Path(log.name).read_text()[-3000:]}")
            yield Served(int(said[1]), psutil.Process(running.pid), Path(log.name))
        finally:
            running.terminate()
            running.wait(60)


def allow_many_files() -> None:
    """Each connection is a file; processes begin with far fewer than the kernel would give them."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def listen(engine: ScriptedEngine, grader: Grader | None = None) -> int:
    """Serve `engine` on a free port, by the settings in the environment, and say which."""
    settings = Settings(port=0)
    configure_logging(settings.log_format, "error")
    app = create_app(engine, Manifest(name="demur-soak", contracts=tuple(CONTRACTS)), settings, grader=grader)
    with bind(settings.host, settings.port) as listener:
        port = listener.getsockname()[1]
        return asyncio.run(serve_app(app, settings, listener, lambda: print(f"listening on :{port}", flush=True)))


def main() -> int:
    return listen(ScriptedEngine(script, max_model_len=1 << 20))


if __name__ == "__main__":
    sys.exit(main())
