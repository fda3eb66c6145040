"""How often the drift test rings without drift, and how soon it rings after one, beside simpler tests.

python -m bench drift [--runs 400] [--answers 10000] [--alpha 0.05]

A run is a sequence of audited answers, each wrong with a given probability. False alarms are counted where that is
exactly the rate that is allowed, over all answers of a run. The delay is the number of audited answers from the shift
to the alarm, among runs without an alarm before it; a run without any alarm until its end counts as one that is longer
than all others.

Every answer states 1 - a. served: the mean of the process that tests the promise and the one that tests what answers
state, which may be too high by SLACK. promise alone: the first of the two.

windows: an exact binomial test on every 200 answers, each at alpha. windows, corrected: each at alpha / their number.
product: one betting process from the first answer on, without new starts; at the stakes of the served test, or at one
that is best for an error rate of 2a.
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from bench.report import publish
from numpy.typing import NDArray
from scipy.stats import binom

from demur.core.calibration.drift import HALF_LIFE, PRIOR, SLACK, bet, values, values_of_stated

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RATES = (0.05, 0.1, 0.2)
WINDOW = 200
LATE = 5000
SEED = 20_261_127
Method = Callable[[Bools, float, float], Ints]


def served(wrong: Bools, a: float, alpha: float) -> Ints:
    """The first answer after which the served test rings, counted from 1; 0 for none."""
    stated = np.full(wrong.shape, 1 - a)
    both = zip(values(wrong, a), values_of_stated(wrong, stated, SLACK), strict=True)
    return first(((one + other) / 2 for one, other in both), len(wrong), alpha)


def mixture(wrong: Bools, a: float, alpha: float) -> Ints:
    """The same of the process that tests the promise alone."""
    return first(values(wrong, a), len(wrong), alpha)


def product(wrong: Bools, a: float, alpha: float) -> Ints:
    """The same bets, all money on the first day."""

    def wealth() -> Iterator[Floats]:
        held, weight, errors = np.ones(len(wrong)), PRIOR, np.full(len(wrong), PRIOR * a)
        keep = 0.5 ** (1 / HALF_LIFE)
        for column in wrong.T.astype(np.float64):
            held = held * (1 + bet(errors / weight, a) * (column - a))
            weight, errors = keep * weight + 1, keep * errors + column
            yield held

    return first(wealth(), len(wrong), alpha)


def constant(wrong: Bools, a: float, alpha: float) -> Ints:
    """All money on the first day, at the stake that is best where the error rate is 2a."""
    growth = np.log1p(bet(np.array(2 * a), a) * (wrong - a)).cumsum(axis=1)
    return first(iter(np.exp(growth.T)), len(wrong), alpha)


def windows(wrong: Bools, a: float, alpha: float) -> Ints:
    """The end of the first window with too many wrong answers, each window tested at alpha."""
    count = wrong.shape[1] // WINDOW
    sums = wrong[:, : count * WINDOW].reshape(len(wrong), count, WINDOW).sum(axis=2)
    rings = binom.sf(sums - 1, WINDOW, a) <= alpha
    return np.where(rings.any(axis=1), (rings.argmax(axis=1) + 1) * WINDOW, 0)


def corrected(wrong: Bools, a: float, alpha: float) -> Ints:
    """The same at alpha over the number of windows, which has to be known beforehand."""
    return windows(wrong, a, alpha / (wrong.shape[1] // WINDOW))


def first(path: Iterator[Floats], runs: int, alpha: float) -> Ints:
    """The first step at which a path is at least 1 / alpha, counted from 1; 0 for none."""
    found = np.zeros(runs, dtype=np.int64)
    for step, value in enumerate(path, start=1):
        found = np.where((found == 0) & (value >= 1 / alpha), step, found)
    return found


METHODS: dict[str, Method] = {
    "served": served,
    "promise alone": mixture,
    "product, same stakes": product,
    "product, one stake": constant,
    f"windows of {WINDOW}": windows,
    f"windows of {WINDOW}, corrected": corrected,
}


def drawn(before: float, after: float, at: int, runs: int, answers: int, seed: int) -> Bools:
    """Runs whose error rate is `before` up to answer `at`, then `after`."""
    rate = np.where(np.arange(answers) < at, before, after)
    return np.random.default_rng([SEED, seed]).random((runs, answers)) < rate


def delay(found: Ints, at: int) -> str:
    """The median delay, and the share of runs that rang after the shift; of those that did not ring before it."""
    early = (found > 0) & (found <= at)
    late = found[~early]
    if not len(late):
        return f"all {len(found)} rang before"
    waits = np.where(late > 0, late - at, np.iinfo(np.int64).max)
    median = np.sort(waits)[(len(waits) - 1) // 2]
    told = "never" if median == np.iinfo(np.int64).max else f"{median:,}"
    share = f"{100 * (late > 0).mean():.0f} %"
    return f"{told} ({share})" + (f", {early.sum()} rang before" if early.any() else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--alpha", type=float, default=0.05)
    chosen = parser.parse_args()
    rows, data, shifts = [], {}, {}
    for number, a in enumerate(RATES):
        still = drawn(a, a, 0, chosen.runs, chosen.answers, number)
        shifts = {
            "a to 2a at once": (drawn(a, 2 * a, 0, chosen.runs, chosen.answers, 10 + number), 0),
            f"a to 2a after {LATE:,}": (drawn(a, 2 * a, LATE, chosen.runs, chosen.answers, 20 + number), LATE),
            f"a/2 to 2a after {LATE:,}": (drawn(a / 2, 2 * a, LATE, chosen.runs, chosen.answers, 30 + number), LATE),
        }
        for name, method in METHODS.items():
            false = method(still, a, chosen.alpha) > 0
            told = {shift: delay(method(wrong, a, chosen.alpha), at) for shift, (wrong, at) in shifts.items()}
            rows.append([f"{name}, a {a:g}", f"{100 * false.mean():.1f} %", *told.values()])
            data[f"{name}, a {a:g}"] = {"false alarms": float(false.mean()), **told}
    title = f"Drift: {chosen.runs} runs of {chosen.answers:,} audited answers, alpha {chosen.alpha:g}"
    publish("drift", title, ["test", "false alarms", *shifts], rows, data)


if __name__ == "__main__":
    main()
