"""`demur compare`: two runs over the same questions, figure by figure, with paired intervals."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from demur.core.metrics import Difference, Missing
from demur.evaluation.columns import RowFormat
from demur.evaluation.errors import RowsFileError
from demur.evaluation.job import CLAIMS, ROWS
from demur.evaluation.pairing import Pair, differences, pair
from demur.evaluation.row_files import DEFAULT, read_rows
from demur.evaluation.rows import Level, RowSet


def compare_runs(
    first: Path,
    second: Path,
    *,
    level: Level | None,
    missing: Missing,
    seed: int,
    row_format: RowFormat = DEFAULT,
) -> tuple[Pair, dict[str, Difference]]:
    """Pair two runs (folders, or files of rows) and take their differences, the second less the first.

    Raises RowsFileError where they share no problem, or state no confidence.
    """
    sets = [rows_of(place, level, row_format) for place in (first, second)]
    for place, rows in zip((first, second), sets, strict=True):
        if rows.explicit_risk:
            raise RowsFileError(f"{place}: explicit-risk rows state no confidence to compare; demur report shows both")
    both = pair(*sets)
    if not both.shared:
        raise RowsFileError(f"{first} and {second} share no graded problem: are they runs over the same questions?")
    return both, differences(both, missing=missing, seed=seed)


def rows_of(place: Path, level: Level | None, row_format: RowFormat = DEFAULT) -> RowSet:
    """The rows of a run's folder, or of a file in this format."""
    if place.is_dir():
        return read_rows(place / (CLAIMS if level == "claims" else ROWS), beside=True, may_be_empty=True)
    return read_rows(place, level, row_format=row_format)


def as_dict(both: Pair, gaps: dict[str, Difference]) -> dict[str, Any]:
    """The JSON form."""
    figures = {name: asdict(gap) for name, gap in gaps.items()}
    return {"problems": both.shared, "left_out": both.left_out, "figures": figures}
