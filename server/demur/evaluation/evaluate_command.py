"""`demur evaluate`: one command from questions to a report."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.dataclass_options import with_options
from demur.evaluation.commands import console, needs, one_line_errors
from demur.evaluation.report_options import ReportOptions
from demur.evaluation.run_config import ASKING, RunConfig, option

if TYPE_CHECKING:
    from demur.evaluation.job import Job

INTERRUPTED = 130


@with_options
def evaluate(
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run; go on with it by the same command. (default: evaluations/...)"),
    ] = None,
    model: Annotated[
        list[str] | None, option(ASKING, "Served model; may be repeated, for several checkpoints.")
    ] = None,
    config: RunConfig,
    report: ReportOptions,
) -> None:
    """Ask a model every question of a dataset, grade the answers, and write figures and a report.

    A run that was stopped goes on when the same command is given again: no answered question is asked twice.
    """
    needs("matplotlib", "demur evaluate")
    from demur.evaluation.finish import finish

    with one_line_errors():
        jobs = _jobs(config, model or [None], out)
        failed = [job.folder for job in jobs if _run(job)]
        finish([job.folder for job in jobs], report, console())
    if failed:
        typer.echo("some questions got no answer; the same command asks them again", err=True)
        raise typer.Exit(1)


def _jobs(config: RunConfig, models: "list[str] | list[None]", out: Path | None) -> "list[Job]":
    """One run for each model, over the same questions. Raises EvaluationError."""
    from demur.evaluation.datasets import load
    from demur.evaluation.job import job_of

    loaded = load(
        config.dataset,
        data=config.data,
        split=config.split,
        limit=config.limit,
        domain=config.domain,
        grader=config.grader,
    )
    if loaded.merged:
        typer.echo(f"{loaded.merged} rows repeat an earlier question and were merged with it", err=True)
    several = len(models) > 1
    return [job_of(replace(config, model=name), loaded, _folder(out, name, several)) for name in models]


def _run(job: "Job") -> bool:
    """Run one job; whether any question went without an answer."""
    from demur.evaluation.run import evaluate as run

    try:
        done = asyncio.run(run(job))
    except KeyboardInterrupt:
        typer.echo(f"stopped; what was answered is kept in {job.folder}: the same command goes on", err=True)
        raise typer.Exit(INTERRUPTED) from None
    for line in done.sentences():
        typer.echo(line, err=True)
    return bool(done.failures)


def _folder(out: Path | None, model: str | None, several: bool) -> Path | None:
    return out / Path(model).name if out is not None and several and model is not None else out
