"""How a program tells what came back: one JSON list a line on standard output."""

import json
import os
import sys
from typing import Any


class _Report:
    """Called with a name and what was seen."""

    def __call__(self, name: str, *seen: Any) -> None:
        print(json.dumps([name, *seen]), flush=True)

    def model(self) -> str:
        """The name of the served one."""
        return os.environ.get("DEMUR_MODEL", "demur-test")

    def url(self) -> str:
        """The server's, with /v1."""
        return sys.argv[1]


report = _Report()
