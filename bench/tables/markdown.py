"""Tables in Markdown, and the figures of a record as they stand in them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.pairs import RoundMean, verdict
from bench.record import figures_of


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], conditions: str) -> str:
    """A table with the machine and what else held below it."""
    lines = ["| " + " | ".join(row) + " |" for row in (columns, *rows)]
    lines.insert(1, "|" + "---|" * len(columns))
    return "\n".join([*lines, "", conditions])


def figures(record: Mapping[str, Any], benchmark: str) -> Mapping[str, RoundMean]:
    """What a benchmark measured. Raises KeyError where it is not in the record."""
    if benchmark not in record:
        raise KeyError(f"python -m bench {benchmark}")
    return figures_of(record, benchmark)


def conditions(record: Mapping[str, Any], benchmark: str, *more: str) -> str:
    """The kind of machine and what a benchmark says of itself, in a sentence."""
    return f"On {', '.join([record[benchmark]['machine'], *more])}."


def ratio(figure: RoundMean) -> str:
    """A ratio with its interval, and what it shows where that is nothing."""
    shown = verdict(figure)
    return f"{text(figure)}{f', {shown}' if shown in ('no difference seen', 'too noisy') else ''}"


def text(figure: RoundMean) -> str:
    return f"{number(figure.value)} ({number(figure.low)} to {number(figure.high)})"


def number(value: float) -> str:
    """Three significant digits, and never an exponent."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")
