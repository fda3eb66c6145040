"""`demur evaluate`: one command from questions to a report."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from demur.core.answers import Aggregation, Contract, Granularity
from demur.evaluation.commands import BesideOption, MissingOption, console, needs, one_line_errors
from demur.evaluation.datasets import GraderName
from demur.evaluation.options import DEFAULT_THRESHOLDS, Options
from demur.evaluation.plan import ApiName
from demur.prompts import Domain

if TYPE_CHECKING:
    from demur.evaluation.job import Job

INTERRUPTED = 130

ASKING, DATA, SAMPLING, GRADING = "Asking", "Data", "Sampling", "Grading"


def evaluate(
    dataset: Annotated[
        str,
        typer.Argument(
            help="aime2024, aime2025, beyondaime, math500, gsm8k, simpleqa, triviaqa, a file of questions and answers,"
            " or a hub id (owner/name)."
        ),
    ],
    base_url: Annotated[
        str, typer.Option(help="Where the model is served.", envvar="DEMUR_BASE_URL", rich_help_panel=ASKING)
    ] = "http://127.0.0.1:8000",
    api: Annotated[
        ApiName,
        typer.Option(help="answers: a demur server. chat: any OpenAI-compatible host.", rich_help_panel=ASKING),
    ] = "answers",
    model: Annotated[
        list[str] | None,
        typer.Option(help="Served model; may be repeated, for several checkpoints.", rich_help_panel=ASKING),
    ] = None,
    contract: Annotated[
        Contract, typer.Option(help="What the model is asked to print.", rich_help_panel=ASKING)
    ] = "response",
    granularity: Annotated[
        Granularity | None,
        typer.Option(help="claims: single claims are judged and scored too.", rich_help_panel=ASKING),
    ] = None,
    aggregation: Annotated[
        Aggregation | None, typer.Option(help="From claims to one confidence.", rich_help_panel=ASKING)
    ] = None,
    confidence_source: Annotated[
        Literal["verbalized", "critic"] | None,
        typer.Option(help="Whose confidence; critic needs a server that has one.", rich_help_panel=ASKING),
    ] = None,
    risk_thresholds: Annotated[
        str, typer.Option(help="Grid of t for --contract explicit_risk: one run each.", rich_help_panel=ASKING)
    ] = DEFAULT_THRESHOLDS,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions asked at once.", rich_help_panel=ASKING)] = 8,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds for one answer.", rich_help_panel=ASKING)] = 600,
    retries: Annotated[int, typer.Option(min=0, help="Tries after the first.", rich_help_panel=ASKING)] = 6,
    api_key: Annotated[
        str | None, typer.Option(help="Bearer key; never written down.", envvar="DEMUR_API_KEY", rich_help_panel=ASKING)
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="File or hub id to take the dataset's rows from.", rich_help_panel=DATA)
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split on the hub.", rich_help_panel=DATA)] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions.", rich_help_panel=DATA)] = None,
    domain: Annotated[
        Domain | None, typer.Option(help="Wording of the prompt with --api chat.", rich_help_panel=DATA)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run; go on with it by the same command. (default: evaluations/...)"),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Answers for each question.", rich_help_panel=SAMPLING)] = 1,
    selection: Annotated[
        Literal["maxconf", "majconf", "majority"] | None,
        typer.Option(help="Score one chosen answer a question instead of all samples.", rich_help_panel=SAMPLING),
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="The paper: 1.0.", rich_help_panel=SAMPLING)] = None,
    top_p: Annotated[float | None, typer.Option(help="The paper: 0.7.", rich_help_panel=SAMPLING)] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="The paper: 20480.", rich_help_panel=SAMPLING)] = None,
    seed: Annotated[int | None, typer.Option(help="Sample i is asked with seed + i.", rich_help_panel=SAMPLING)] = None,
    extra_body: Annotated[
        str | None, typer.Option(help="More request fields: '{\"top_k\": -1}'.", rich_help_panel=SAMPLING)
    ] = None,
    grader: Annotated[GraderName | None, typer.Option(help="How answers are graded.", rich_help_panel=GRADING)] = None,
    judge_model: Annotated[
        str | None, typer.Option(help="Judge, for simpleqa and for claims.", rich_help_panel=GRADING)
    ] = None,
    judge_base_url: Annotated[
        str | None, typer.Option(help="Where it is served. (default: --base-url)", rich_help_panel=GRADING)
    ] = None,
    judge_api_key: Annotated[
        str | None, typer.Option(help="Its key.", envvar="DEMUR_JUDGE_API_KEY", rich_help_panel=GRADING)
    ] = None,
    judge_concurrency: Annotated[int, typer.Option(min=1, help="Cases judged at once.", rich_help_panel=GRADING)] = 8,
    judge_extra_body: Annotated[
        str | None, typer.Option(help="More request fields for the judge.", rich_help_panel=GRADING)
    ] = None,
    judge_sees_confidence: Annotated[
        bool,
        typer.Option(help="Show the claim judge the stated confidences, as the paper did.", rich_help_panel=GRADING),
    ] = False,
    labels: Annotated[
        Path | None, typer.Option(help="Rows with human verdicts, to check ours against.", rich_help_panel=GRADING)
    ] = None,
    missing: MissingOption = "skip",
    baseline: Annotated[
        Path | None, typer.Option(help="Run folder or rows of the model whose accuracy must be kept.")
    ] = None,
    beside: BesideOption = None,
) -> None:
    """Ask a model every question of a dataset, grade the answers, and write figures and a report.

    A run that was stopped goes on when the same command is given again: no answered question is asked twice.
    """
    needs("matplotlib", "demur evaluate")
    from demur.evaluation.datasets import load
    from demur.evaluation.finish import Ending, finish
    from demur.evaluation.options import job_of

    options = Options(
        base_url=base_url,
        api=api,
        model=None,
        contract=contract,
        granularity=granularity,
        aggregation=aggregation,
        confidence_source=confidence_source,
        samples=samples,
        selection=selection,
        risk_thresholds=risk_thresholds,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        seed=seed,
        extra=extra_body,
        limit=limit,
        judge_model=judge_model,
        judge_base_url=judge_base_url,
        judge_sees_confidence=judge_sees_confidence,
        api_key=api_key,
        judge_api_key=judge_api_key,
        judge_extra=judge_extra_body,
        concurrency=concurrency,
        judge_concurrency=judge_concurrency,
        timeout=timeout,
        retries=retries,
    )
    with one_line_errors():
        loaded = load(dataset, data=data, split=split, limit=limit, domain=domain, grader=grader)
        if loaded.merged:
            typer.echo(f"{loaded.merged} rows repeat an earlier question and were merged with it", err=True)
        names = model or [None]
        jobs = [job_of(replace(options, model=name), loaded, _folder(out, name, len(names) > 1)) for name in names]
        ending = Ending(missing, baseline, labels, beside)
        failed = [job.folder for job in jobs if _run(job)]
        finish([job.folder for job in jobs], ending, console())
    if failed:
        typer.echo("some questions got no answer; the same command asks them again", err=True)
        raise typer.Exit(1)


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
