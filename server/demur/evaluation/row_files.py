"""Reading rows that somebody wrote: ours, another system's, or a table out of a notebook."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from demur.core.answers import ConfidenceStatus
from demur.evaluation.columns import Columns, RowFormat, listed
from demur.evaluation.confidences import ConfidenceScale
from demur.evaluation.errors import RowsFileError
from demur.evaluation.rows import Level, Row, RowSet
from demur.evaluation.values import BadValue, identity, identity_in_text, probability, shown, verdict, whole
from demur.records import Record, RecordsError, fields_of, printable, read_records

T = TypeVar("T")

DEFAULT = RowFormat()


class OwnProblem(NamedTuple):
    """The problem of a row that names none: the row itself."""

    file: str
    number: int


def read_rows(
    path: str | Path,
    level: Level | None = None,
    *,
    row_format: RowFormat = DEFAULT,
    beside: bool = False,
    may_be_empty: bool = False,
) -> RowSet:
    """Read a file of rows in any format of `demur.records`; "-" is standard input.

    Columns and scale are those of `row_format`, else recognised (see `demur.evaluation.columns`) and 0 to 1. A
    confidence that is no number on the scale is kept as unreadable and counted; one above 1 is refused unless the scale
    is stated, because it may be another. Without "sample" rows of a problem are numbered as they come; a row without
    a problem is a problem of its own. `beside` is for a file beside the one that `row_format` is about, such as a
    baseline: its columns may have other names, and it may state no confidence.

    Raises RowsFileError, naming row and field, for what cannot be a row, for the same row twice, for rows of both
    levels when `level` does not choose, and for a file without rows unless it `may_be_empty`.
    """
    confidences = ConfidenceScale.of(row_format.scale)
    columns = Columns(row_format, strict=not beside)
    reader = _Reader(columns, confidences, str(path))
    try:
        for record in read_records(path):
            reader.take(record)
    except RecordsError as error:
        raise RowsFileError(str(error)) from None
    confidences.check(str(path))
    if not reader.rows and not may_be_empty:
        raise RowsFileError(f"{path} holds no rows")
    rows = RowSet(
        _of_level(reader.rows, level, str(path)), confidences.unreadable, tuple(map(printable, reader.notes()))
    )
    if reader.rows and columns.strict and "confidence" not in columns.used and not rows.explicit_risk:
        raise RowsFileError(f"{path}: no column is called like a confidence; name it with --confidence COLUMN")
    return rows


class _Reader:
    """Rows so far, and what has to be known about them to judge the next one."""

    def __init__(self, columns: Columns, scale: ConfidenceScale, file: str) -> None:
        self.rows: list[Row] = []
        self._columns = columns
        self._scale = scale
        self._file = file
        self._without_problem = 0
        self._seen: set[tuple[Hashable, ...]] = set()
        self._counts: dict[tuple[Hashable, ...], int] = {}

    def take(self, record: Record) -> None:
        """Check one record and keep it as a row. Raises RowsFileError or RecordsError."""
        fields, place = _with_signal(fields_of(record), self._columns.format.confidence), record.place
        column = self._columns.of(fields, place)
        correct = _correct(fields, column.get("correct"), place)
        claim = _parsed(whole, fields, "claim", place)
        threshold = _parsed(probability, fields, "risk_threshold", place)
        abstained = _parsed(verdict, fields, "abstained", place) is True
        about = self._problem(record, fields, column.get("problem"), threshold), claim, threshold
        sample = self._sample(fields, place, about)
        confidence, state = self._confidence(fields, column.get("confidence"), place)
        self.rows.append(Row(about[0], sample, confidence, correct, claim, state, threshold, abstained))

    def notes(self) -> Iterator[str]:
        """What a reader of the figures has to know about the reading: one sentence each."""
        asked, used = self._columns.format, self._columns.used
        guessed = [f'"{used[name]}" as {name}' for name in used if used[name] != name and asked.column(name) is None]
        if guessed:
            yield f"Read {', '.join(guessed)}; choose others with {', '.join(f'--{name}' for name in used)}."
        if self._without_problem:
            every = self._without_problem == len(self.rows)
            some = f"{self._without_problem:,} of {len(self.rows):,} rows name no problem"
            yield f"{'No row names a problem' if every else some}: each is a problem of its own."

    def _problem(self, record: Record, fields: dict[str, Any], column: str | None, t: float | None) -> Hashable:
        if column is not None:
            parse = identity if record.is_typed else identity_in_text
            found = _parsed(parse, fields, column, record.place, "; name another column with --problem COLUMN")
            if found is not None:
                return found
        if t is not None:
            raise RowsFileError(
                f'{record.place}: "problem" must be there with a "risk_threshold": what a problem came to at one'
                " threshold is compared with the others"
            )
        self._without_problem += 1
        return OwnProblem(self._file, record.number)

    def _sample(self, fields: dict[str, Any], place: str, about: tuple[Hashable, ...]) -> int:
        sample = _parsed(whole, fields, "sample", place)
        if sample is None:
            sample = self._counts.get(about, 0)
            self._counts[about] = sample + 1
        if (*about, sample) in self._seen:
            raise RowsFileError(
                f"{place}: problem {shown(about[0])}, sample {sample} is there twice; number the samples of a problem"
                ' in "sample", or leave that out'
            )
        self._seen.add((*about, sample))
        return sample

    def _confidence(
        self, fields: dict[str, Any], column: str | None, place: str
    ) -> tuple[float | None, ConfidenceStatus]:
        if column is None:
            return None, _unstated(fields)
        p, state = self._scale.read(fields[column], column, place)
        return p, _unstated(fields) if state == "missing" else state


def _with_signal(fields: dict[str, Any], column: str | None) -> dict[str, Any]:
    """The signal that `--confidence signals.NAME` asks for, as a column of its own."""
    prefix, _, name = (column or "").partition(".")
    signals = fields.get(prefix) if prefix == "signals" else None
    if column is None or column in fields or not isinstance(signals, dict) or name not in signals:
        return fields
    return {**fields, column: signals[name]}


def _unstated(fields: dict[str, Any]) -> ConfidenceStatus:
    """Why there is no confidence: rows that demur wrote say so themselves."""
    return "invalid" if fields.get("state") == "invalid" else "missing"


def _correct(fields: dict[str, Any], column: str | None, place: str) -> bool | None:
    if column is None:
        raise RowsFileError(
            f'{place}: "correct" must be there, whether the answer is right; the row has {listed(fields)}:'
            " name its column with --correct COLUMN"
        )
    return _parsed(verdict, fields, column, place, "; name another column with --correct COLUMN")


def _parsed(parse: Callable[[Any], T], fields: dict[str, Any], column: str, place: str, more: str = "") -> T | None:
    value = fields.get(column)
    if value is None:
        return None
    try:
        return parse(value)
    except BadValue as error:
        raise RowsFileError(f'{place}: "{column}" {error}{more}; this is {shown(value)}') from None


def _of_level(rows: Sequence[Row], level: Level | None, name: str) -> tuple[Row, ...]:
    claims = tuple(row for row in rows if row.claim is not None)
    responses = tuple(row for row in rows if row.claim is None)
    if level is None and claims and responses:
        raise RowsFileError(
            f"{name}: {len(responses)} rows are about answers and {len(claims)} about claims;"
            " choose with --level response or --level claims"
        )
    return (claims or responses) if level is None else claims if level == "claims" else responses
