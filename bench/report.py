"""What every benchmark shares: repeated timing, spread, a table for people and JSON for machines."""

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Spread:
    """Minimum, median and maximum of one figure over several runs."""

    low: float
    median: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> "Spread":
        return Spread(min(values), statistics.median(values), max(values))

    def text(self, form: str = ".3g") -> str:
        return f"{self.median:{form}} ({self.low:{form}} to {self.high:{form}})"

    def json(self) -> dict[str, float]:
        return {"low": self.low, "median": self.median, "high": self.high}


def seconds(work: Callable[[], object], *, runs: int = 7, warmup: int = 1) -> Spread:
    """CPU seconds of one call in this process, over several calls: steadier than wall time on a busy machine."""
    for _ in range(warmup):
        work()
    taken: list[float] = []
    for _ in range(runs):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return Spread.of(taken)


def publish(name: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], data: object) -> None:
    """Print the table and write `bench/results/NAME.json`."""
    table = Table(title=title, caption=machine(), caption_justify="left", title_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": machine(), "results": data}, indent=1) + "\n")


def machine() -> str:
    """The kind of machine, without its name."""
    model = next(
        (line.partition(":")[2].strip() for line in _cpuinfo() if line.startswith("model name")), platform.machine()
    )
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []
