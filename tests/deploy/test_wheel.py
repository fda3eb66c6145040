"""What is installed without a checkout: the wheel, built as a package index would get it."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.operations

KEPT = ("*.html", "*.js", "*.css", "*.svg", "*.yaml", "*.json", "*.safetensors", "py.typed")


def _files(folder: Path, inside: str) -> set[str]:
    return {f"{inside}/{path.relative_to(folder).as_posix()}" for kind in KEPT for path in folder.rglob(kind)}


def test_the_wheel_has_the_page_the_model_and_the_recipes(root: Path, tmp_path: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "build", "--wheel", "--quiet", "--out-dir", tmp_path, root], check=True)
    [wheel] = tmp_path.glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    wanted = _files(root / "clients" / "web", "demur/web") | _files(root / "server" / "demur", "demur")
    wanted |= _files(root / "training" / "recipes", "demur_training/recipes")
    assert len(wanted) > 40
    assert wanted <= names
    assert not [name for name in names if "demur_smol_lab" in name]  # an example, not the product
