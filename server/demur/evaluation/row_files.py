"""Reading rows that somebody wrote: ours, or another system's."""

import gzip
import json
import math
import sys
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from demur.core.answers import State
from demur.evaluation.errors import RowsFileError
from demur.evaluation.rows import Level, Row, RowSet


def read_rows(path: str | Path, level: Level | None = None) -> RowSet:
    """Read a JSONL file (.gz too, "-" is standard input).

    A confidence that is no number in [0, 1] is kept as unreadable and counted. Without "sample" the rows of a problem
    are numbered as they come. Raises RowsFileError for a line that is no row, for the same row twice, and for rows of
    both levels when `level` does not choose.
    """
    reader = _Reader()
    try:
        with _opened(path) as file:
            for place, record in _records(file, str(path)):
                reader.take(record, place)
    except (OSError, UnicodeDecodeError) as error:
        raise RowsFileError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return RowSet(_of_level(reader.rows, level, str(path)), reader.unreadable)


class _Reader:
    """Rows so far, and what has to be known about them to judge the next one."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.unreadable: str | None = None
        self._seen: set[tuple[Hashable, ...]] = set()
        self._counts: dict[tuple[Hashable, ...], int] = {}

    def take(self, record: dict[str, Any], place: str) -> None:
        about = _problem(record, place), _whole(record, "claim", place), _threshold(record, place)
        sample = self._sample(record, place, about)
        confidence, state = _confidence(record)
        if state == "invalid" and self.unreadable is None and record.get("confidence") is not None:
            self.unreadable = f"{place}: {record['confidence']!r}"
        problem, claim, threshold = about
        abstained = record.get("abstained") is True
        self.rows.append(Row(problem, sample, confidence, _correct(record, place), claim, state, threshold, abstained))

    def _sample(self, record: dict[str, Any], place: str, about: tuple[Hashable, ...]) -> int:
        sample = _whole(record, "sample", place)
        if sample is None:
            sample = self._counts.get(about, 0)
            self._counts[about] = sample + 1
        if (*about, sample) in self._seen:
            raise RowsFileError(f"{place}: problem {about[0]!r}, sample {sample} is there twice")
        self._seen.add((*about, sample))
        return sample


@contextmanager
def _opened(path: str | Path) -> Iterator[TextIO]:
    if str(path) == "-":
        yield sys.stdin
    elif str(path).endswith(".gz"):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield file
    else:
        with Path(path).open(encoding="utf-8") as file:
            yield file


def _records(file: TextIO, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        place = f"{name} line {number}"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise RowsFileError(f"{place}: not JSON: {error}") from None
        if not isinstance(record, dict):
            raise RowsFileError(f"{place}: a row is a JSON object, this is a {type(record).__name__}")
        yield place, record


def _problem(record: dict[str, Any], place: str) -> str | int:
    problem = record.get("problem")
    if not isinstance(problem, str | int) or isinstance(problem, bool):
        raise RowsFileError(f'{place}: "problem" must be the id of the question, a string or a whole number')
    return problem


def _correct(record: dict[str, Any], place: str) -> bool | None:
    correct = record.get("correct", "absent")
    if correct not in (None, True, False):
        raise RowsFileError(f'{place}: "correct" must be true, false, or null where nobody could grade it')
    return None if correct is None else bool(correct)


def _threshold(record: dict[str, Any], place: str) -> float | None:
    threshold = record.get("risk_threshold")
    if threshold is not None and not _is_probability(threshold):
        raise RowsFileError(f'{place}: "risk_threshold" must be a number in [0, 1]')
    return threshold


def _confidence(record: dict[str, Any]) -> tuple[float | None, State]:
    value = record.get("confidence")
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None, "invalid" if record.get("state") == "invalid" else "missing"
    return (float(value), "value") if _is_probability(value) else (None, "invalid")


def _is_probability(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _whole(record: dict[str, Any], field: str, place: str) -> int | None:
    value = record.get(field)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise RowsFileError(f'{place}: "{field}" must be a whole number from 0, or null')
    return value


def _of_level(rows: Sequence[Row], level: Level | None, name: str) -> tuple[Row, ...]:
    claims = tuple(row for row in rows if row.claim is not None)
    responses = tuple(row for row in rows if row.claim is None)
    if level is None and claims and responses:
        raise RowsFileError(
            f"{name}: {len(responses)} rows are about answers and {len(claims)} about claims;"
            " choose with --level response or --level claims"
        )
    return (claims or responses) if level is None else claims if level == "claims" else responses
