"""Whether graded rows can make a calibrator at all: enough of them, of both classes, each problem under one id."""

import re
from collections.abc import Iterable

from demur.calibration.errors import CalibrationError
from demur.calibration.rows import SignalRows

FEWEST_ROWS = 50
FEWEST_PROBLEMS = 20
_SPACES = re.compile(r"\s+")


def check_enough(rows: SignalRows, where: str) -> None:
    """Raise CalibrationError for graded rows that cannot make a calibrator: too few, one class, no signal."""
    right = sum(row.correct is True for row in rows.rows)
    problems = len({row.problem for row in rows.rows})
    if len(rows.rows) < FEWEST_ROWS:
        raise CalibrationError(
            f"{where}: {len(rows.rows)} graded rows are too few: at least {FEWEST_ROWS} are needed, and 200 to 1,000"
            " make useful promises"
        )
    if problems < FEWEST_PROBLEMS:
        raise CalibrationError(f"{where}: rows about {problems} problems are too few: {FEWEST_PROBLEMS} are needed")
    if right in (0, len(rows.rows)):
        raise CalibrationError(
            f"{where}: all {len(rows.rows)} graded rows are {'right' if right else 'wrong'}: what tells right from"
            " wrong cannot be learnt from one of them; grade harder or easier questions as well"
        )
    if not rows.signals:
        raise CalibrationError(f'{where}: no row has a "confidence" or "signals"')


def check_distinct(questions: Iterable[tuple[str | int, str | None]], where: str) -> None:
    """Raise CalibrationError where one problem goes by two ids, so that its answers would be on both sides of a fold.

    Ids that differ in spaces or in being a number, and one question text under two ids, are taken for that.
    """
    spelled: dict[str, str | int] = {}
    asked: dict[str, str | int] = {}
    for problem, question in questions:
        keys = [(spelled, str(problem).strip(), "look like one problem")]
        if question is not None:
            keys.append((asked, _SPACES.sub(" ", question).strip(), "are the same question"))
        for seen, key, why in keys:
            if seen.setdefault(key, problem) != problem:
                raise CalibrationError(
                    f"{where}: problems {seen[key]!r} and {problem!r} {why}: its answers would lie in several folds;"
                    " give them one id"
                )
