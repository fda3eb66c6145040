"""What the pages of deploy/ point to is there."""

import re
from pathlib import Path

import pytest

PAGES = ["deploy/README.md", "deploy/SECURITY.md"]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(root: Path, page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (root / page).read_text())
    assert all((root / page).parent.joinpath(link).exists() for link in links if "://" not in link), links


def test_a_defence_names_tests_that_exist(root: Path) -> None:
    named = set(re.findall(r"`(tests/[\w/.]+|kubernetes/[\w/.-]+)`", (root / "deploy" / "SECURITY.md").read_text()))
    assert len(named) > 10
    for name in named:
        assert (root / name).exists() or (root / "deploy" / name).exists(), name


@pytest.mark.parametrize("page", PAGES)
def test_files_in_commands_exist(root: Path, page: str) -> None:
    words = re.findall(r"\bdeploy/[\w./-]*\w", (root / page).read_text())
    assert all((root / word).exists() for word in words), words


def test_every_alert_is_explained(root: Path) -> None:
    alerts = set(re.findall(r"alert: (\w+)", (root / "deploy" / "prometheus" / "rules.yml").read_text()))
    assert alerts == set(re.findall(r"\bDemur\w+", (root / "deploy" / "README.md").read_text()))
