"""A change-point e-process: has the error rate of the answers risen above what was promised?

For each possible start s of a drift a gambler bets from there on that answers are wrong more often than `max_error`,
with a share w_s = 1 / (s (s + 1)) of one unit of money. While P(wrong | past) <= max_error the whole is an
e-process, however often and whenever one looks: it passes 1 / alpha with probability at most alpha (Ville 1939). A
gambler who started on the first day alone would have lost everything before a late drift begins.

Reference: Shin, Ramdas and Rinaldo, "E-detectors", arXiv:2203.03532 (mixture over starts); Waudby-Smith and Ramdas,
"Estimating means of bounded random variables by betting", arXiv:2010.09686 (bets from the past alone).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from demur.core.calibration.signals import Floats

HALF_LIFE = 50.0
"""Graded answers after which one counts half in the error rate that sizes the bets."""
PRIOR = 10.0
"""Answers at an error of max_error that the estimate starts from, so that the first wrong ones do not bet all."""
SLACK = 0.05
"""How much more often than it says a calibrated confidence may be wrong before that counts as drift."""
SUREST = 0.001
"""The least chance of being wrong that is allowed for, so that one wrong answer at a confidence of 1 is not the end."""
MOST = 1e300
"""Wealth is kept below the largest double: every alarm has rung long before."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The state after `count` graded answers: five numbers, however many have been seen.

    `wealth` is what the gamblers who have started hold together. `weight` and `errors` are the discounted counts of
    answers and wrong answers that size the next bet. `peak` is the greatest value so far: an alarm that has rung stays.
    Values are immutable; `add` gives the next one. Build it with `Drift.start`.
    """

    max_error: float
    count: int
    wealth: float
    weight: float
    errors: float
    peak: float

    @classmethod
    def start(cls, max_error: float) -> "Drift":
        """The state before the first graded answer. Raises ValueError unless 0 < max_error < 1."""
        if not 0 < max_error < 1:
            raise ValueError(f"max_error must lie between 0 and 1, not {max_error}")
        return cls(max_error, 0, 0.0, PRIOR, PRIOR * max_error, 1.0)

    @property
    def value(self) -> float:
        """The e-process: the wealth of those who started and the money of those who have not; 1 at the start."""
        return self.wealth + 1 / (self.count + 1)

    def alarm(self, alpha: float) -> bool:
        """Whether the value has ever reached 1 / alpha; false with probability at least 1 - alpha without drift."""
        return self.peak >= 1 / alpha

    def add(self, wrong: bool) -> "Drift":
        """One more graded answer, in the order they were graded."""
        held = np.array([self.wealth, self.weight, self.errors])
        wealth, weight, errors = _step(held, np.float64(wrong), self.count + 1, self.max_error).tolist()
        after = replace(self, count=self.count + 1, wealth=wealth, weight=weight, errors=errors)
        return replace(after, peak=max(self.peak, after.value))


@dataclass(frozen=True, slots=True)
class Overconfidence:
    """The same test of stated probabilities: are more answers wrong than their confidences allow, on the whole?

    An answer that states p may be wrong with probability 1 - p + `slack`; while P(wrong | past, p) is no more, the
    value is an e-process, whatever the confidences are. A confidence that was fitted on some hundred answers is off by
    chance; without `slack` the test would ring for that alone, sooner or later. `excess` is the discounted sum of
    wrong answers beyond what is allowed, which sizes the next bet. Build it with `Overconfidence.start`.
    """

    slack: float
    count: int
    wealth: float
    weight: float
    excess: float

    @classmethod
    def start(cls, slack: float) -> "Overconfidence":
        """The state before the first graded answer. Raises ValueError unless 0 <= slack < 1."""
        if not 0 <= slack < 1:
            raise ValueError(f"slack must be at least 0 and below 1, not {slack}")
        return cls(slack, 0, 0.0, PRIOR, 0.0)

    @property
    def value(self) -> float:
        """The e-process; 1 at the start."""
        return self.wealth + 1 / (self.count + 1)

    def add(self, wrong: bool, confidence: float) -> "Overconfidence":
        """One more graded answer, in the order they were graded. One that may be wrong for sure tells nothing."""
        allowed = 1 - confidence + self.slack
        if allowed >= 1:
            return self
        held = np.array([self.wealth, self.weight, self.excess])
        after = _step_of_stated(held, np.float64(wrong), np.float64(max(allowed, SUREST)), self.count + 1)
        wealth, weight, excess = after.tolist()
        return replace(self, count=self.count + 1, wealth=wealth, weight=weight, excess=excess)


def started(s: int) -> float:
    """The weight of start s, counted from 1, in the mixture over starts: 1 / (s (s + 1)); all weights add up to 1."""
    return 1 / (s * (s + 1))


def _step(held: Floats, wrong: Floats | np.float64, count: int, max_error: float) -> Floats:
    """Wealth, weight and errors, (3, ...), after answer number `count` with these verdicts (...)."""
    wealth, weight, errors = held
    growth = 1 + bet(errors / weight, max_error) * (wrong - max_error)
    keep = 0.5 ** (1 / HALF_LIFE)
    return np.array([np.minimum((wealth + started(count)) * growth, MOST), keep * weight + 1, keep * errors + wrong])


def _step_of_stated(held: Floats, wrong: Floats | np.float64, allowed: Floats | np.float64, count: int) -> Floats:
    """Wealth, weight and excess, (3, ...), after answer number `count`, which may be wrong with chance `allowed`."""
    wealth, weight, excess = held
    growth = 1 + bet(allowed + excess / weight, allowed) * (wrong - allowed)
    keep = 0.5 ** (1 / HALF_LIFE)
    wealth = np.minimum((wealth + started(count)) * growth, MOST)
    return np.array([wealth, keep * weight + 1, keep * excess + wrong - allowed])


def bet(error: Floats, max_error: float | Floats) -> Floats:
    """The stake on the next answer being wrong, in [0, 1 / max_error], for an estimated error rate in [0, 1].

    It is the one under which wealth grows fastest if the estimate is right (Kelly 1956): none below max_error, and all
    at an error of 1.
    """
    return np.clip((error - max_error) / (max_error * (1 - max_error)), 0.0, 1 / max_error)


def average(values: Sequence[float]) -> float:
    """Several e-processes over the same answers as one: the mean of their values is an e-process.

    Raises ValueError for none.
    """
    if not values:
        raise ValueError("no e-process to average")
    return sum(values) / len(values)


def alpha_of_refit(alpha: float, refit: int) -> float:
    """The false-alarm probability for the process after refit number `refit`, counted from 0: alpha / ((refit + 1)
    (refit + 2)), so that the processes of all refits together stay within alpha.

    Raises ValueError for a negative number of the refit.
    """
    if refit < 0:
        raise ValueError(f"refits are counted from 0, not {refit}")
    return alpha * started(refit + 1)


def peaks(wrong: NDArray[np.bool_], max_error: float) -> Floats:
    """The greatest value of the process on each of many sequences of verdicts, (runs, answers) to (runs,).

    For simulations of false alarms and of the delay until a true one.
    """
    peak = np.ones(len(wrong))
    for value in values(wrong, max_error):
        peak = np.maximum(peak, value)
    return peak


def values(wrong: NDArray[np.bool_], max_error: float) -> Iterator[Floats]:
    """The value of the process on each of many sequences of verdicts (runs, answers), after each answer: (runs,)."""
    runs, answers = wrong.shape
    verdicts = wrong.astype(np.float64)
    held = np.tile([[0.0], [PRIOR], [PRIOR * max_error]], runs)
    for i in range(answers):
        held = _step(held, verdicts[:, i], i + 1, max_error)
        yield held[0] + 1 / (i + 2)


def values_of_stated(wrong: NDArray[np.bool_], confidence: Floats, slack: float) -> Iterator[Floats]:
    """The value of `Overconfidence` on each of many sequences (runs, answers), after each answer: (runs,).

    Every confidence has to be above `slack`.
    """
    runs, answers = wrong.shape
    verdicts, allowed = wrong.astype(np.float64), np.maximum(1 - confidence + slack, SUREST)
    held = np.tile([[0.0], [PRIOR], [0.0]], runs)
    for i in range(answers):
        held = _step_of_stated(held, verdicts[:, i], allowed[:, i], i + 1)
        yield held[0] + 1 / (i + 2)


def false_alarms(
    error: float, max_error: float, alpha: float, *, answers: int = 2000, runs: int = 1000, seed: int = 0
) -> float:
    """The share of simulated sequences with a constant error rate on which an alarm at `alpha` rings.

    At most alpha for every `error` up to max_error, apart from the chance of the simulation.
    """
    wrong = np.random.default_rng(seed).random((runs, answers)) < error
    return float((peaks(wrong, max_error) >= 1 / alpha).mean())
