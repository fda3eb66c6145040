"""The site holds together, and needs nothing from elsewhere."""

import importlib.util
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

from documents import ROOT, name_of, pages

LINK = re.compile(r"!?\[[^\]]*\]\((?![a-z]+:|#)([^)#\s]+)")


class _Loaded(HTMLParser):
    """Addresses that a browser fetches to show a page, and the pages it leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.leads_to: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and (address := given.get("href")):
            self.leads_to.append(address)
        if tag in ("script", "img", "iframe", "source") and (address := given.get("src")):
            self.fetched.append(address)
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload") and (address := given.get("href")):
            self.fetched.append(address)


def loaded(page: Path) -> _Loaded:
    found = _Loaded()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def test_a_browser_fetches_nothing_from_elsewhere(site: Path) -> None:
    shown = sorted(site.glob("*.html"))
    assert len(shown) > 20
    for page in shown:
        for address in loaded(page).fetched:
            assert not re.match(r"[a-z]+:|//", address) or address.startswith("data:"), (page.name, address)
            assert address.startswith("data:") or (site / address.lstrip("./")).exists() or page.name == "404.html"
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(https?:)?//", style.read_text(encoding="utf-8")), style.name


def test_links_between_pages_hold(site: Path) -> None:
    for page in site.glob("*.html"):
        if page.name == "404.html":  # served for any address, so its links are absolute
            continue
        for address in loaded(page).leads_to:
            path = address.partition("#")[0]
            if path and not re.match(r"[a-z]+:", path):
                assert (page.parent / path).exists(), (page.name, address)


def test_every_page_is_in_the_menu_and_none_is_empty(site: Path) -> None:
    menu = re.findall(r": ([\w-]+)\.md$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert {page.stem for page in site.glob("*.html")} - {"404"} >= set(menu)
    for name in menu:
        text = re.sub(r"<[^>]+>", " ", (site / f"{name}.html").read_text(encoding="utf-8").split("<article")[1])
        assert len(text.split()) > 80, name


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_in_the_repository_hold(page: Path) -> None:
    for address in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / address).exists(), address


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    """The MkDocs hook, as MkDocs loads it: from its file."""
    spec = importlib.util.spec_from_file_location("mkdocs_pages", ROOT / "scripts" / "mkdocs_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("link", "in_site"),
    [
        ("[scale](SCALING.md#memory)", "[scale](train-scaling.md#memory)"),
        ("[start](../README.md)", "[start](index.md)"),
        ("![a curve](../docs/training/toy-brier.svg)", "![a curve](training/toy-brier.svg)"),
        ("[`recipes/`](recipes)", "`recipes/`"),
        ("[the rules](../deploy/prometheus/rules.yml)", "the rules (`deploy/prometheus/rules.yml`)"),
        ("[verl](https://example.org/verl)", "[verl](https://example.org/verl)"),
        ("[below](#the-recipes)", "[below](#the-recipes)"),
    ],
)
def test_links_of_a_page_from_elsewhere_hold_inside_the_site(hook, link: str, in_site: str) -> None:
    assert hook.site_links(f"See {link}.", "training/README.md") == f"See {in_site}."


def test_a_page_of_docs_leads_to_the_pages_from_elsewhere(hook) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="metrics.md"))
    told = hook.on_page_markdown("[rules](../deploy/README.md#alerts), [api](api.md), [start](../README.md)", page)
    assert told == "[rules](deploy.md#alerts), [api](api.md), [start](index.md)"


def test_an_interval_stays_on_one_line(hook) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="metrics.md"))
    told = hook.on_page_markdown("0.5 [-0.1, 0.9], 3 ms (2 to 1,000), not (a, b)", page)
    assert told.replace("\N{NO-BREAK SPACE}", "_") == "0.5 [-0.1,_0.9], 3 ms (2_to_1,000), not (a, b)"


def test_the_site_is_built_without_what_fetches() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    assert settings["theme"]["font"] is False
    assert settings["plugins"] == ["search"]
