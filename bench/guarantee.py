"""How often a certified error rate is kept, and how many answers it leaves: simulated populations and MMLU-Pro.

python -m bench guarantee [--part PART]... [--sets N] [--map-sets N] [--cross-sets N] [--n N]... [--mmlu FILE]...

A set is one draw of n graded answers. A certificate is false where the true error rate at its threshold is above a; at
delta = 0.1 that may happen in one set of ten. Validity is the share of sets without a false certificate. Each cell is
tested exactly (one-sided binomial, Bonferroni over the cells of its table). Coverage is given as a share of the
oracle's, and of all answers. The oracle takes the lowest threshold on the same confidence whose true error rate is at
most a; "none" where there is none. A part that was stopped goes on where it was, when the same code is run again.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from bench._resumed import Steps
from bench.certificates.cells import Cell, show, sources, spread
from bench.certificates.mmlu import before_after, mmlu_of, other_kinds
from bench.certificates.simulated import SIZES, drift, maps_of, thresholds_of, worst_of

from demur.core.calibration.populations import POPULATIONS

PARTS = ("thresholds", "worst", "split", "cross-fit", "drift", "mmlu", "kinds")
NEED_FILES = ("mmlu", "kinds")
TOGETHER = 5
"""Sets with fitted maps that share one sample of the population."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=PARTS, help="default: all that need no file")
    parser.add_argument("--sets", type=int, default=2000, help="calibration sets for pure thresholds")
    parser.add_argument("--map-sets", type=int, default=200, help="calibration sets with maps fitted by split")
    parser.add_argument("--cross-sets", type=int, default=40, help="calibration sets with maps cross-fitted")
    parser.add_argument("--n", type=int, action="append", help="graded answers in a set; default: 200, 500, 1000")
    parser.add_argument("--mmlu", type=Path, action="append", default=[], help="mmlu_pro_MODEL.csv")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    chosen = parser.parse_args(arguments)
    parts = chosen.part or [part for part in PARTS if part not in NEED_FILES or chosen.mmlu]
    if not chosen.mmlu and set(parts) & set(NEED_FILES):
        parser.error("the parts mmlu and kinds need --mmlu FILE")
    sizes: list[int] = chosen.n or list(SIZES)
    for part in parts:
        start = time.monotonic()
        if part == "drift":
            drift(chosen.sets)
        if part in ("drift", "kinds"):
            continue
        steps = Steps(f"guarantee_{part}", {"sources": sources()})
        cells, title = measured(part, sizes, chosen, steps)
        show(f"guarantee_{part}", title, cells, time.monotonic() - start)
        steps.end()
    for path in chosen.mmlu:
        if "mmlu" in parts:
            before_after(path)
        if "kinds" in parts:
            other_kinds(path, chosen.sets)


def measured(part: str, sizes: list[int], chosen: argparse.Namespace, steps: Steps) -> tuple[list[Cell], str]:
    """The cells of one part and the title of its table."""
    sets, workers = chosen.sets, chosen.workers
    if part == "thresholds":
        jobs = [(name, n, sets) for n in sizes for name in POPULATIONS]
        return spread(thresholds_of, jobs, workers, steps), f"One raw signal, {sets} sets a cell"
    if part == "worst":
        title = f"Error just above a everywhere, {sets} sets a cell"
        return spread(worst_of, [(n, sets) for n in sizes], workers, steps), title
    if part == "mmlu":
        jobs = [(path, n, chosen.map_sets) for path in chosen.mmlu for n in sizes]
        return spread(mmlu_of, jobs, workers, steps), f"MMLU-Pro, drawn with replacement, {chosen.map_sets} sets a cell"
    drawn = chosen.map_sets if part == "split" else chosen.cross_sets
    chunks = [(first, min(TOGETHER, drawn - first)) for first in range(0, drawn, TOGETHER)]
    jobs = [(name, n, part, count, first) for first, count in chunks for n in sizes for name in POPULATIONS]
    return spread(maps_of, jobs, workers, steps), f"Fitted maps, {drawn} sets a cell"


if __name__ == "__main__":
    main()
