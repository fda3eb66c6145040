"""From the rows of runs to what people look at: tables in the terminal, metrics.json, the report."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from demur.evaluation.promise import lines_of
from demur.evaluation.report.page import write
from demur.evaluation.report_options import ReportOptions
from demur.evaluation.tables import scaling_table, show
from demur.evaluation.view import RunView, baseline_rows, view, write_metrics

REPORT = "report.html"


def finish(folders: Sequence[Path], options: ReportOptions, console: Console, out: Path | None = None) -> list[RunView]:
    """Score each run, show it, and write its figures and report; several runs get a report together as well."""
    against = baseline_rows(options.baseline)
    runs: list[RunView] = []
    for folder in folders:
        run = view(folder, missing=options.missing, baseline=against, labels=options.labels)
        console.rule(run.name)
        show(console, run.results)
        for line in lines_of(run.promise) if run.promise is not None else ():
            console.print(line, highlight=False, markup=False)
        if run.claims is not None:
            console.print("Single claims", style="bold")
            show(console, run.claims)
        if run.scaling is not None:
            for source in run.scaling.curves:
                console.print(scaling_table(run.scaling, source))
        write_metrics(folder, run)
        written = write(folder / REPORT, [run], beside=options.beside)
        console.print(f"report: {written}", soft_wrap=True, markup=False)
        runs.append(run)
    if len(runs) > 1 or out is not None:
        joint = out or folders[0].parent / REPORT
        console.print(f"report of all runs: {write(joint, runs, beside=options.beside)}", soft_wrap=True, markup=False)
    return runs
