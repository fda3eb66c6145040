"""`demur metrics`, `demur evaluate`, `demur compare`, `demur report`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from demur.dataclass_options import with_options
from demur.evaluation.columns import RowFormat
from demur.evaluation.commands import (
    JsonOption,
    LevelOption,
    MissingOption,
    SeedOption,
    console,
    needs,
    one_line_errors,
)
from demur.evaluation.evaluate_command import evaluate
from demur.evaluation.report_options import ReportOptions
from demur.evaluation.score_rows import metrics

__all__ = ["compare", "evaluate", "metrics", "report"]


@with_options
def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run, or a file of rows.")],
    second: Annotated[Path, typer.Argument(help="Another, over the same questions.")],
    row_format: RowFormat,
    as_json: JsonOption = False,
    missing: MissingOption = "skip",
    level: LevelOption = None,
    seed: SeedOption = 0,
) -> None:
    """Compare two runs question by question: the second less the first, with paired 95 % intervals."""
    needs("httpx", "demur compare")
    from demur.evaluation.compare import as_dict, compare_runs
    from demur.evaluation.tables import differences_table

    with one_line_errors():
        both, gaps = compare_runs(first, second, level=level, missing=missing, seed=seed, row_format=row_format)
    if as_json:
        typer.echo(json.dumps(as_dict(both, gaps), indent=2))
        return
    screen = console()
    screen.print(differences_table(("first", "second"), gaps))
    screen.print(f"{both.shared:,} shared problems; {both.left_out:,} that only one run has are left out.")


@with_options
def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    *,
    out: Annotated[Path | None, typer.Option(help="Write one report of all of them here.")] = None,
    options: ReportOptions,
) -> None:
    """Write the figures and the report of finished runs again, alone and together, without asking anything."""
    needs("matplotlib", "demur report")
    from demur.evaluation.finish import finish

    with one_line_errors():
        finish(runs, options, console(), out)
