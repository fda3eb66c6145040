"""`demur-train`: from questions to a calibrated model that `demur serve` loads."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from demur_training.errors import TrainingError

app = typer.Typer(
    help="Train a model to state calibrated confidences: data, run, export, doctor.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Scale = Annotated[str, typer.Option(help="The machine: 4x8 or 1x8 (nodes x GPUs), gpu-smoke or cpu-smoke.")]
Overrides = Annotated[list[str] | None, typer.Argument(help="verl's keys, as in trainer.total_epochs=2.")]


@app.command()
def run(
    recipe: Annotated[str, typer.Argument(help="A recipe; `demur-train recipes` lists them.")],
    overrides: Overrides = None,
    scale: Scale = "4x8",
    model: Annotated[str | None, typer.Option(help="Base model: a folder or a hub id.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder with train.parquet and val.parquet.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for checkpoints and figures.")] = None,
    show: Annotated[bool, typer.Option("--print", help="Print verl's whole configuration and stop.")] = False,
) -> None:
    """Train. Run it again with the same --out to go on from the last checkpoint."""
    from omegaconf import OmegaConf

    from demur_training import recipes
    from demur_training.run import launch

    config = recipes.compose(recipe, scale, [*_paths(model, data, out), *(overrides or [])])
    if show:
        typer.echo(OmegaConf.to_yaml(config, resolve=False))
        return
    launch.run(config)


@app.command()
def rehearse(
    recipe: Annotated[str, typer.Argument(help="The recipe that is to run.")],
    overrides: Overrides = None,
    scale: Scale = "4x8",
    model: Annotated[str | None, typer.Option(help="Base model: a folder or a hub id.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder with train.parquet and val.parquet.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run; the rehearsal has one inside it.")] = None,
) -> None:
    """Make the longest step that a run can have, and say what it took: does everything fit, and how long is a run?

    Give it the arguments of the run. The longest prompts are asked, and every output runs to its limit.
    """
    from demur_training import recipes
    from demur_training.run import launch, rehearsal

    config = recipes.compose(recipe, scale, [*_paths(model, data, out), *(overrides or [])])
    rehearsed = rehearsal.prepare(config)
    launch.run(rehearsed)
    for sentence in rehearsal.outcome(config, rehearsed).sentences():
        typer.echo(sentence)


@app.command("data")
def write_data(
    source: Annotated[str, typer.Argument(help="dapo-math-17k, deepscaler, math, gsm8k, a hub id or a file.")],
    recipe: Annotated[str, typer.Option(help="The recipe the prompts are written for.")],
    out: Annotated[Path, typer.Option(help="Folder for train.parquet, val.parquet and report.json.")],
    val: Annotated[str | None, typer.Option(help="Questions to validate with; else some are held out.")] = None,
    val_size: Annotated[int, typer.Option(help="How many are held out.")] = 200,
    against: Annotated[
        list[str] | None,
        typer.Option(help="An evaluation set to keep apart: math500, a hub id, a file."),
    ] = None,
    ngram: Annotated[int, typer.Option(help="So many words in a row in common are an overlap.")] = 13,
    domain: Annotated[str, typer.Option(help="maths or general: the first words of the prompt.")] = "maths",
    limit: Annotated[int | None, typer.Option(help="Keep at most so many questions.")] = None,
    seed: Annotated[int, typer.Option(help="Which questions are held out, and the order.")] = 0,
) -> None:
    """Write the questions of a data set as verl trains on them, and report what was left out."""
    from tqdm import tqdm

    from demur_training import recipes
    from demur_training.data import preparation
    from demur_training.data.rows import read_evaluation, read_rows

    contract = recipes.settings_of(recipe)["contract"]
    settings = preparation.DataSettings(contract, preparation.known_domain(domain), val_size, limit, seed, ngram)
    report = preparation.write(
        tqdm(read_rows(source), desc=source, unit=" rows"),
        Path(source).stem,
        settings,
        out,
        validation=read_rows(val) if val else None,
        validation_source=Path(val).stem if val else None,
        evaluation=[row for name in against or [] for row in read_evaluation(name)],
    )
    typer.echo(preparation.describe(report))
    if not against:
        typer.echo("not compared with any evaluation set: name those you will report on with --against")


@app.command()
def export(
    checkpoint: Annotated[Path, typer.Argument(help="A global_step_N folder, or a run's folder: its newest.")],
    out: Annotated[Path, typer.Argument(help="Where the model goes.")],
    adapter: Annotated[int | None, typer.Option(help="Write a low-rank adapter of this rank instead.")] = None,
    best: Annotated[
        str | None, typer.Option(help="Of a run, the best validated: by reward (highest) or by smece (lowest).")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What the served model is called; else the folder's name.")] = None,
) -> None:
    """Turn a checkpoint into a model folder that `demur serve --model` loads."""
    from demur_training.export.checkpoint import export as export_checkpoint

    for remark in export_checkpoint(checkpoint, out, rank=adapter, name=name, best=best).remarks:
        typer.echo(remark)


@app.command()
def doctor(
    recipe: Annotated[str, typer.Argument(help="The recipe that is to run.")] = "confidence-brier",
    overrides: Overrides = None,
    scale: Scale = "4x8",
    model: Annotated[str | None, typer.Option(help="Base model: a folder or a hub id.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder the checkpoints will go to.")] = None,
) -> None:
    """Check versions, GPUs, memory and disk before anything long starts."""
    from demur_training import recipes
    from demur_training.checks import doctor as examination

    colours = {"ok": "green", "note": "yellow", "missing": "red"}
    findings = examination.examine(recipes.compose(recipe, scale, [*_paths(model, None, out), *(overrides or [])]))
    for finding in findings:
        typer.echo(typer.style(f"{finding.verdict:9}", fg=colours[finding.verdict]) + finding.what)
    if any(finding.verdict == "missing" for finding in findings):
        raise typer.Exit(1)


@app.command("e2e-smoke")
def e2e_smoke(
    folder: Annotated[Path, typer.Argument(help="Where everything goes; made if it is not there.")],
    overrides: Overrides = None,
    scale: Annotated[str, typer.Option(help="cpu-smoke, or gpu-smoke for one GPU.")] = "cpu-smoke",
    serving_python: Annotated[
        Path | None,
        typer.Option(help="Python of an environment that can serve; with gpu-smoke serving is left out without it."),
    ] = None,
) -> None:
    """End-to-end smoke test: train a tiny model, kill and resume the run, export, serve and evaluate it.

    One line for each thing that has to hold, and a verdict; the exit status is 1 where something does not.
    """
    from demur_training.smoke import verdict
    from demur_training.smoke.end_to_end import EndToEndSmoke

    folder.mkdir(parents=True, exist_ok=True)
    python = str(serving_python or sys.executable)
    smoke = EndToEndSmoke(folder.absolute(), scale=scale, serving_python=python, overrides=tuple(overrides or ()))
    checks = []
    for check in verdict.run(smoke, serve=scale == "cpu-smoke" or serving_python is not None):
        typer.echo(check.line())
        checks.append(check)
    typer.echo(verdict.summary(checks))
    if not all(check.held for check in checks):
        raise typer.Exit(1)


@app.command()
def toy(
    folder: Annotated[Path, typer.Argument(help="Holds the toy model and questions, made if they are not there.")],
    recipe: Annotated[str, typer.Argument(help="A recipe for the response contract.")],
    overrides: Overrides = None,
    name: Annotated[str | None, typer.Option(help="Folder of the run inside FOLDER; else the recipe's name.")] = None,
) -> None:
    """Train the toy task of the end-to-end smoke test by any recipe; fails unless the reward clearly rose."""
    from demur_training.smoke.end_to_end import EndToEndSmoke

    smoke = EndToEndSmoke(folder.absolute())
    if not (folder / "data").is_dir():
        smoke.prepare()
    moved = smoke.attempt(recipe, name or recipe, *(overrides or []))
    typer.echo(f"mean reward {moved.first:.3f} -> {moved.last:.3f}, trend z = {moved.z:.1f}")
    if not moved.rose:
        raise typer.Exit(1)


@app.command()
def curves(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs, one line each.")],
    to: Annotated[Path, typer.Option(help="The picture: .svg, .png or .pdf.")],
    figure: Annotated[list[str] | None, typer.Option(help="What to draw; may be repeated.")] = None,
    level: Annotated[float | None, typer.Option(help="A value to compare with, as a dotted line.")] = None,
) -> None:
    """Draw how runs went: the mean reward, or any figure of their metrics.jsonl."""
    from demur_training.run import curves

    curves.draw({run.name: run for run in runs}, figure or ["critic/score/mean"], to, level)
    typer.echo(to)


@app.command("report")
def write_report(
    run: Annotated[Path, typer.Argument(help="The folder of a run, finished or not.")],
    to: Annotated[Path | None, typer.Option(help="The page; else report.html in the folder.")] = None,
) -> None:
    """Write one page about a run: curves, reliability by step, and outputs to look at."""
    from demur_training.run import report

    path = to or run / "report.html"
    report.write(run, path)
    typer.echo(path)


@app.command("recipes")
def list_recipes() -> None:
    """List the recipes and what each is."""
    from demur_training import recipes

    names = recipes.names()
    width = max(map(len, names)) + 2
    for name in names:
        typer.echo(f"{name:{width}}{recipes.about(name)}")


def main() -> None:
    """The console script."""
    leave(app)


def leave(command: Callable[[], object]) -> None:
    """Run a command; what the user can put right is one line, without a traceback, and status 2."""
    try:
        command()
    except TrainingError as error:
        typer.secho(f"error: {error}", fg="red", err=True)
        raise SystemExit(2) from None


def _paths(model: str | None, data: Path | None, out: Path | None) -> list[str]:
    keys = {
        "actor_rollout_ref.model.path": model,
        "data.train_files": data and [str(data.absolute() / "train.parquet")],
        "data.val_files": data and [str(data.absolute() / "val.parquet")],
        "trainer.default_local_dir": out and str(out.absolute()),
    }
    return [f"{key}={value}" for key, value in keys.items() if value]
