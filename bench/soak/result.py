"""What a scenario found: figures to read, promises that held or did not."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.report import publish


@dataclass(slots=True)
class Result:
    """One scenario. `promises` maps what was to be shown to whether it was."""

    scenario: str
    figures: dict[str, str] = field(default_factory=dict)
    promises: dict[str, bool] = field(default_factory=dict)

    @property
    def kept(self) -> bool:
        return all(self.promises.values())


def show(results: Sequence[Result]) -> None:
    """One table for all, and `bench/results/soak.json`."""
    rows: list[list[str]] = []
    for result in results:
        rows += [[result.scenario, name, value] for name, value in result.figures.items()]
        rows += [[result.scenario, name, "kept" if kept else "BROKEN"] for name, kept in result.promises.items()]
    data = [{"scenario": r.scenario, "figures": r.figures, "promises": r.promises} for r in results]
    publish("soak", "what was done to the server, and what it did", ["scenario", "figure", "value"], rows, data)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie; NaN of none."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")
