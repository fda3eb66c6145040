"""What a package index, a type checker and a citation manager read about the distributions."""

import importlib.metadata
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import demur
import demur_client
import demur_training


def test_each_version_stands_in_one_file(root: Path) -> None:
    modules = {".": demur, "clients/python": demur_client, "training": demur_training}
    for folder, module in ((root / path, module) for path, module in modules.items()):
        project = tomllib.loads((folder / "pyproject.toml").read_text())
        assert "version" in project["project"]["dynamic"]
        source = (folder / project["tool"]["hatch"]["version"]["path"]).read_text()
        assert f'__version__ = "{module.__version__}"' in source
        assert importlib.metadata.version(project["project"]["name"]) == module.__version__


def test_the_citation_names_this_version_and_the_paper(root: Path) -> None:
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    assert citation["version"] == demur.__version__
    assert citation["license"] == tomllib.loads((root / "pyproject.toml").read_text())["project"]["license"]
    assert citation["references"][0]["url"].endswith("2512.19920")


def test_the_changelog_has_an_entry_for_this_version(root: Path) -> None:
    assert re.search(rf"^## \[{re.escape(demur.__version__)}\]", (root / "CHANGELOG.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("folder", ["clients/python", "models/demur-smol", "training"])
def test_a_distribution_of_its_own_has_the_licence_whole(root: Path, folder: str) -> None:
    assert (root / folder / "LICENSE").read_bytes() == (root / "LICENSE").read_bytes()


@pytest.mark.parametrize("package", ["demur", "demur_training", "demur_client"])
def test_a_package_says_that_it_is_typed(package: str) -> None:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).with_name("py.typed").exists()


@pytest.fixture(scope="module")
def hook(root: Path):
    """The hook that makes the long description, as hatchling loads it: from its file."""
    path = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"]["hooks"]["custom"]["path"]
    spec = importlib.util.spec_from_file_location("long_description", root / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LINK = re.compile(r"!?\[[^\]]*\]\(([^)]+)\)")


def test_links_and_images_of_a_published_readme_are_absolute(root: Path, hook) -> None:
    readme = (root / "README.md").read_text()
    described = hook.long_description(readme, "https://files.example/demur/v0.1.0/")
    addresses = LINK.findall(described)
    assert len(addresses) == len(LINK.findall(readme))
    assert "https://files.example/demur/v0.1.0/docs/screenshots/claims.png" in addresses
    for address in addresses:
        assert address.startswith(("https://", "http://", "#")), address
        path = address.removeprefix("https://files.example/demur/v0.1.0/")
        assert path == address or (root / path.partition("#")[0]).exists(), address


def test_a_readme_without_an_address_for_its_files_has_no_broken_image(root: Path, hook) -> None:
    described = hook.long_description((root / "README.md").read_text(), None)
    assert "![" not in described
    assert all(address.startswith(("https://", "http://", "#")) for address in LINK.findall(described))


def test_the_installed_metadata_has_the_long_description() -> None:
    metadata = importlib.metadata.metadata("demur")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "risk threshold" in str(metadata.get_payload())


@pytest.mark.parametrize("image", ["Dockerfile", "deploy/training/Dockerfile"])
def test_an_image_that_installs_the_package_has_the_hook(root: Path, image: str) -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (root / image).read_text(), re.MULTILINE)
    sources = {source for line in copied for source in line.split()}
    assert "pyproject.toml" in sources
    assert sources & {"scripts", "scripts/long_description.py"}


def test_hooks_before_a_commit_run_tools_of_the_environment(root: Path) -> None:
    hooks = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert {hook["id"] for hook in hooks} == {"ruff-check", "ruff-format", "pyright"}
    for hook in hooks:
        assert hook["language"] == "system"
        assert (root / hook["entry"].split()[0]).exists()
