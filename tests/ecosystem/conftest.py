"""A server for the programs with today's clients."""

from collections.abc import Iterator

import pytest

from client_programs import Programs, Run
from demur.api.app import create_app
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving

SCRIPT = {
    "spider": "It is an arachnid.\nAnswer: 8\nConfidence: 0.93",
    "millipede": "They differ.\nAnswer: 750\nConfidence: 0.21",
    "Lovelace": '{"name":["Ada Lovelace",97],"born":[1815,64]}',
}


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    """Against the scripted engine."""
    app = create_app(ScriptedEngine(SCRIPT), Manifest(name="demur-test", contracts=("response",)), Settings())
    with serving(app) as address:
        yield Programs(f"{address}/v1")
