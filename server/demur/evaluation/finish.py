"""From the rows of runs to what people look at: tables in the terminal, metrics.json, the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from demur.core.metrics import Missing
from demur.evaluation.report.page import write
from demur.evaluation.report.paper import Table
from demur.evaluation.tables import scaling_table, show
from demur.evaluation.view import RunView, baseline_rows, view, write_metrics

REPORT = "report.html"


@dataclass(frozen=True, slots=True)
class Ending:
    """How runs are scored and what stands beside them. `baseline` is a run's folder or a file of rows."""

    missing: Missing = "skip"
    baseline: Path | None = None
    labels: Path | None = None
    beside: Table | None = None


def finish(folders: Sequence[Path], ending: Ending, console: Console, out: Path | None = None) -> list[RunView]:
    """Score each run, show it, and write its figures and report; several runs get a report together as well."""
    against = baseline_rows(ending.baseline)
    runs: list[RunView] = []
    for folder in folders:
        run = view(folder, missing=ending.missing, baseline=against, labels=ending.labels)
        console.rule(run.name)
        show(console, run.results)
        if run.claims is not None:
            console.print("Single claims", style="bold")
            show(console, run.claims)
        if run.scaling is not None:
            for source in run.scaling.curves:
                console.print(scaling_table(run.scaling, source))
        write_metrics(folder, run)
        written = write(folder / REPORT, [run], beside=ending.beside)
        console.print(f"report: {written}", soft_wrap=True)
        runs.append(run)
    if len(runs) > 1 or out is not None:
        together = out or folders[0].parent / REPORT
        console.print(f"report of all runs: {write(together, runs, beside=ending.beside)}", soft_wrap=True)
    return runs
