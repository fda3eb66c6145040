"""The pages that are written for readers, and what stands in them: fenced blocks, commands, examples."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"^```([a-z]*)(?: title=\"([^\"]*)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Every page for readers in the repository."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "requirements" / "README.md"]
    for folder in ("docs", "training", "deploy", "clients", "examples"):
        found += (ROOT / folder).rglob("*.md")
    return sorted(path for path in found if path.exists())


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: its language, the title that stands above it, and its text."""

    language: str
    title: str
    text: str


def fences(page: Path) -> Iterator[Fence]:
    for language, title, text in _FENCE.findall(page.read_text(encoding="utf-8")):
        yield Fence(language, title, text)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request of a page, as `POST /path`, with the body that stands under it, and the reply that follows."""

    request: Fence
    reply: Fence


def exchanges(page: Path) -> list[Exchange]:
    blocks = [block for block in fences(page) if block.title]
    return [Exchange(*pair) for pair in zip(blocks[::2], blocks[1::2], strict=True)]
