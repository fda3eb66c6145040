"""The server whose replies the documentation shows, and the site as it is built."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from demur.api.app import create_app
from demur.engine.scripted import ScriptedEngine
from demur.serving.engine_loaders import ENGINES
from demur.settings import Settings
from documents import ROOT
from live import serving


@pytest.fixture(scope="session")
def app() -> FastAPI:
    """`demur serve --engine scripted`, without its pauses."""
    manifest = asyncio.run(ENGINES["scripted"].load(Settings(engine="scripted"), {})).manifest
    return create_app(ScriptedEngine(), manifest, Settings())


@pytest.fixture(scope="session")
def url(app: FastAPI) -> Iterator[str]:
    with serving(app) as address:
        yield address


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={"NO_MKDOCS_2_WARNING": "1"})
    assert built.returncode == 0, built.stderr
    return folder
