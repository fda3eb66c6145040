"""Fixtures that several rooms use."""

import os
from pathlib import Path

import pytest

from tiny_model import make_tiny_model

os.environ.pop("COLUMNS", None)  # pytest-xdist sets it in its workers, to a width that tables are broken at


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a random chat model that real vLLM loads in seconds. Read only: every test shares it."""
    return make_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def embedded_model() -> Path:
    """The calibrated model in its usual place, made there if need be. Read only: it is the user's own."""
    from demur.model import prepare

    return prepare()


@pytest.fixture(scope="session")
def base_model() -> Path:
    """The same before training, in its usual place."""
    from demur.model import prepare

    return prepare(kind="base")
