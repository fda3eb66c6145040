"""What is installed without a checkout: the four wheels, built as a package index would get them."""

import re
import subprocess
import sys
from collections.abc import Mapping
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest
from readme_renderer import markdown

pytestmark = pytest.mark.operations

KEPT = ("*.py", "*.html", "*.js", "*.css", "*.svg", "*.yaml", "*.json", "*.j2", "py.typed")
WEIGHTS = "server/demur/model/demur_smol"
LARGEST = 256 * 2**10
"""Bytes of one file in the wheel without weights: the page's maths renderer has 165 KiB, an adapter has 14 MiB."""


@pytest.fixture(scope="module")
def wheels(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Name of the distribution to its wheel."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([root / "scripts" / "build-distributions", folder], check=True, capture_output=True)
    return {path.name.partition("-")[0].replace("_", "-"): path for path in folder.glob("*.whl")}


def names(wheel: Path) -> set[str]:
    return set(ZipFile(wheel).namelist())


def metadata(wheel: Path) -> Message:
    [path] = [name for name in names(wheel) if name.endswith(".dist-info/METADATA")]
    return message_from_bytes(ZipFile(wheel).read(path))


def files(folder: Path, inside: str) -> set[str]:
    found = (path.relative_to(folder).as_posix() for kind in KEPT for path in folder.rglob(kind))
    return {f"{inside}/{path}" for path in found if "demur_smol/" not in path}


def test_there_are_four_and_none_holds_a_file_of_another(wheels) -> None:
    assert wheels.keys() == {"demur", "demur-client", "demur-smol", "demur-training"}
    held = [name for wheel in wheels.values() for name in names(wheel)]
    assert len(held) == len(set(held))
    assert not [name for name in held if "demur_smol_lab" in name or "test" in name.rpartition("/")[2]]


def test_the_slim_wheel_has_the_server_its_page_and_its_templates_and_no_weights(wheels, root: Path) -> None:
    wanted = files(root / "clients" / "web", "demur/web") | files(root / "server" / "demur", "demur")
    assert len(wanted) > 250
    assert wanted <= names(wheels["demur"])
    assert any(name.endswith(".html.j2") for name in wanted)
    assert not [file.filename for file in ZipFile(wheels["demur"]).infolist() if file.file_size > LARGEST]


def test_the_weights_are_whole_and_carry_their_card(wheels, root: Path) -> None:
    wheel = ZipFile(wheels["demur-smol"])
    for path in (root / WEIGHTS).iterdir():
        if path.is_file():
            assert wheel.read(f"demur_smol/{path.name}") == path.read_bytes()
    code = [name for name in wheel.namelist() if name.endswith(".py")]
    assert code == ["demur_smol/__init__.py"]


def test_training_brings_its_recipes_and_its_command(wheels, root: Path) -> None:
    wheel = wheels["demur-training"]
    wanted = files(root / "training" / "recipes", "demur_training/recipes")
    wanted |= files(root / "training" / "demur_training", "demur_training")
    assert wanted <= names(wheel)
    [entry] = [name for name in names(wheel) if name.endswith("/entry_points.txt")]
    assert b"demur-train = demur_training.cli:main" in ZipFile(wheel).read(entry)


@pytest.mark.parametrize("name", ["demur", "demur-client", "demur-smol", "demur-training"])
def test_metadata_licence_and_long_description(wheels, root: Path, name: str) -> None:
    found = metadata(wheels[name])
    assert found["Name"] == name
    assert re.fullmatch(r"\d+\.\d+\.\d+", found["Version"])
    assert found["Summary"]
    assert found["License-Expression"] == "Apache-2.0"
    [licence] = [path for path in names(wheels[name]) if path.endswith("/licenses/LICENSE")]
    assert ZipFile(wheels[name]).read(licence) == (root / "LICENSE").read_bytes()
    assert found["Description-Content-Type"] == "text/markdown"
    rendered = markdown.render(found.get_payload())
    assert rendered is not None
    assert "<h1" in rendered
    assert len(rendered) > 400


def test_an_extra_that_serves_the_embedded_model_brings_its_weights(wheels) -> None:
    wanted = metadata(wheels["demur"]).get_all("Requires-Dist") or []
    for extra in ("model", "cpu", "gpu"):
        assert [line for line in wanted if re.match(rf"demur-smol.*; extra == '{extra}'", line)]
    assert not [line for line in wanted if re.match(r"demur-smol.*; extra == 'server'", line)]


PROBE = """
import sys
sys.path[:0] = sys.argv[1:]
from demur.model import calibrated
assert "site-packages" not in calibrated.__file__ and sys.argv[1] in calibrated.__file__
print(calibrated.ARTEFACT)
print(calibrated.identity())
"""


def probe(*folders: Path) -> subprocess.CompletedProcess[str]:
    """The embedded model's files as the unpacked wheels in `folders` find them, without the checkout."""
    arguments = [sys.executable, "-c", PROBE, *map(str, folders)]
    return subprocess.run(arguments, capture_output=True, text=True, cwd=folders[0])


def test_the_slim_package_finds_the_weights_beside_it_and_says_what_is_missing(wheels, tmp_path: Path) -> None:
    for name in ("demur", "demur-smol"):
        ZipFile(wheels[name]).extractall(tmp_path / name)
    found = probe(tmp_path / "demur", tmp_path / "demur-smol")
    assert found.stdout.splitlines()[:1] == [str(tmp_path / "demur-smol" / "demur_smol")], found.stderr
    missing = probe(tmp_path / "demur")
    assert "SourceError: the embedded model's adapter is missing: pip install demur-smol" in missing.stderr


HEAVY = {"fastapi", "pydantic", "httpx", "uvicorn", "torch", "transformers", "vllm", "scipy", "pyarrow", "matplotlib"}


def test_the_slim_package_loads_without_what_its_extras_bring(wheels) -> None:
    program = f"import sys; sys.path.insert(0, {str(wheels['demur'])!r}); import demur.cli, demur.core.reader; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "demur.core.reader" in loaded
    assert not HEAVY & set(loaded)
