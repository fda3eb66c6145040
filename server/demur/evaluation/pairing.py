"""Two runs over the same questions, made comparable."""

from collections.abc import Mapping
from dataclasses import dataclass

from demur.core.metrics import METRICS, Difference, Metric, Missing, Rows, compare, number
from demur.evaluation.rows import RowSet


@dataclass(frozen=True, slots=True)
class Pair:
    """The shared part of two runs. `left_out` counts the problems that only one of them has."""

    first: Rows
    second: Rows
    shared: int
    left_out: int


def pair(first: RowSet, second: RowSet) -> Pair:
    """Keep the problems that both runs have graded rows for, numbered alike."""
    problems = [{row.problem for row in rows.graded} for rows in (first, second)]
    shared = problems[0] & problems[1]
    coding = number(row.problem for row in first.graded if row.problem in shared)
    packed = [rows.about(shared).packed(coding) for rows in (first, second)]
    return Pair(packed[0], packed[1], len(shared), len(problems[0] ^ problems[1]))


def differences(
    both: Pair, *, metrics: Mapping[str, Metric] = METRICS, missing: Missing = "skip", seed: int = 0
) -> dict[str, Difference]:
    """These figures of both runs, and the second less the first."""
    return compare(both.first, both.second, metrics=metrics, missing=missing, seed=seed)
