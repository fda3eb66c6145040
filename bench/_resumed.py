"""Steps of a long benchmark whose results are kept as they end, so that the same command goes on after a stop."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.report import RESULTS, machine


class Steps:
    """The finished steps of the benchmark `name` under these options, on this kind of machine, kept in `folder`."""

    def __init__(self, name: str, options: Mapping[str, object], folder: Path = RESULTS) -> None:
        self._path = folder / f"{name}.part.json"
        self._for = {"machine": machine(), **options}
        self._done: dict[str, Any] = {}
        if self._path.exists():
            kept = json.loads(self._path.read_text())
            if kept["for"] == self._for:
                self._done = kept["done"]

    def __contains__(self, step: str) -> bool:
        """Whether it has ended before."""
        return step in self._done

    def run(self, step: str, work: Callable[[], Any]) -> Any:
        """What `work` returns, as JSON gives it back; of a step that has ended before, what it returned then."""
        if step in self:
            return self._done[step]
        self._done[step] = json.loads(json.dumps(work()))
        self._path.parent.mkdir(exist_ok=True)
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps({"for": self._for, "done": self._done}, indent=1) + "\n")
        beside.replace(self._path)
        return self._done[step]

    def end(self) -> None:
        """Everything is published: the next run begins anew."""
        self._path.unlink(missing_ok=True)


def digest(*sources: Path) -> str:
    """Of these Python files, and of those below these folders: what other code measured is not gone on with."""
    found = hashlib.sha256()
    for path in sorted(path for source in sources for path in ([source] if source.is_file() else source.rglob("*.py"))):
        found.update(path.read_bytes())
    return found.hexdigest()
