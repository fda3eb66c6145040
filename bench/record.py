"""One JSON of all that a run of the benchmarks measured: figures with their intervals, by benchmark and name."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.pairs import RoundMean
from bench.report import RESULTS, machine

RECORD = RESULTS / "record.json"
BASELINE = Path(__file__).parent / "baseline.json"

Figures = Mapping[str, RoundMean]


def keep(benchmark: str, figures: Figures, conditions: Mapping[str, Any], to: Path = RECORD) -> None:
    """Write what one benchmark measured into the record, in the place of what it measured before."""
    record = read(to) if to.exists() else {}
    named = {name: figure.json() for name, figure in figures.items()}
    record[benchmark] = {"machine": machine(), "conditions": dict(conditions), "figures": named}
    write(record, to)


def write(record: Mapping[str, Any], to: Path) -> None:
    """Replace a record."""
    to.parent.mkdir(exist_ok=True)
    to.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())


def figures_of(record: Mapping[str, Any], benchmark: str) -> dict[str, RoundMean]:
    found = record.get(benchmark, {}).get("figures", {})
    return {name: RoundMean(**figure) for name, figure in found.items()}
