"""Which column of somebody's rows is the confidence, the verdict, and the problem."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Literal

import typer

from demur.evaluation.errors import RowsFileError

Field = Literal["confidence", "correct", "problem"]

NAMES: Mapping[Field, tuple[str, ...]] = {
    "confidence": (
        *("confidence", "*_confidence", "confidence_score", "conf", "*_conf", "certainty", "score"),
        *("prob", "*_prob", "proba", "*_proba", "probability", "*_probability", "p", "p_true", "p_correct"),
        *("prob_true", "prob_correct", "probability_correct", "y_prob", "y_score"),
    ),
    "correct": (
        *("correct", "*_correct", "correctness", "label", "right", "is_right", "accurate", "is_accurate"),
        *(
            "acc",
            "accuracy",
            "verdict",
            "grade",
            "passed",
            "pass",
            "success",
            "hit",
            "outcome",
            "y_true",
            "exact_match",
        ),
    ),
    "problem": (
        *("problem", "problem_id", "question_id", "qid", "task_id", "item_id", "example_id", "instance_id", "doc_id"),
        *("unique_id", "question", "item", "id", "uid", "idx", "index", "prompt_id", "prompt"),
    ),
}
"""What columns are called. Names are compared in lower case, words joined by _.

The format's own name, which is the first, settles any doubt. Several columns may name the problem; then it is the one
that stands first here, so that samples of one question are one problem though each row has an id of its own.
"""

_CONFIDENCE_OF = re.compile(r"(?:p|prob|probability)_")
"""How names begin that end like a verdict's and mean its probability: p_correct."""


@dataclass(frozen=True, slots=True)
class RowFormat:
    """How somebody's rows are to be read, as the caller says it; None leaves it to be recognised."""

    confidence: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the confidence, or signals.NAME. (default: recognised)"),
    ] = None
    correct: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the verdict: true or false. (default: recognised)")
    ] = None
    problem: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column of the question's id. (default: recognised; without one each row is its own)"
        ),
    ] = None
    scale: Annotated[
        str | None,
        typer.Option(
            metavar="percent|TOP",
            help="Scale of the confidences: percent, or 10 for 0 to 10. (default: 1, and nothing above)",
        ),
    ] = None

    def column(self, name: Field) -> str | None:
        """The caller's column for a field."""
        return {"confidence": self.confidence, "correct": self.correct, "problem": self.problem}[name]


@dataclass(slots=True)
class Columns:
    """Finds the columns of rows whose keys may differ, and holds them to one column a field.

    Unless `strict`, a column that the caller named may be absent: for files beside the one that the names are about.
    """

    format: RowFormat
    strict: bool = True
    used: dict[Field, str] = field(default_factory=dict["Field", str])
    _known: dict[tuple[str, ...], dict[Field, str]] = field(default_factory=dict[tuple[str, ...], dict["Field", str]])

    def of(self, keys: Iterable[str], place: str) -> dict[Field, str]:
        """The column of each field in a row with these keys. Raises RowsFileError where two could be meant."""
        row = tuple(keys)
        found = self._known.get(row)
        if found is None:
            found = self._known[row] = self._find(row, place)
        return found

    def _find(self, keys: tuple[str, ...], place: str) -> dict[Field, str]:
        found: dict[Field, str] = {}
        for name in NAMES:
            column = self._one(name, keys, place)
            if column is None:
                continue
            earlier = self.used.setdefault(name, column)
            if earlier != column:
                raise RowsFileError(_doubt(place, name, (earlier, column), " in different rows"))
            found[name] = column
        return found

    def _one(self, name: Field, keys: tuple[str, ...], place: str) -> str | None:
        given = self.format.column(name)
        if given is not None and given in keys:
            return given
        if given is not None and self.strict:
            raise RowsFileError(f'{place}: there is no column "{given}" (--{name}); it has {listed(keys)}')
        candidates = [key for key in keys if is_called(key, name) and key not in self._taken(name)]
        if name in candidates:
            return name
        if name == "problem":
            candidates = sorted(candidates, key=lambda key: NAMES[name].index(_plain(key)))[:1]
        if len(candidates) > 1:
            raise RowsFileError(_doubt(place, name, candidates, ""))
        return candidates[0] if candidates else None

    def _taken(self, name: Field) -> set[str | None]:
        """Columns that the caller named for other fields."""
        return {self.format.column(other) for other in NAMES if other != name}


def is_called(key: str, name: Field) -> bool:
    """Whether a column of this name is likely to hold the field."""
    plain = _plain(key)
    if name == "correct" and _CONFIDENCE_OF.match(plain):
        return False
    return any(fnmatchcase(plain, pattern) for pattern in NAMES[name])


def listed(keys: Iterable[str]) -> str:
    """Column names for a message."""
    return ", ".join(f'"{key}"' for key in keys) or "no columns"


def _plain(key: str) -> str:
    """P(True), pTrue and "p true" are p_true."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key)
    return re.sub(r"[\W_]+", "_", words).strip("_").lower()


def _doubt(place: str, name: Field, candidates: Iterable[str], where: str) -> str:
    two = " and ".join(f'"{key}"' for key in candidates)
    return f"{place}: {two}{where} could each be the {WHAT[name]}; name one with --{name} COLUMN"


WHAT: Mapping[Field, str] = {
    "confidence": "confidence",
    "correct": "verdict on the answer",
    "problem": "id of the problem",
}
