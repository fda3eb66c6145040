"""Rows: one graded answer, or one graded claim, each."""

import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from demur.core.answers import ConfidenceStatus
from demur.core.metrics import RiskRow, Rows

Level = Literal["response", "claims"]


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `correct` is None where nobody could grade it; `claim` counts from 0 and is None for whole answers.

    `risk_threshold` is set for explicit-risk outputs, whose prompt carried it; `abstained` then says that no answer
    came back, and the state "invalid" that the output did not decline either: it is unreadable. `signals` are the raw
    numbers that the confidence could be made of, by name; None where none were asked for.
    """

    problem: Hashable
    sample: int
    confidence: float | None
    correct: bool | None
    claim: int | None = None
    state: ConfidenceStatus = "value"
    risk_threshold: float | None = None
    abstained: bool = False
    signals: Mapping[str, float | None] | None = None


@dataclass(frozen=True, slots=True)
class RowSet:
    """Rows of one level. `unreadable` names the first row whose confidence is no probability; `notes` say how the file
    was read where it was not plain."""

    rows: tuple[Row, ...]
    unreadable: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def graded(self) -> tuple[Row, ...]:
        """The rows somebody could grade; the others are counted and scored nowhere."""
        return tuple(row for row in self.rows if row.correct is not None)

    @property
    def explicit_risk(self) -> bool:
        """Whether the threshold was in the prompt, so that there is no confidence to score."""
        return any(row.risk_threshold is not None for row in self.rows)

    def count(self, state: ConfidenceStatus) -> int:
        """How many rows have a confidence in this state."""
        return sum(row.state == state for row in self.rows)

    def about(self, problems: Iterable[Hashable]) -> "RowSet":
        """Only the rows about these problems."""
        wanted = frozenset(problems)
        return RowSet(tuple(row for row in self.rows if row.problem in wanted), self.unreadable, self.notes)

    def packed(self, coding: Mapping[Hashable, int] | None = None) -> Rows:
        """The graded rows as the metrics take them."""
        rows = self.graded
        confidence = [row.confidence for row in rows]
        return Rows.of(confidence, [bool(row.correct) for row in rows], [row.problem for row in rows], coding=coding)

    def risk_rows(self) -> list[RiskRow]:
        """The graded rows of explicit-risk runs."""
        return [
            RiskRow(row.problem, row.sample, row.risk_threshold or 0.0, row.abstained, bool(row.correct))
            for row in self.graded
        ]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as JSON lines; `demur.evaluation.row_files.read_rows` gives them back."""
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(_record(row)) + "\n")


def _record(row: Row) -> dict[str, Any]:
    record = asdict(row)
    if row.risk_threshold is None:
        del record["risk_threshold"], record["abstained"]
    if row.signals is None:
        del record["signals"]
    return record
