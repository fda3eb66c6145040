"""`demur metrics`: apart from the commands that ask and grade, which take longer to import than it takes to run."""

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
    RowsArgument,
    SeedOption,
    console,
    needs,
    one_line_errors,
)
from demur.evaluation.errors import RowsFileError


@with_options
def metrics(
    rows: RowsArgument,
    row_format: RowFormat,
    as_json: JsonOption = False,
    figures: Annotated[Path | None, typer.Option(help="Write the figures as PNG and SVG files here.")] = None,
    missing: MissingOption = "skip",
    level: LevelOption = None,
    baseline: Annotated[Path | None, typer.Option(help="Rows of the run whose accuracy must be kept.")] = None,
    seed: SeedOption = 0,
) -> None:
    """Score rows: how sure an answer was, and whether it was right.

    A file is JSON lines, a JSON array, CSV, TSV or Parquet, in any encoding,
    compressed or not. Each row has:

    "confidence": 0 to 1; empty where there is none
    "correct": true, yes, 1, ... or false, no, 0, ...; empty where ungraded
    "problem": the id of the question; without it a row is its own problem
    "sample", "claim", "state", "risk_threshold", "abstained": optional, as
    demur evaluate writes them

    Columns of other names are recognised, or named by the options below.
    A file in percent needs --scale percent.

    Prints every figure with a 95 % interval over problems, and the four objectives of behavioral calibration.
    """
    from demur.evaluation.results import score
    from demur.evaluation.row_files import read_rows
    from demur.evaluation.tables import show

    if figures is not None:
        needs("matplotlib", "--figures")
    with one_line_errors():
        against = read_rows(baseline, level, row_format=row_format, beside=True) if baseline else None
        scored = read_rows(rows, level, row_format=row_format)
        if not scored.rows:
            raise RowsFileError(f"{rows} holds no rows for --level {level}")
        results = score(scored, missing=missing, seed=seed, baseline=against)
    if as_json:
        typer.echo(json.dumps(results.as_dict(), indent=2))
    else:
        show(console(), results)
    if figures is not None:
        from demur.evaluation.report.figures import save

        for path in save(results, figures):
            typer.echo(f"wrote {path}", err=True)
