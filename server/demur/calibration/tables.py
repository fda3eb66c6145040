"""What the terminal shows of a calibrator."""

from collections.abc import Mapping

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from demur.calibration.calibrate import Calibrated
from demur.calibration.calibrator import Calibrator
from demur.calibration.wording import carried, confidence_needed, notes, percent, sentence
from demur.core.calibration.certified_thresholds import WHAT_HELPS
from demur.core.metrics import METRICS, Difference
from demur.evaluation.formatting import ARROWS, clear, interval_of, value_of

PROMISE_HEADINGS = "max_error>", "confidence needed>", "questions answered>", "graded, that sure>", "wrong among them>"
"""The words of the page, in its order."""


def show(console: Console, found: Calibrated) -> None:
    """Before and after, which signal carried it, the thresholds, and what to know of them."""
    title = f"Before and after, on {len(found.after):,} rows that the map never saw, with 95 % intervals over problems"
    console.print(figures_table(title, found.differences))
    console.print(signals_table(found))
    console.print(carried(found), style="bold")
    show_promises(console, found.calibrator)
    for line in notes(found):
        console.print(escape(line), highlight=False)


def show_promises(console: Console, calibrator: Calibrator) -> None:
    """The thresholds, and why there is none where there is none."""
    console.print(guarantees_table(calibrator))
    failed = [guarantee for guarantee in calibrator.guarantees if guarantee.reason is not None]
    for guarantee in failed:
        reason = escape(sentence(guarantee.reason or ""))
        console.print(f"max_error {guarantee.max_error:g} has no threshold. {reason}", highlight=False)
    if failed:
        console.print(f"What would help: {WHAT_HELPS}.", highlight=False)


def figures_table(title: str, differences: Mapping[str, Difference]) -> Table:
    """One line a figure: the raw number, the calibrated one, and what lies between."""
    table = _table(title, "figure", "", "before>", "after>", "difference>", "95 % interval")
    for name, gap in differences.items():
        metric = METRICS[name]
        interval = interval_of(gap.difference)
        before, after = (f"{value_of(f)} [dim]{interval_of(f)}[/]" for f in (gap.first, gap.second))
        shown = f"[bold]{interval}[/]" if clear(gap.difference) else interval
        table.add_row(metric.label, ARROWS[metric.better], before, after, value_of(gap.difference), shown)
    return table


def signals_table(found: Calibrated) -> Table:
    """One line a signal: what it is worth alone, and in the map."""
    table = _table("Signals", "signal", "AUC alone>", "missing>", "weight>", "share of the map>")
    for s in found.shares:
        auc = "–" if s.auc is None else f"{s.auc:.3f}"
        table.add_row(s.name, auc, f"{s.missing:,}", f"{s.weight:.3f}", f"{s.share:.0%}")
    return table


def guarantees_table(calibrator: Calibrator) -> Table:
    """One line an error rate."""
    exact = "" if calibrator.certification.exact else ", approximate"
    title = f"Thresholds by the error rate that is asked for (delta {calibrator.certification.delta:g}{exact})"
    table = _table(title, *PROMISE_HEADINGS)
    for g in calibrator.guarantees:
        if g.threshold is None:
            table.add_row(f"{g.max_error:g}", "none", "–", "–", "–")
        else:
            counts = f"{g.answered:,}", f"{g.wrong:,}"
            table.add_row(f"{g.max_error:g}", confidence_needed(g.threshold), percent(g.coverage), *counts)
    return table


def _table(title: str, *headings: str) -> Table:
    """A plain table; a heading that ends in ">" heads a column of numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for heading in headings:
        table.add_column(heading.removesuffix(">"), justify="right" if heading.endswith(">") else "left")
    return table
