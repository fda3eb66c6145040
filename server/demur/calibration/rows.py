"""Rows for a calibrator: graded answers with their signals, read strictly, since promises are made of them."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from demur.calibration.errors import CalibrationError
from demur.calibration.fit import Graded
from demur.core.calibration.signals import SIGNALS, Floats
from demur.evaluation.rows import Level
from demur.evaluation.values import BadValue, identity_in_text, is_missing, number_in, verdict, whole
from demur.named_file import printable, shown
from demur.records import RecordsError, fields_of, read_records

_SIGNAL = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
_LONGEST_GROUP = 60


@dataclass(frozen=True, slots=True)
class SignalRow:
    """One graded answer or claim. `correct` is None where nobody could grade it; `record` is the line as it came."""

    problem: str | int
    sample: int | None
    claim: int | None
    correct: bool | None
    signals: Mapping[str, float | None]
    group: str | None
    question: str | None
    record: Mapping[str, Any]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class SignalRows:
    """Rows of one level and the names of their signals, the raw number first."""

    rows: tuple[SignalRow, ...]
    signals: tuple[str, ...]
    level: Level

    def graded(self) -> "SignalRows":
        """The rows that somebody could grade."""
        return SignalRows(tuple(row for row in self.rows if row.correct is not None), self.signals, self.level)

    def values(self, signals: tuple[str, ...] | None = None) -> Floats:
        """The signals (n, k), NaN where missing."""
        names = self.signals if signals is None else signals
        values = [[row.signals.get(name) for name in names] for row in self.rows]
        return np.array(values, dtype=np.float64).reshape(len(self.rows), len(names))

    def packed(self) -> Graded:
        """The rows as they are fitted; all of them have to be graded."""
        numbers = {problem: i for i, problem in enumerate(dict.fromkeys(row.problem for row in self.rows))}
        problem = np.array([numbers[row.problem] for row in self.rows], dtype=np.int64)
        weight = np.array([row.weight for row in self.rows])
        equal = (weight == weight[0]).all()
        correct = np.array([bool(row.correct) for row in self.rows])
        return Graded(self.values(), correct, problem, None if equal else weight / weight.mean())


def read_signal_rows(
    path: Path, level: Level | None = None, raw: str = "verbalized", *, graded: bool = True
) -> SignalRows:
    """Read rows of any file that `demur.records` reads. Without "signals" a row's "confidence" is the signal `raw`.

    `graded` demands a verdict or null of each row; without it a row may say nothing of one.

    Raises CalibrationError, naming line and field, for a line that is no row, a missing id, a confidence in percent or
    NaN, a row that is there twice, explicit-risk rows, and rows of both levels where `level` does not choose.
    """
    blank: dict[str, Any] = {} if graded else {"correct": None}
    found = [_row(blank | record, record, place, raw) for place, record in _records(path)]
    rows, level = _of_level(_numbered(found, shown(path)), level, shown(path))
    return with_names(rows, level)


def with_names(rows: Sequence[SignalRow], level: Level) -> SignalRows:
    """The rows with the names of the signals that any of them has, the usual ones first."""
    used = {name for row in rows for name, value in row.signals.items() if value is not None}
    names = tuple(sorted(used, key=lambda name: (SIGNALS.index(name) if name in SIGNALS else len(SIGNALS), name)))  # pyright: ignore[reportArgumentType]
    return SignalRows(tuple(rows), names, level)


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and fields of each row. Raises CalibrationError."""
    try:
        for record in read_records(path):
            fields = fields_of(record)
            yield record.place, fields if record.is_typed else _typed(fields, record.place)
    except RecordsError as error:
        raise CalibrationError(str(error)) from None


def _typed(cells: Mapping[str, str], place: str) -> dict[str, Any]:
    """The row of a table without types: each column that is called like a signal is one."""
    try:
        fields: dict[str, Any] = {**cells, "problem": identity_in_text(cells.get("problem", ""))}
        fields |= {"correct": verdict(cells["correct"])} if "correct" in cells else {}
        fields |= {name: whole(cells[name]) for name in ("sample", "claim") if name in cells}
        numbers = {name: _number(cells[name]) for name in ("confidence", *SIGNALS) if name in cells}
    except BadValue as error:
        raise CalibrationError(f"{place}: a value {error}") from None
    signals = {name: value for name, value in numbers.items() if name != "confidence"}
    return fields | ({"signals": signals} if signals else {"confidence": numbers.get("confidence")})


def _number(text: str) -> float | str | None:
    """As a number where it is one, so that what is wrong with it is said as for typed rows."""
    found = number_in(text)
    return None if is_missing(text) else text if found is None else found


def _row(record: dict[str, Any], as_it_came: dict[str, Any], place: str, raw: str) -> SignalRow:
    if record.get("risk_threshold") is not None:
        raise CalibrationError(f"{place}: explicit-risk rows state no confidence, so there is nothing to calibrate")
    question, group = record.get("question"), record.get("group")
    return SignalRow(
        _problem(record, place),
        _whole(record, "sample", place),
        _whole(record, "claim", place),
        _correct(record, place),
        _signals(record, place, raw),
        group[:_LONGEST_GROUP] if isinstance(group, str) and group.strip() and group.isprintable() else None,
        question if isinstance(question, str) and question.strip() else None,
        as_it_came,
    )


def _problem(record: dict[str, Any], place: str) -> str | int:
    problem = record.get("problem")
    if not isinstance(problem, str | int) or isinstance(problem, bool) or problem == "":
        raise CalibrationError(
            f'{place}: "problem" must be the id of the question, a string or a whole number: without it answers to one'
            " question cannot be kept in one fold"
        )
    return problem


def _correct(record: dict[str, Any], place: str) -> bool | None:
    correct = record.get("correct", "absent")
    if correct is None:
        return None
    if isinstance(correct, bool | int) and correct in (0, 1):
        return bool(correct)
    raise CalibrationError(f'{place}: "correct" must be true, false, or null where nobody could grade it')


def _signals(record: dict[str, Any], place: str, raw: str) -> dict[str, float | None]:
    if record.get("signals") is None:
        return {raw: _unit(record.get("confidence"), '"confidence"', place)}
    signals = record["signals"]
    if not isinstance(signals, dict):
        raise CalibrationError(f'{place}: "signals" must be an object of names and numbers in [0, 1]')
    bad = next((name for name in signals if not _SIGNAL.fullmatch(name)), None)
    if bad is not None:
        raise CalibrationError(
            f'{place}: "signals" has the name {printable(repr(bad), 60)}; names are small letters, digits and _'
        )
    return {name: _unit(value, f'"signals" {name}', place) for name, value in signals.items()}


def _unit(value: Any, field: str, place: str) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise CalibrationError(
            f"{place}: {field} is {printable(repr(value), 60)}; it must be a number in [0, 1] or null"
        )
    if math.isnan(value):
        raise CalibrationError(f"{place}: {field} is NaN; a confidence that is missing is null")
    if not 0 <= value <= 1:
        hint = "; divide percentages by 100" if 1 < value <= 100 else ""
        raise CalibrationError(f"{place}: {field} is {value:g}; it must be in [0, 1]{hint}")
    return float(value)


def _whole(record: dict[str, Any], field: str, place: str) -> int | None:
    value = record.get(field)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise CalibrationError(f'{place}: "{field}" must be a whole number from 0, or null')
    return value


def _numbered(rows: list[SignalRow], where: str) -> list[SignalRow]:
    """Rows with their samples numbered as they come where the file does not say. Raises for the same row twice."""
    counts: Counter[tuple[str | int, int | None]] = Counter()
    numbered: dict[tuple[str | int, int | None, int], SignalRow] = {}
    for row in rows:
        about = row.problem, row.claim
        sample = row.sample
        if sample is None:
            sample = counts[about]
            counts[about] += 1
        if (*about, sample) in numbered:
            raise CalibrationError(f"{where}: problem {row.problem!r}, sample {sample} is there twice")
        numbered[*about, sample] = replace(row, sample=sample)
    return list(numbered.values())


def _of_level(rows: list[SignalRow], level: Level | None, where: str) -> tuple[list[SignalRow], Level]:
    claims = [row for row in rows if row.claim is not None]
    answers = [row for row in rows if row.claim is None]
    if level is None and claims and answers:
        raise CalibrationError(
            f"{where}: {len(answers)} rows are about answers and {len(claims)} about claims; a calibrator is for one of"
            " them: choose with --level response or --level claims"
        )
    level = level or ("claims" if claims else "response")
    return (claims if level == "claims" else answers), level
