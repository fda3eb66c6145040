"""Simulated answers whose true error rate is known at every threshold: what a certificate is checked against.

An answer is right with log odds z, drawn from a normal distribution. Each signal shows z through noise of its own, is
stretched and shifted as a model's idea of itself is, and may be rounded to a few levels or be missing. A share of
the answers is `misled`: the signals show another, surer answer than the one that was given.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demur.core.calibration.signals import Floats, probability


@dataclass(frozen=True, slots=True)
class Population:
    """How answers are drawn; log odds throughout. `noise` has one deviation a signal, the first being the raw number.

    The shown log odds are `stretch` times the noisy ones plus `shift`; `levels` rounds the signal to that many
    steps of [0, 1], 0 leaves it as it is. A share `missing` of the values of all signals but the first is absent.
    """

    mean: float
    spread: float
    noise: tuple[float, ...]
    stretch: float = 1.0
    shift: float = 0.0
    levels: int = 0
    misled: float = 0.0
    missing: float = 0.0


POPULATIONS: Mapping[str, Population] = {
    "sharp": Population(1.5, 3.0, (1.2, 1.5, 2.0, 2.0)),
    "blunt": Population(1.4, 2.0, (2.2, 2.2, 2.5, 3.0), stretch=1.3),
    "coarse": Population(1.5, 2.6, (1.4, 1.6, 2.0, 2.0), stretch=0.8, shift=0.8, levels=20),
    "misled": Population(1.5, 3.0, (1.2, 1.5, 2.0, 2.0), shift=0.5, misled=0.04, missing=0.1),
}
"""Signals that tell right from wrong well; badly; in twenty overconfident steps with many ties; and with a share of
answers that are wrong although everything looks sure, so that the error does not fall to 0 at the top."""


@dataclass(frozen=True, slots=True)
class Answers:
    """`signals` (n, k) in [0, 1], NaN where missing; `correct` (n,); `error` (n,), the chance that each was wrong."""

    signals: Floats
    correct: NDArray[np.bool_]
    error: Floats


def draw(population: Population, n: int, rng: np.random.Generator) -> Answers:
    """n independent answers of a population."""
    z = rng.normal(population.mean, population.spread, n)
    shown = np.where(rng.random(n) < population.misled, rng.normal(population.mean + population.spread, 1.0, n), z)
    noisy = shown[:, None] + rng.normal(size=(n, len(population.noise))) * population.noise
    signals = probability(population.stretch * noisy + population.shift)
    if population.levels:
        signals = np.round(signals * population.levels) / population.levels
    signals[:, 1:][rng.random((n, len(population.noise) - 1)) < population.missing] = np.nan
    error = probability(-z)
    return Answers(signals, rng.random(n) >= error, error)


def just_above(
    max_error: float, n: int, rng: np.random.Generator, *, excess: float = 0.001, signals: int = 1
) -> Answers:
    """The worst case: wrong with probability max_error + `excess` whatever the signals say. No certificate is true."""
    error = np.full(n, max_error + excess)
    return Answers(rng.random((n, signals)), rng.random(n) >= error, error)


@dataclass(frozen=True, slots=True)
class Truth:
    """The true error rate and coverage at every threshold, over a large sample: all (M,), by falling confidence."""

    confidence: Floats
    risk: Floats

    @classmethod
    def of(cls, confidence: Floats, error: Floats) -> "Truth":
        """From confidences (M,), NaN for none, and the chance of each answer to be wrong (M,)."""
        shown = np.where(np.isnan(confidence), -1.0, confidence)
        order = np.argsort(-shown, kind="stable")
        return cls(shown[order], np.cumsum(error[order]) / np.arange(1, len(order) + 1))

    def at(self, threshold: Floats) -> tuple[Floats, Floats]:
        """P(wrong | confidence >= t) and P(confidence >= t) at thresholds of any shape; the risk is NaN for none."""
        answered = np.searchsorted(-self.confidence, -np.asarray(threshold), side="right")
        risk = np.where(answered > 0, self.risk[np.maximum(answered - 1, 0)], np.nan)
        return risk, answered / len(self.confidence)

    def oracle(self, max_error: float) -> float:
        """The greatest coverage that a threshold with P(wrong | answered) <= max_error has; 0 where none has."""
        last = np.r_[self.confidence[1:] != self.confidence[:-1], True] & (self.confidence >= 0)
        within = np.flatnonzero(last & (self.risk <= max_error))
        return float((within[-1] + 1) / len(self.confidence)) if len(within) else 0.0
