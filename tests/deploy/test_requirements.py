"""Every environment is pinned with hashes, and the pins are in step with what pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETS = {
    "cpu": ["cpu"],
    "gpu": ["gpu"],
    "gpu-ray": ["gpu", "ray"],
    "training-cpu": ["cpu", "training-cpu"],
    "training-gpu": ["training-gpu"],
    "dev": ["cpu", "training-cpu", "evaluation", "dev"],
}
WITHOUT_HASH = {"torch", "demur-smol"}
"""On a CPU: see requirements/torch-cpu.txt; the weights come from this repository."""
ELSEWHERE = {"llama-cpp-python", "llm", "torchvision", "torchaudio", "torchcodec"}
"""What the overrides leave out."""


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def name_of(requirement: str) -> str:
    return re.split(r"[\[<>=!~;, ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def wanted(extras: list[str]) -> set[str]:
    """The packages that the extras name, those of the extras they name in turn among them."""
    found: set[str] = set()
    for extra in extras:
        for requirement in project()["optional-dependencies"][extra]:
            inner = re.match(r"demur\[([^\]]+)\]", requirement)
            found |= wanted(inner[1].split(",")) if inner else {name_of(requirement)}
    return found


def pinned(name: str) -> dict[str, str]:
    """Package to what stands after its name, hashes and all."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name_of(line): line for line in lines}


@pytest.mark.parametrize(("name", "extras"), SETS.items(), ids=SETS)
def test_what_the_extras_name_is_pinned_with_hashes(name, extras) -> None:
    pins = pinned(name)
    assert wanted(extras) | set(map(name_of, project()["dependencies"])) <= pins.keys() | WITHOUT_HASH
    for package, line in pins.items():
        assert re.search(r"^[\w.-]+(\[[\w,-]+\])?==\S+", line), line
        assert "--hash=sha256:" in line, package
    assert not ELSEWHERE & pins.keys() or "gpu" in name


@pytest.mark.parametrize("name", SETS)
def test_no_address_and_no_known_hole_is_in_a_file(name) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert not re.search(r"https?:|file:|--index|--find-links|^/", text, re.MULTILINE)
    version = re.search(r"^setuptools==(\d+)", text, re.MULTILINE)
    assert version is None or int(version[1]) >= 79


def test_the_sets_are_those_that_the_scripts_install() -> None:
    text = (ROOT / "requirements" / "sets.sh").read_text()
    listed = re.search(r'^SETS="([^"]+)"', text, re.MULTILINE)
    assert listed is not None
    assert set(listed[1].split()) == SETS.keys()
    for name, extras in SETS.items():
        assert ",".join(extras) in text or f"{name} |" in text or f"| {name}" in text


def test_smaller_sets_have_the_versions_of_the_largest() -> None:
    largest = pinned("dev")
    for name in ("cpu", "training-cpu"):
        assert {package: line.split()[0] for package, line in pinned(name).items()}.items() <= {
            package: line.split()[0] for package, line in largest.items()
        }.items()
