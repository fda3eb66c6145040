"""One cell of a table about certificates: how often they held, how many answers they left; and cells as tables."""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from bench._resumed import Steps, digest
from bench.report import publish
from numpy.typing import NDArray
from scipy.stats import binomtest

from demur.calibration.calibrate import FIT_SHARE, cross_fitted
from demur.calibration.fit import Graded, fit
from demur.core.calibration.certified_thresholds import DELTA, hypotheses
from demur.core.calibration.folds import split
from demur.core.calibration.populations import Truth

Floats = NDArray[np.float64]

RATES = (0.05, 0.1, 0.2)
SEED = 20_261_127


@dataclass(frozen=True, slots=True)
class Cell:
    """One population, method, n and a. `coverage` and `oracle` are shares of all answers, means over sets."""

    population: str
    method: str
    n: int
    a: float
    sets: int
    false: int
    certified: int
    coverage: float
    oracle: float

    @property
    def validity(self) -> float:
        return 1 - self.false / self.sets

    def p_value(self) -> float:
        """Exact one-sided p-value of "false certificates are at most delta of all sets"."""
        return float(binomtest(self.false, self.sets, DELTA, alternative="greater").pvalue)

    def share(self) -> str:
        """Coverage as a share of the oracle's; "none" where the oracle answers nothing."""
        return f"{100 * self.coverage / self.oracle:.0f}" if self.oracle > 0 else "none"

    def text(self) -> str:
        return f"{100 * self.validity:.1f} / {self.share()} / {100 * self.coverage:.0f}"


def judged(
    confidence: Floats, wrong: NDArray[np.bool_], a: float, truth: Truth
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Floats]:
    """For sets (sets, n): whether each has a certificate, whether it is false, and its true coverage."""
    tests = hypotheses(confidence, wrong, a)
    last = tests.last_rejected(DELTA)
    if not tests.threshold.shape[-1]:
        nothing = np.zeros(len(confidence), dtype=bool)
        return nothing, nothing, np.zeros(len(confidence))
    threshold = np.take_along_axis(tests.threshold, np.maximum(last, 0)[:, None], axis=-1)[:, 0]
    risk, coverage = truth.at(threshold)
    certified = last >= 0
    return certified, certified & (risk > a), np.where(certified, coverage, 0.0)


def called(mode: str, width: int) -> str:
    return f"{mode}, {width} signal{'s' if width > 1 else ''}"


def fitted(rows: Graded, pool: Floats, mode: str, seed: int) -> tuple[Floats, Graded, Floats]:
    """The confidences that certify, their rows, and what the served map says of the pool."""
    if mode == "cross-fit":
        return cross_fitted(rows, seed), rows, fit(rows, seed).map(pool)
    fitting = split(rows.problem, FIT_SHARE, seed)
    chosen, rest = fit(rows.at(fitting), seed).map, rows.at(~fitting)
    return chosen(rest.signals), rest, chosen(pool)


def add(
    totals: dict[tuple[str, float], Floats],
    method: str,
    confidence: Floats,
    certifying: Graded,
    truth: Truth,
    rates: Sequence[float],
) -> None:
    """Count one set under a method: certified, false, coverage, the oracle's coverage."""
    for a in rates:
        found = judged(confidence[None], ~certifying.correct[None], a, truth)
        counts = np.array([*(part.sum() for part in found), truth.oracle(a)], dtype=np.float64)
        totals[method, a] = totals.get((method, a), np.zeros(4)) + counts


def cell(population: str, method: str, n: int, a: float, sets: int, counts: Floats, oracle: float) -> Cell:
    certified, false, coverage = counts.tolist()
    return Cell(population, method, n, a, sets, round(false), round(certified), coverage / sets, oracle)


def merged(cells: Sequence[Cell]) -> list[Cell]:
    """Cells of the same kind from several processes as one each."""
    kinds: dict[tuple[str, str, int, float], list[Cell]] = {}
    for one in cells:
        kinds.setdefault((one.population, one.method, one.n, one.a), []).append(one)
    return [_together(parts) for parts in kinds.values()]


def _together(parts: list[Cell]) -> Cell:
    sets = sum(part.sets for part in parts)
    coverage = sum(part.coverage * part.sets for part in parts) / sets
    oracle = sum(part.oracle * part.sets for part in parts) / sets
    first = parts[0]
    false, certified = sum(part.false for part in parts), sum(part.certified for part in parts)
    return Cell(first.population, first.method, first.n, first.a, sets, false, certified, coverage, oracle)


def show(name: str, title: str, cells: list[Cell], seconds: float) -> None:
    """A line a population and method, a column an n and a; and whether any cell breaks its promise."""
    columns = sorted({(one.n, one.a) for one in cells})
    lines = [line(kind, of, columns) for kind, of in by_kind(cells).items()]
    lines += [summary(method, cells, columns) for method in dict.fromkeys(one.method for one in cells)]
    lowest, least = min(cells, key=lambda one: one.validity), min(cells, key=Cell.p_value)
    headings = ["population, method", *(f"n {n}, a {a:g}" for n, a in columns)]
    title = f"{title}: validity in % / coverage in % of the oracle's / coverage in %"
    publish(name, title, headings, lines, [asdict(one) for one in cells])
    print(
        f"lowest validity {100 * lowest.validity:.1f} % ({lowest.population}, {lowest.method}, n {lowest.n},"
        f" a {lowest.a:g}); smallest p-value of a broken promise after Bonferroni over {len(cells)} cells:"
        f" {min(least.p_value() * len(cells), 1.0):.3g}; {seconds:.0f} s\n"
    )


def by_kind(cells: list[Cell]) -> dict[tuple[str, str], list[Cell]]:
    kinds: dict[tuple[str, str], list[Cell]] = {}
    for one in cells:
        kinds.setdefault((one.population, one.method), []).append(one)
    return kinds


def line(kind: tuple[str, str], cells: list[Cell], columns: list[tuple[int, float]]) -> list[str]:
    of = {(one.n, one.a): one for one in cells}
    return [", ".join(kind), *(of[at].text() if at in of else "" for at in columns)]


def summary(method: str, cells: list[Cell], columns: list[tuple[int, float]]) -> list[str]:
    """The lowest validity and the means over populations, of the share where the oracle answers anything."""
    texts: list[str] = []
    for n, a in columns:
        of = [one for one in cells if (one.method, one.n, one.a) == (method, n, a)]
        shares = [one.coverage / one.oracle for one in of if one.oracle > 0]
        share = f"{100 * np.mean(shares):.0f}" if shares else "none"
        coverage = np.mean([one.coverage for one in of])
        texts.append(f"{100 * min(one.validity for one in of):.1f} / {share} / {100 * coverage:.0f}")
    return [f"lowest / mean / mean, {method}", *texts]


def spread(
    work: Callable[..., list[Cell]], jobs: Sequence[tuple[object, ...]], workers: int, steps: Steps
) -> list[Cell]:
    """Run jobs in processes, saying on standard error how far it is; what ended before a stop is not run again."""
    cells: list[Cell] = []
    with ProcessPoolExecutor(workers) as pool:
        futures = {str(job): pool.submit(work, *job) for job in jobs if str(job) not in steps}
        for i, job in enumerate(map(str, jobs), start=1):
            ended = steps.run(job, lambda job=job: [asdict(one) for one in futures[job].result()])
            cells += [Cell(**one) for one in ended]
            print(f"\r{i} of {len(jobs)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return merged(cells)


def sources() -> str:
    """A digest of the code that certificates come from: what other code found is not gone on with."""
    import demur.calibration.calibrate as calibrating
    import demur.core.calibration as pure

    return digest(Path(__file__).parent, Path(str(pure.__file__)).parent, Path(str(calibrating.__file__)).parent)
