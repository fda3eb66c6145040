"""Certificates on simulated populations, where the true error rate is known; and the drift alarm."""

from collections.abc import Iterator

import numpy as np
from bench.certificates.cells import RATES, SEED, Cell, Floats, add, called, cell, fitted, judged
from bench.report import publish

from demur.calibration.fit import Graded
from demur.core.calibration.drift import peaks
from demur.core.calibration.populations import POPULATIONS, Truth, draw, just_above

SIZES = (200, 500, 1000)
POOL = 1_000_000
"""Answers that stand for the whole population; the error rate at a threshold is known to within 0.001 from them."""
MAP_POOL = 100_000
WORST = "just above a"
AT_ONCE = 500
"""Sets drawn at once: a million answers."""


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


def batches(sets: int) -> Iterator[int]:
    for start in range(0, sets, AT_ONCE):
        yield min(AT_ONCE, sets - start)


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
