"""A server that keeps its answers, for benchmarks: in a process of its own, over an empty database of either kind."""

import asyncio
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from bench._postgres import postgres
from bench.soak.server import Served, serving

from demur.api.app import create_app
from demur.engine.base import Message
from demur.engine.scripted import Script, ScriptedEngine
from demur.manifest import Manifest
from demur.observability.logs import configure_logging
from demur.serving.app_loading import keeping
from demur.serving.server import bind, serve_app
from demur.settings import Settings

STORES = ("sqlite", "postgres")


def script(messages: Sequence[Message]) -> Script:
    """Sure by the number in the question."""
    number = int((re.findall(r"\d+", messages[-1]["content"]) or ["0"])[-1])
    return Script([f"As asked.\nAnswer: {number}\nConfidence: {0.3 + 0.69 * (number % 1000) / 1000:.2f}"])


def serve() -> int:
    """The server under test; settings from the environment."""
    settings = Settings(port=0)
    configure_logging(settings.log_format, "error")
    manifest = Manifest(name="demur-feedback")
    with keeping(settings, manifest, "bench") as feedback:
        app = create_app(ScriptedEngine(script), manifest, settings, feedback=feedback)
        with bind(settings.host, settings.port) as listener:
            port = listener.getsockname()[1]
            return asyncio.run(serve_app(app, settings, listener, lambda: print(f"listening on :{port}", flush=True)))


def started(**settings: Any) -> AbstractContextManager[Served]:
    return serving(("-m", "bench._keeping"), **settings)


@contextmanager
def store(kind: str) -> Iterator[str]:
    """An empty database of a kind."""
    if kind == "postgres":
        with postgres() as url:
            yield url
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "feedback.db")


if __name__ == "__main__":
    sys.exit(serve())
