"""The client stands alone: one dependency, nothing of the server, and its types come with it."""

import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "clients" / "python"


def test_importing_the_client_loads_nothing_of_the_server() -> None:
    program = "import sys, demur_client; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "httpx" in loaded
    assert not {"demur", "pydantic", "numpy", "tqdm", "fastapi", "uvicorn"} & set(loaded)


def test_httpx_is_the_only_dependency() -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    assert [name.partition(">")[0] for name in project["dependencies"]] == ["httpx"]
    assert project["requires-python"] == ">=3.10"


def test_the_licence_comes_along_whole() -> None:
    assert (PACKAGE / "LICENSE").read_bytes() == (PACKAGE.parents[1] / "LICENSE").read_bytes()


def test_types_are_shipped() -> None:
    assert files("demur_client").joinpath("py.typed").is_file()
