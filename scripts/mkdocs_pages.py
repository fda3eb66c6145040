"""Pages of the documentation site that live elsewhere in the repository, beside what they describe (a MkDocs hook).

Each is added to the site under a name of its own. Its relative links are rewritten: to another page or file of the site
where there is one, else to the file's path as code, since a site does not hold the repository.
"""

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PAGES: Mapping[str, str] = {
    "training/README.md": "train.md",
    "training/SCALING.md": "train-scaling.md",
    "examples/demur-smol/README.md": "train-demur-smol.md",
    "deploy/README.md": "deploy.md",
    "deploy/SECURITY.md": "security.md",
    "clients/python/README.md": "python-client.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Path in the repository to the page of the site."""
ICON = "clients/web/icon.svg"
_RANGE = re.compile(r"([\[(])(-?[\d.,]+)(, | to )(-?[\d.,]+)([\])])")
"""An interval or a spread, as [0.1, 0.2] or (3 to 5)."""
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs once it knows the files of docs/."""
    root = Path(config.config_file_path).parent
    files.append(File.generated(config, "icon.svg", abs_src_path=str(root / ICON)))
    for source, page in PAGES.items():
        text = (root / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=site_links(text, source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Links of docs/ hold in the repository, and are rewritten as those of the other pages are. Each interval is kept
    on one line: columns of figures are narrow."""
    if page.file.src_uri not in PAGES.values():
        markdown = site_links(markdown, f"docs/{page.file.src_uri}")
    return _RANGE.sub(lambda found: "".join(found.groups()).replace(" ", "\N{NO-BREAK SPACE}"), markdown)


def site_links(text: str, source: str) -> str:
    """`text` of the repository's file `source` with links that hold inside the site, where all pages share a folder."""

    def rewritten(found: re.Match[str]) -> str:
        image, words, path, anchor = found.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if target in PAGES:
            return f"[{words}]({PAGES[target]}{anchor or ''})"
        if target == "README.md":
            return f"[{words}](index.md)"
        if target.startswith("docs/"):
            return f"{image}[{words}]({target.removeprefix('docs/')}{anchor or ''})"
        return words if words.strip("`/") in target else f"{words} (`{target}`)"

    return _LINK.sub(rewritten, text)
