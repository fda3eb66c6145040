"""Simulated votes: populations of problems whose answers and confidences are known, to measure rules on.

A problem has a difficulty (log odds of a sample being right), drawn from a normal distribution. Wrong samples fall on
wrong answers whose shares come from breaking a stick, so that most problems have one tempting wrong answer. A sample's
confidence is what somebody would state who sees a noisy signal of the difficulty and, to a degree called
discrimination, of whether this very sample is right: exactly P(right | signal) in a calibrated population, distorted
in the others. At discrimination 0 confidence knows the problem only (the paper's example of two problems, section 4.4).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

WRONG_ANSWERS = 12
GRID = 512


@dataclass(frozen=True, slots=True)
class Population:
    """How problems and samples are drawn. Log odds throughout.

    `difficulty` and `spread` are mean and deviation over problems; `seen` scales the part of it that the signal shows;
    `blur` and `noise` are the deviations of the signal's error per problem and per sample. The stated log odds are the
    calibrated ones times `stretch` plus `shift`, written with `decimals` decimals. A share `silent` of the
    samples states none.
    """

    difficulty: float = 1.5
    spread: float = 3.0
    discrimination: float = 1.0
    seen: float = 0.8
    blur: float = 0.7
    noise: float = 1.0
    stretch: float = 1.0
    shift: float = 0.0
    decimals: int = 2
    silent: float = 0.0


@dataclass(frozen=True, slots=True)
class Tied:
    """Every problem has a few equally likely answers, and confidences that say nothing: one is drawn of `stated`, of
    which any may stand there several times. A share `silent` of the samples states none."""

    answers: int = 2
    stated: tuple[float, ...] = (0.5,)
    silent: float = 0.0


@dataclass(frozen=True, slots=True)
class Draw:
    """Samples of many problems: arrays [problems, samples]. Group 0 holds the right answer.

    A confidence that a sample does not state is nan.
    """

    groups: NDArray[np.int64]
    confidences: NDArray[np.float64]

    @property
    def right(self) -> NDArray[np.bool_]:
        return self.groups == 0


POPULATIONS: Mapping[str, Population | Tied] = {
    "calibrated": Population(),
    "calibrated, easy": Population(difficulty=3.0),
    "calibrated, hard": Population(difficulty=-1.0),
    "calibrated, sharp": Population(discrimination=2.0),
    "calibrated, problem only": Population(discrimination=0.0, noise=0.5),
    "over-confident": Population(shift=1.5),
    "under-confident": Population(shift=-1.5),
    "flattened": Population(stretch=0.4),
    "ties": Tied(),
    "ties, three answers": Tied(answers=3),
    "ties, coarse": Tied(stated=(0.3, 0.6, 0.9)),
    "ties, rarely sure": Tied(stated=(*[0.1] * 15, 1.0)),
    "ties, mostly silent": Tied(silent=0.8),
    "half silent": Population(silent=0.5),
    "almost silent": Population(silent=0.95),
}


def draw(population: Population | Tied, problems: int, k: int, rng: np.random.Generator) -> Draw:
    """`k` samples of each of `problems` problems."""
    drawn = (
        _tied(population, problems, k, rng) if isinstance(population, Tied) else _drawn(population, problems, k, rng)
    )
    return _some_silent(drawn, population.silent, rng) if population.silent else drawn


def _tied(population: Tied, problems: int, k: int, rng: np.random.Generator) -> Draw:
    groups = rng.integers(0, population.answers, (problems, k))
    return Draw(groups, rng.choice(np.array(population.stated), (problems, k)))


def _drawn(population: Population, problems: int, k: int, rng: np.random.Generator) -> Draw:
    difficulty = rng.normal(population.difficulty, population.spread, (problems, 1))
    right = rng.random((problems, k)) < _sigmoid(difficulty)
    groups = np.where(right, 0, _wrong_answers(problems, k, rng))
    signal = population.seen * difficulty + population.discrimination * (right - 0.5)
    signal += rng.normal(0, population.blur, (problems, 1)) + rng.normal(0, population.noise, (problems, k))
    return Draw(groups, _stated(population, signal))


def _some_silent(samples: Draw, share: float, rng: np.random.Generator) -> Draw:
    silent = rng.random(samples.groups.shape) < share
    return Draw(samples.groups, np.where(silent, np.nan, samples.confidences))


def right_ones_late(samples: Draw, lag: float, rng: np.random.Generator) -> Draw:
    """The same samples in another order: times of arrival have deviation 1, and right answers take `lag` longer.

    For measuring what stopping costs where its model does not hold, as when wrong answers are the short ones.
    """
    order = (rng.normal(0, 1, samples.groups.shape) + lag * samples.right).argsort(axis=1)
    return Draw(
        np.take_along_axis(samples.groups, order, axis=1), np.take_along_axis(samples.confidences, order, axis=1)
    )


def _wrong_answers(problems: int, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    breaks = rng.random((problems, WRONG_ANSWERS))
    breaks[:, -1] = 1.0
    left = np.cumprod(np.concatenate([np.ones((problems, 1)), 1 - breaks[:, :-1]], axis=1), axis=1)
    reach = np.cumsum(breaks * left, axis=1)
    return 1 + (rng.random((problems, k, 1)) > reach[:, None, :-1]).sum(axis=2)


def _stated(population: Population, signal: NDArray[np.float64]) -> NDArray[np.float64]:
    signals, log_odds = _calibration(population)
    stated = population.stretch * np.interp(signal, signals, log_odds) + population.shift
    return np.round(_sigmoid(stated), population.decimals)


@lru_cache(maxsize=64)
def _calibration(population: Population) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Signals and the log odds of being right given each, by integrating over the difficulty."""
    reach, middle = 5 * population.spread, population.difficulty
    difficulty = _evenly(middle - reach, middle + reach)
    signals = _evenly(population.seen * (middle - reach), population.seen * (middle + reach))
    prior = np.exp(-0.5 * ((difficulty - middle) / population.spread) ** 2)
    deviation = np.hypot(population.blur, population.noise)
    means = population.seen * difficulty[None, :]
    half = population.discrimination / 2

    def mass(mean: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
        likelihood = np.exp(-0.5 * ((signals[:, None] - mean) / deviation) ** 2)
        return (likelihood * prior * chance).sum(axis=1)

    right, wrong = mass(means + half, _sigmoid(difficulty)), mass(means - half, _sigmoid(-difficulty))
    return signals, np.log(right) - np.log(wrong)


def _evenly(low: float, high: float) -> NDArray[np.float64]:
    return low + (high - low) * np.arange(GRID) / (GRID - 1)


def _sigmoid(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-log_odds))
