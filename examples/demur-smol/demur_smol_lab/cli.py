"""`demur-smol-lab`: the small model that ships with demur, made from nothing."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from demur_smol_lab import Stage
from demur_smol_lab.problems.cli import write_problems
from demur_smol_lab.problems.splits import Measured
from demur_training.cli import leave
from demur_training.errors import DataError

if TYPE_CHECKING:
    from demur_smol_lab.pipeline import Pipeline

app = typer.Typer(
    help="Make the small model that ships with demur: problems, adapters, tables, model card.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("problems")(write_problems)

Out = Annotated[Path, typer.Option(help="Folder of the run; the same folder goes on where it stopped.")]
Base = Annotated[Path | None, typer.Option(help="Base model folder; by default the embedded one, made if need be.")]
Device = Annotated[Literal["cpu", "cuda"], typer.Option(help="Where the network runs.")]
Threads = Annotated[int, typer.Option(help="CPU threads; 0 for all cores. On a busy machine 1 is faster.")]


@app.command()
def run(
    out: Out,
    base: Base = None,
    device: Device = "cpu",
    threads: Threads = 0,
    seed: Annotated[int, typer.Option(help="Same seed, same run.")] = 0,
    until: Annotated[
        Stage, typer.Option(help="The stage to stop after; the same folder goes on from there.")
    ] = "measured",
    yes: Annotated[bool, typer.Option("--yes", help="Start without asking.")] = False,
) -> None:
    """Warm start, sample, calibrate, measure on validation. Says first how long it will take here; safe to kill."""
    import torch

    from demur_smol_lab.pipeline import Pipeline
    from demur_smol_lab.plan import Plan, minutes

    torch.set_num_threads(threads or torch.get_num_threads())
    pipeline = Pipeline(_base(base), out, Plan(seed=seed), device)
    expected = minutes(pipeline.plan, pipeline.model(), until)
    for stage, cost in expected.items():
        typer.echo(f"{stage:12} {cost:6.0f} min")
    typer.echo(f"{'in all':12} {sum(expected.values()):6.0f} min, less what is done already in {out}")
    if not yes:
        typer.confirm("Go on?", abort=True, default=True)
    pipeline.run(until)
    if until != "measured":
        return
    typer.echo((out / "histogram.txt").read_text())
    typer.echo(f"Figures: {out / 'table-validation.json'}; next: demur-smol-lab export")


@app.command()
def measure(
    out: Out,
    split: Annotated[Measured, typer.Option(help="Touch test once per published table.")],
    base: Base = None,
    device: Device = "cpu",
) -> None:
    """Sample the problems of one split with the warm start and the calibrated model, and print the table."""
    from demur_smol_lab.tokens import Vocabulary

    pipeline = _reopened(out, base, device)
    typer.echo(pipeline.measure(Vocabulary(pipeline.base), split))


@app.command()
def adopt(
    out: Out,
    artefact: Annotated[Path | None, typer.Option(help="Exported folder; by default what ships.")] = None,
    base: Base = None,
) -> None:
    """Make a run out of an exported adapter, to measure or merge it without training anything."""
    from demur.manifest import Manifest
    from demur.model.calibrated import ARTEFACT
    from demur_smol_lab.artefact import ADAPTER
    from demur_smol_lab.pipeline import Pipeline
    from demur_smol_lab.plan import Plan

    if (out / "plan.json").exists():
        raise DataError(f"{out} holds a run already: choose another folder")
    kept = artefact or ARTEFACT
    if not (kept / ADAPTER).exists():
        raise DataError(f"{kept} holds no {ADAPTER}: name a folder that demur-smol-lab export wrote")
    plan = Plan.of({name: value for name, value in Manifest.load(kept).training.items() if name != "prompts"})
    Pipeline(_base(base), out, plan).adopt(kept)
    typer.echo(f"Next: demur-smol-lab measure --out {out} --split test")


@app.command()
def merge(
    out: Out,
    stage: Annotated[str, typer.Option(help="warm-start, empirical, finish ...")],
    base: Base = None,
) -> None:
    """Put a finished stage's adapters into the base's weights, and print the folder: demur serve --model FOLDER."""
    pipeline = _reopened(out, base)
    if not (out / stage / "adapter.pt").exists():
        raise DataError(f"{out} has no finished stage {stage}")
    typer.echo(pipeline.merged(stage))


@app.command()
def export(out: Out, to: Annotated[Path, typer.Option(help="Folder for the artefact.")], base: Base = None) -> None:
    """Write adapter, manifest, model card and hashes of a finished, measured run."""
    from demur_smol_lab.artefact import export as write
    from demur_smol_lab.pipeline import FINAL
    from demur_smol_lab.tokens import Vocabulary

    pipeline, tables = _reopened(out, base), _tables(out)
    head = pipeline.critic(Vocabulary(pipeline.base))
    size = write(pipeline.model(FINAL), pipeline.plan, tables, (out / "histogram.txt").read_text(), head, to)
    typer.echo(f"{to}: {size / 1e6:.1f} MB")


@app.command()
def describe(
    out: Out, to: Annotated[Path, typer.Option(help="Folder of the artefact that was measured.")], base: Base = None
) -> None:
    """Write what was measured since an export into its card and manifest; the weights stay."""
    from demur_smol_lab.artefact import describe as write

    write(_reopened(out, base).plan, _tables(out), to)
    typer.echo(f"{to}: card, manifest and hashes written")


def main() -> None:
    """The console script."""
    leave(app)


def _reopened(out: Path, base: Path | None, device: str = "cpu") -> "Pipeline":
    from demur_smol_lab.pipeline import Pipeline
    from demur_smol_lab.plan import Plan

    if not (out / "plan.json").exists():
        raise DataError(f"{out} holds no run: demur-smol-lab run --out {out}")
    return Pipeline(_base(base), out, Plan.read(out / "plan.json"), device)


def _tables(out: Path) -> dict[str, dict[str, Any]]:
    """The tables of a run by split. Raises DataError where there are none."""
    found = {
        path.stem.removeprefix("table-"): json.loads(path.read_text()) for path in sorted(out.glob("table-*.json"))
    }
    if not found:
        raise DataError(f"{out} has not been measured: demur-smol-lab measure --out {out} --split validation")
    return found


def _base(given: Path | None) -> Path:
    if given is not None:
        return given
    from demur.model import prepare, progress_bar

    with progress_bar("embedded model") as report:
        return prepare(progress=report, kind="base")
