"""How often a certified error rate is kept, and how many answers it leaves: simulated populations and MMLU-Pro.

python -m bench guarantee [--part PART]... [--sets N] [--map-sets N] [--cross-sets N] [--n N]... [--mmlu FILE]...

A set is one draw of n graded answers. A certificate is false where the true error rate at its threshold is above a; at
delta = 0.1 that may happen in one set of ten. Validity is the share of sets without a false certificate. Each cell is
tested exactly (one-sided binomial, Bonferroni over the cells of its table). Coverage is given as a share of the
oracle's, and of all answers. The oracle takes the lowest threshold on the same confidence whose true error rate is at
most a; "none" where there is none.
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from bench.report import publish
from numpy.typing import NDArray
from scipy.stats import binomtest

from demur.calibration.calibrating import FIT_SHARE, cross_fitted
from demur.calibration.fit import Graded, fit
from demur.core.calibration.drift import peaks
from demur.core.calibration.fixed_sequence import DELTA, hypotheses
from demur.core.calibration.folds import split
from demur.core.calibration.populations import POPULATIONS, Truth, draw, just_above
from demur.core.metrics import METRICS, Estimate, Rows, compare

Floats = NDArray[np.float64]

SIZES = (200, 500, 1000)
RATES = (0.05, 0.1, 0.2)
POOL = 1_000_000
"""Answers that stand for the whole population; the error rate at a threshold is known to within 0.001 from them."""
MAP_POOL = 100_000
WORST = "just above a"
AT_ONCE = 500
"""Sets drawn at once: a million answers."""
SEED = 20_261_127
PARTS = ("thresholds", "worst", "split", "cross-fit", "drift", "mmlu", "kinds")
NEED_FILES = ("mmlu", "kinds")
TOGETHER = 5
"""Sets with fitted maps that share one sample of the population."""
MMLU_RATES = {"gpt-4.1": (0.05, 0.1, 0.2), "Qwen3-4B": (0.3, 0.35, 0.4)}
MMLU_COLUMNS = ("verbal_numerical_confidence", "logit_perplexity_confidence")


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
    rejected = tests.rejected(DELTA)
    if not tests.threshold.shape[-1]:
        nothing = np.zeros(len(confidence), dtype=bool)
        return nothing, nothing, np.zeros(len(confidence))
    threshold = np.take_along_axis(tests.threshold, np.maximum(rejected - 1, 0)[:, None], axis=-1)[:, 0]
    risk, coverage = truth.at(threshold)
    certified = rejected > 0
    return certified, certified & (risk > a), np.where(certified, coverage, 0.0)


def thresholds_of(population: str, n: int, sets: int) -> list[Cell]:
    """One raw signal and no map: all of n certifies."""
    rng = np.random.default_rng([SEED, SIZES.index(n) if n in SIZES else n])
    pool = draw(POPULATIONS[population], POOL, rng)
    truth = Truth.of(pool.signals[:, 0], pool.error)
    tallies = {a: np.zeros(3) for a in RATES}
    for batch in batches(sets):
        answers = draw(POPULATIONS[population], batch * n, rng)
        p, v = answers.signals[:, 0].reshape(batch, n), ~answers.correct.reshape(batch, n)
        for a in RATES:
            tallies[a] += [part.sum() for part in judged(p, v, a, truth)]
    return [cell(population, "thresholds", n, a, sets, tallies[a], truth.oracle(a)) for a in RATES]


def worst_of(n: int, sets: int) -> list[Cell]:
    """The error is a + 0.001 at every threshold, so that every certificate is false."""
    rng = np.random.default_rng([SEED, n, 1])
    cells: list[Cell] = []
    for a in RATES:
        counts = np.zeros(3)
        for batch in batches(sets):
            answers = just_above(a, batch * n, rng)
            truth = Truth(np.array([1.0, 0.0]), np.full(2, a + 0.001))
            p, v = answers.signals[:, 0].reshape(batch, n), ~answers.correct.reshape(batch, n)
            counts += [part.sum() for part in judged(p, v, a, truth)]
        cells.append(cell(WORST, "thresholds", n, a, sets, counts, 0.0))
    return cells


def maps_of(population: str, n: int, mode: str, sets: int, first: int) -> list[Cell]:
    """Fitted maps of one and of four signals; sets from number `first` on."""
    rng = np.random.default_rng([SEED, n, first])
    pool = draw(POPULATIONS[population], MAP_POOL, rng)
    totals: dict[tuple[str, float], Floats] = {}
    for number in range(first, first + sets):
        answers = draw(POPULATIONS[population], n, rng)
        for width in (1, 4):
            rows = Graded(answers.signals[:, :width], answers.correct, np.arange(n))
            confidence, certifying, served = fitted(rows, pool.signals[:, :width], mode, number)
            add(totals, called(mode, width), confidence, certifying, Truth.of(served, pool.error), RATES)
    return [cell(population, method, n, a, sets, of[:3], of[3] / sets) for (method, a), of in totals.items()]


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


def batches(sets: int) -> Iterator[int]:
    for start in range(0, sets, AT_ONCE):
        yield min(AT_ONCE, sets - start)


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


def spread(work: Callable[..., list[Cell]], jobs: Sequence[tuple[object, ...]], workers: int) -> list[Cell]:
    """Run jobs in processes, saying on standard error how far it is."""
    cells: list[Cell] = []
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(work, *job) for job in jobs]
        for i, future in enumerate(futures, start=1):
            cells += future.result()
            print(f"\r{i} of {len(jobs)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return merged(cells)


def mmlu(path: Path) -> tuple[str, Graded]:
    """A file of MMLU-Pro answers with stated and token confidences, and the model's name."""
    name = path.stem.removeprefix("mmlu_pro_")
    with path.open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    signals = np.array([[float(r[c]) if r[c] else np.nan for c in MMLU_COLUMNS] for r in records])
    correct = np.array([r["correct_answer"] == r["extracted_answer"] for r in records])
    return name, Graded(signals, correct, np.arange(len(records)))


def kinds_of(path: Path) -> NDArray[np.str_]:
    """The category of each row of such a file."""
    with path.open(encoding="utf-8", newline="") as file:
        return np.array([record["category"] for record in csv.DictReader(file)])


def other_kinds(path: Path, sets: int, n: int = 1000) -> None:
    """The promise broken on purpose: certified on every category but one, asked about that one.

    The stated confidence alone, at the middle error rate of the file.
    """
    name, whole = mmlu(path)
    kinds, a = kinds_of(path), MMLU_RATES.get(name, RATES)[1]
    rng = np.random.default_rng([SEED, n, 3])
    lines: list[list[str]] = []
    data: list[dict[str, object]] = []
    for kind in np.unique(kinds).tolist():
        here, elsewhere = whole.at(kinds == kind), whole.at(kinds != kind)
        drawn = rng.integers(0, len(elsewhere), (sets, n))
        tests = hypotheses(elsewhere.signals[drawn, 0], ~elsewhere.correct[drawn], a)
        rejected = tests.rejected(DELTA)
        t = np.take_along_axis(tests.threshold, np.maximum(rejected - 1, 0)[:, None], axis=1)[rejected > 0, 0]
        error = [
            Truth.of(part.signals[:, 0], (~part.correct).astype(np.float64)).at(t)[0] for part in (elsewhere, here)
        ]
        kept = [float((risk <= a).mean()) if len(t) else None for risk in error]
        mean = [float(np.nanmean(risk)) if len(t) else None for risk in error]
        data.append({"model": name, "kind": kind, "a": a, "certified": len(t) / sets, "kept": kept, "error": mean})
        lines.append([kind, f"{100 * len(t) / sets:.0f}", *(shown(part) for part in (*kept, *mean))])
    title = f"{name}: certified at a = {a:g} on {n} answers of all kinds but one, {sets} sets, in %"
    columns = ["asked about", "certified", "kept elsewhere", "kept here", "error elsewhere", "error here"]
    publish(f"guarantee_kinds_{name}", title, columns, lines, data)


def shown(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def mmlu_of(path: Path, n: int, sets: int) -> list[Cell]:
    """Sets drawn with replacement from the whole file, whose error rates are then known."""
    name, whole = mmlu(path)
    rates, error = MMLU_RATES.get(name, RATES), (~whole.correct).astype(np.float64)
    rng = np.random.default_rng([SEED, n, 2])
    raw = Truth.of(whole.signals[:, 0], error)
    totals: dict[tuple[str, float], Floats] = {}
    for number in range(sets):
        # A row drawn twice is two grades here: the file is the population.
        drawn = rng.integers(0, len(whole), n)
        for width in (1, 2):
            rows = Graded(whole.signals[drawn, :width], whole.correct[drawn], np.arange(n))
            if width == 1:
                add(totals, "thresholds", rows.signals[:, 0], rows, raw, rates)
            confidence, certifying, served = fitted(rows, whole.signals[:, :width], "split", number)
            add(totals, called("split", width), confidence, certifying, Truth.of(served, error), rates)
    return [cell(name, method, n, a, sets, of[:3], of[3] / sets) for (method, a), of in totals.items()]


def before_after(path: Path, n: int = 1000) -> None:
    """One map from n graded answers of a file, judged on all the others."""
    name, whole = mmlu(path)
    taken = split(whole.problem, n / len(whole), SEED)
    rest = whole.at(~taken)
    chosen = fit(whole.at(taken)).map
    metrics = {key: METRICS[key] for key in ("auc", "smece", "brier", "snr_gain")}
    before, after = (Rows.of(p, rest.correct) for p in (rest.signals[:, 0], chosen(rest.signals)))
    gaps = compare(before, after, metrics=metrics)
    lines = [
        [metrics[key].label, *(figure(one) for one in (gap.first, gap.second, gap.difference))]
        for key, gap in gaps.items()
    ]
    title = f"{name} on MMLU-Pro: a map ({type(chosen).__name__}) from {n} answers, judged on the other {len(rest):,}"
    data = {key: asdict(gap) for key, gap in gaps.items()}
    publish(f"guarantee_before_after_{name}", title, ["figure", "before", "after", "difference"], lines, data)


def drift(runs: int) -> None:
    """Alarms of the e-process over 2,000 graded answers: at an error of exactly a, and after it rises half way."""
    rng = np.random.default_rng(SEED)
    lines: list[list[str]] = []
    data: list[dict[str, float]] = []
    for a in RATES:
        for late in (a, 1.5 * a, 2 * a, 3 * a):
            rates = np.repeat([a, late], 1000)
            peak = peaks(rng.random((runs, 2000)) < rates, a)
            shares = {alpha: float((peak >= 1 / alpha).mean()) for alpha in (0.01, 0.05, 0.1)}
            lines.append([f"{a:g}, then {late:g}", *(f"{100 * share:.1f}" for share in shares.values())])
            data.append({"a": a, "late": late, **{f"alarms_{alpha:g}": share for alpha, share in shares.items()}})
    title = f"Drift: alarms in % of {runs} runs of 1,000 answers at an error of a and 1,000 at another"
    publish("guarantee_drift", title, ["a, then", "alpha 0.01", "alpha 0.05", "alpha 0.1"], lines, data)


def figure(of: Estimate) -> str:
    return f"{of.value:.3f} ({of.low:.3f} to {of.high:.3f})"


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
    sizes = chosen.n or list(SIZES)
    for part in parts:
        start = time.monotonic()
        if part == "drift":
            drift(chosen.sets)
        if part in ("drift", "kinds"):
            continue
        cells, title = measured(part, sizes, chosen)
        show(f"guarantee_{part}", title, cells, time.monotonic() - start)
    for path in chosen.mmlu:
        if "mmlu" in parts:
            before_after(path)
        if "kinds" in parts:
            other_kinds(path, chosen.sets)


def measured(part: str, sizes: list[int], chosen: argparse.Namespace) -> tuple[list[Cell], str]:
    """The cells of one part and the title of its table."""
    sets, workers = chosen.sets, chosen.workers
    if part == "thresholds":
        jobs = [(name, n, sets) for n in sizes for name in POPULATIONS]
        return spread(thresholds_of, jobs, workers), f"One raw signal, {sets} sets a cell"
    if part == "worst":
        title = f"Error just above a everywhere, {sets} sets a cell"
        return spread(worst_of, [(n, sets) for n in sizes], workers), title
    if part == "mmlu":
        jobs = [(path, n, chosen.map_sets) for path in chosen.mmlu for n in sizes]
        return spread(mmlu_of, jobs, workers), f"MMLU-Pro, drawn with replacement, {chosen.map_sets} sets a cell"
    drawn = chosen.map_sets if part == "split" else chosen.cross_sets
    chunks = [(first, min(TOGETHER, drawn - first)) for first in range(0, drawn, TOGETHER)]
    jobs = [(name, n, part, count, first) for first, count in chunks for n in sizes for name in POPULATIONS]
    return spread(maps_of, jobs, workers), f"Fitted maps, {drawn} sets a cell"


if __name__ == "__main__":
    main()
