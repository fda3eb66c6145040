"""What the terminal shows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from demur.core.metrics import METRICS, Difference, Estimate
from demur.evaluation.formatting import (
    ARROWS,
    OBJECTIVES,
    bound_of,
    clear,
    counts_of,
    interval_of,
    value_of,
    verdict_of,
)
from demur.evaluation.results import Results

if TYPE_CHECKING:  # what asks a server needs httpx, and figures over rows do not
    from demur.evaluation.scaling import Scaling

SHOWN_THRESHOLDS = 11


def show(console: Console, results: Results) -> None:
    """Figures with intervals, what happens at some thresholds, the objectives, and what to know of the rows."""
    console.print(figures_table(results.figures))
    console.print(thresholds_table(results))
    console.print(objectives_table(results))
    for sentence in counts_of(results):
        console.print(sentence, markup=False)


def figures_table(figures: Mapping[str, Estimate]) -> Table:
    """One line a figure."""
    table = _table("Figures, with 95 % intervals over problems", "figure", "", "value>", "95 % interval")
    for name, figure in figures.items():
        metric = METRICS[name]
        table.add_row(metric.label, ARROWS[metric.better], value_of(figure), interval_of(figure))
    return table


def thresholds_table(results: Results) -> Table:
    """Accuracy, hallucination, abstention, and how many of the given answers are right, at some risk thresholds.

    A run that states no confidence was made once for each of them; its unreadable outputs are part of the abstention.
    """
    once_each = results.summary is None
    title = "One run for each risk threshold" if once_each else "At a risk threshold t"
    o = results.curves.outcomes
    columns = {"t>": o.t, "accuracy>": o.accuracy, "hallucination>": o.hallucination, "abstention>": o.abstention}
    if once_each:
        columns["unreadable>"] = results.unreadable
    columns["right if answered>"] = o.true_positive
    table = _table(title, *columns)
    chosen = np.unique(np.linspace(0, len(o.t) - 1, SHOWN_THRESHOLDS).astype(int))
    for line in np.column_stack(list(columns.values()))[chosen]:
        table.add_row(f"{line[0]:.2f}", *("–" if np.isnan(value) else f"{value:z.3f}" for value in line[1:]))
    return table


def objectives_table(results: Results) -> Table:
    """The four objectives, one line a check."""
    table = _table("Objectives of behavioral calibration", "objective", "check", "value>", "95 % interval", "wanted>")
    table.add_column("verdict")
    shown: set[str] = set()
    for check in results.checks:
        name = "" if check.objective in shown else OBJECTIVES[check.objective]
        shown.add(check.objective)
        verdict = verdict_of(check)
        style = "green" if verdict.startswith("pass") else "red" if verdict.startswith("fail") else "dim"
        figure = value_of(check.figure), interval_of(check.figure)
        table.add_row(name, check.name, *figure, bound_of(check), f"[{style}]{verdict}[/]")
    return table


def scaling_table(scaling: "Scaling", source: str) -> Table:
    """Accuracy at each k for every way to choose."""
    title = f"Test-time scaling with {source} confidence, {scaling.problems:,} problems"
    table = _table(title, "", *(f"k = {k}>" for k in scaling.k))
    for name, band in scaling.curves[source].items():
        table.add_row(name, *(f"{value:z.3f}" for value in band.value))
    return table


def differences_table(names: tuple[str, str], differences: Mapping[str, Difference]) -> Table:
    """Two runs side by side and what lies between them."""
    headings = "figure", "", *(f"{name}>" for name in (*names, "difference")), "95 % interval"
    table = _table("Paired differences, with 95 % intervals", *headings)
    for name, gap in differences.items():
        metric = METRICS[name]
        values = value_of(gap.first), value_of(gap.second), value_of(gap.difference)
        interval = interval_of(gap.difference)
        table.add_row(
            metric.label, ARROWS[metric.better], *values, f"[bold]{interval}[/]" if clear(gap.difference) else interval
        )
    return table


def _table(title: str, *headings: str) -> Table:
    """A plain table; a heading that ends in ">" heads a column of numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for heading in headings:
        table.add_column(heading.removesuffix(">"), justify="right" if heading.endswith(">") else "left")
    return table
