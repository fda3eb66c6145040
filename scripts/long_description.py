"""The package's long description: README.md with every relative address made absolute (a hatchling metadata hook).

A package index shows no file of the repository, so an image or a link there needs the address of a copy that anybody
can read. Whoever publishes names it: DEMUR_FILES_URL=https://HOST/OWNER/demur/raw/v0.1.0. Without it, which is
every build that is not published, an image is replaced by its description and a link by its text.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "DEMUR_FILES_URL"
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")
"""A Markdown link or image with a relative address. The text of a link holds no brackets in our README."""


class LongDescription(MetadataHookInterface):
    """Sets the field `readme` of the project's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        described = long_description(text, os.environ.get(VARIABLE))
        metadata["readme"] = {"content-type": "text/markdown", "text": described}


def long_description(readme: str, files_url: str | None) -> str:
    """`readme` with relative addresses below `files_url`, or without them where there is none."""

    def absolute(found: re.Match[str]) -> str:
        image, text, path = found.groups()
        if files_url is None:
            return f"*{text}*" if image else text
        return f"{image}[{text}]({files_url.rstrip('/')}/{path})"

    return _LINK.sub(absolute, readme)
