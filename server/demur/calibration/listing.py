"""Calibrator files as tables: one, all of a folder, two side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from demur.calibration.calibrator import Calibrator, Figure, Guarantee
from demur.calibration.calibrator_file import read
from demur.calibration.errors import CalibrationError, CalibratorFileError
from demur.calibration.promise_check import KeptPromise
from demur.calibration.tables import figures_table, show_promises
from demur.calibration.versions import Versions
from demur.calibration.wording import confidence_needed, how_certified, percent, valid_for
from demur.core.metrics import METRICS, Difference
from demur.named_file import shown

SHORT = 12
"""Characters of an id that are shown where many stand in a table; commands take them for it."""


def show_file(console: Console, calibrator: Calibrator) -> None:
    """Everything that a file says."""
    console.print(f"{calibrator.id}, made {calibrator.made}", style="bold", highlight=False)
    console.print(_of_pairs("Made from", _made_from(calibrator)))
    console.print(_of_pairs("Valid for", valid_for(calibrator)))
    figures = [(METRICS[n].label if n in METRICS else n, *_before_after(calibrator, n)) for n in calibrator.after]
    console.print(_table("Out of fold", ("figure", "before>", "after>"), figures))
    show_promises(console, calibrator)
    console.print(how_certified(calibrator), highlight=False)


def found_in(folder: Path) -> tuple[list[tuple[Path, Calibrator]], list[str]]:
    """The calibrators of a folder, the newest first, and why other JSON files are none. Raises CalibrationError."""
    if not folder.is_dir():
        raise CalibrationError(f"{shown(folder)} is no folder")
    good: list[tuple[Path, Calibrator]] = []
    bad: list[str] = []
    for path in sorted(folder.glob("*.json")):
        try:
            good.append((path, read(path)))
        except CalibratorFileError as error:
            bad.append(str(error))
    return sorted(good, key=lambda found: found[1].made, reverse=True), bad


def list_table(found: Sequence[tuple[Path, Calibrator]]) -> Table:
    """One line a file."""
    lines = [
        (escape(path.name), c.id, c.made, _model_of(c), f"{c.rows:,}", ", ".join(c.signals), _levels_of(c))
        for path, c in found
    ]
    return _table("Calibrators", ("file", "id", "made", "model", "rows>", "signals", "certified error rates"), lines)


def versions_table(versions: Versions) -> Table:
    """One line a version, the newest first: where it came from, how good it is out of fold, what it promises."""
    lines = [
        (
            one.calibrator.id[:SHORT],
            one.state,
            one.calibrator.made[:16],
            "–" if one.calibrator.parent is None else one.calibrator.parent[:SHORT],
            f"{one.calibrator.rows:,}",
            *(_value(one.calibrator.after.get(name)) for name in ("auc", "brier")),
            _levels_of(one.calibrator),
        )
        for one in versions.all()
    ]
    headings = "id", "", "made", "parent", "rows>", "AUC>", "Brier>", "certified"
    return _table(f"Versions of {escape(versions.served.name)}", headings, lines)


def diff_table(first: Calibrator, second: Calibrator) -> Table:
    """One line for each field in which they differ."""
    pairs = [dict(_made_from(c) + valid_for(c) + _figures(c) + _thresholds(c)) for c in (first, second)]
    names = list(dict.fromkeys([*pairs[0], *pairs[1]]))
    lines = [(name, *(escape(of.get(name, "–")) for of in pairs)) for name in names]
    title = "Differences" if first != second else "The two are the same"
    return _table(title, ("", "first", "second"), [line for line in lines if line[1] != line[2]])


def show_kept(console: Console, kept: Sequence[KeptPromise], differences: Mapping[str, Difference]) -> None:
    """How good the confidences are on other graded answers, what each certified error rate came to on them, and what
    that says of its promise."""
    console.print(figures_table("Before and after, on these graded answers, with 95 % intervals", differences))
    lines = [
        (
            f"{one.guarantee.max_error:g}", confidence_needed(one.threshold), f"{one.answered:,}", one.coverage.text,
            f"{one.wrong:,}", one.error.text,
        )
        for one in kept
    ]  # fmt: skip
    headings = "max_error>", "confidence needed>", "answered>", "of all>", "wrong>", "of these>"
    title = f"On {kept[0].questions:,} other graded questions, with exact 95 % intervals"
    console.print(_table(title, headings, lines))
    for one in kept:
        console.print(f"max_error {one.guarantee.max_error:g}: {one.verdict}.", highlight=False)


def _made_from(c: Calibrator) -> list[tuple[str, str]]:
    return [
        ("id", c.id),
        ("parent", c.parent or "none"),
        ("made", c.made),
        ("level", c.level),
        ("rows", f"{c.rows:,}"),
        ("problems", f"{c.problems:,}"),
        ("signals", ", ".join(c.signals)),
        ("map", c.map.kind),
        ("certified by", c.certification.mode),
        ("delta", f"{c.certification.delta:g}" + (f" / 2^{c.certification.look}" if c.certification.look else "")),
    ]


def _figures(c: Calibrator) -> list[tuple[str, str]]:
    return [(f"{name} after", _figure(figure)) for name, figure in c.after.items()]


def _thresholds(c: Calibrator) -> list[tuple[str, str]]:
    return [(f"max_error {g.max_error:g}", _needed(g)) for g in c.guarantees]


def _needed(g: Guarantee) -> str:
    return "none" if g.threshold is None else f"{confidence_needed(g.threshold)}, {percent(g.coverage)}"


def _before_after(c: Calibrator, name: str) -> tuple[str, str]:
    return _figure(c.before.get(name)), _figure(c.after.get(name))


def _figure(figure: Figure | None) -> str:
    if figure is None:
        return "–"
    interval = "" if figure.low is None or figure.high is None else f" ({figure.low:.3f} to {figure.high:.3f})"
    return f"{figure.value:.3f}{interval}"


def _value(figure: Figure | None) -> str:
    return "–" if figure is None else f"{figure.value:.3f}"


def _model_of(c: Calibrator) -> str:
    return escape(c.model.name or "not named") if c.model is not None else "not known"


def _levels_of(c: Calibrator) -> str:
    return ", ".join(f"{g.max_error:g}" for g in c.guarantees if g.threshold is not None) or "none"


def _of_pairs(title: str, pairs: Sequence[tuple[str, str]]) -> Table:
    return _table(title, ("", ""), [(name, escape(value)) for name, value in pairs])


def _table(title: str, headings: Sequence[str], lines: Sequence[Sequence[Any]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for heading in headings:
        table.add_column(heading.removesuffix(">"), justify="right" if heading.endswith(">") else "left")
    for line in lines:
        table.add_row(*line)
    return table
