"""What moved since the baseline: figures whose intervals do not meet.

python -m bench compare [RECORD] [--only NAME ...] [--keep]
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.pairs import RoundMean
from bench.record import BASELINE, RECORD, figures_of, read, write
from rich.console import Console
from rich.table import Table

Comparison = tuple[str, RoundMean | None, RoundMean | None]
"""Name of a figure, what it was, and what it is; None where one of the two records lacks it."""


def moved(before: RoundMean, now: RoundMean) -> bool:
    """Whether the two intervals have nothing in common; never where one was measured once, and so has none."""
    return min(before.pairs, now.pairs) > 1 and (now.low > before.high or now.high < before.low)


def compared(baseline: Mapping[str, Any], record: Mapping[str, Any]) -> list[Comparison]:
    """Every figure of either, by benchmark and name."""
    found = list[Comparison]()
    for benchmark in sorted({*baseline, *record}):
        before, now = figures_of(baseline, benchmark), figures_of(record, benchmark)
        found += [(f"{benchmark}: {name}", before.get(name), now.get(name)) for name in sorted({*before, *now})]
    return found


def word(before: RoundMean | None, now: RoundMean | None) -> str:
    if before is None or now is None:
        return "new" if before is None else "not measured"
    if not moved(before, now):
        return ""
    return f"{now.value / before.value:.2f} times" if before.value else "moved"


def keep_in(baseline: Path, record: Path, only: Sequence[str] = ()) -> list[str]:
    """Put each benchmark of a record, or those named, into the baseline; others stay as they were there. Their names.

    Raises SystemExit for a name that the record lacks.
    """
    measured = chosen(read(record), only)
    write({**(read(baseline) if baseline.exists() else {}), **measured}, baseline)
    return sorted(measured)


def chosen(record: Mapping[str, Any], only: Sequence[str]) -> dict[str, Any]:
    """The benchmarks named, all for no name. Raises SystemExit for a name that the record lacks."""
    if unknown := sorted(set(only) - record.keys()):
        raise SystemExit(f"compare: this record has no {', '.join(unknown)}; there are: {', '.join(sorted(record))}")
    return {name: kept for name, kept in record.items() if not only or name in only}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench compare", description=__doc__)
    parser.add_argument("record", nargs="?", type=Path, default=RECORD, help="made by make bench")
    parser.add_argument("--baseline", type=Path, default=BASELINE)
    parser.add_argument("--keep", action="store_true", help="make this record the baseline, for what it measured")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="benchmarks by name, such as gateway")
    asked = parser.parse_args()
    if not asked.record.exists():
        raise SystemExit(f"compare: there is no {asked.record}; make bench writes it")
    if asked.keep:
        kept = keep_in(asked.baseline, asked.record, asked.only)
        print(f"compare: {asked.baseline} holds {', '.join(kept)} of this record now")
        return
    if not asked.baseline.exists():
        raise SystemExit(f"compare: there is no {asked.baseline}; --keep makes it of this record")
    baseline, record = read(asked.baseline), chosen(read(asked.record), asked.only)
    show(compared({name: kept for name, kept in baseline.items() if name in record}, record))
    if left_out := sorted(baseline.keys() - record.keys()):
        print(f"not measured: {', '.join(left_out)}")


def show(rows: list[Comparison]) -> None:
    table = Table("figure", "baseline", "now", "moved beyond its interval", title="what moved")
    for name, before, now in rows:
        table.add_row(name, *("" if one is None else one.text() for one in (before, now)), word(before, now))
    Console(width=160).print(table)
    Console().print(summary(rows))


def summary(rows: Sequence[Comparison]) -> str:
    """How many of the figures that both records have moved, and how many only one of them has."""
    both = [(before, now) for _, before, now in rows if before and now]
    told = f"{sum(moved(before, now) for before, now in both)} of {len(both)} figures moved"
    return told if len(both) == len(rows) else f"{told}, {len(rows) - len(both)} are in one of the two records only"


if __name__ == "__main__":
    main()
