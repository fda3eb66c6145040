"""How runs are scored, and what stands beside them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from demur.evaluation.commands import MissingOption
from demur.evaluation.report.paper import Table
from demur.evaluation.run_config import GRADING, option


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The options of `demur report`, which `demur evaluate` has too."""

    missing: MissingOption = "skip"
    baseline: Annotated[
        Path | None, typer.Option(help="Run folder or rows of the model whose accuracy must be kept.")
    ] = None
    labels: Annotated[Path | None, option(GRADING, "Rows with human verdicts, to check ours against.")] = None
    beside: Annotated[Table | None, typer.Option(help="Print the paper's own rows beside ours.")] = None
