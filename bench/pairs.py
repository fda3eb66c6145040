"""Two programs measured in turn: the ratio of their figures over pairs of neighbouring rounds, and what it shows."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

LEAST_PAIRS = 8
RESAMPLES = 10_000
TOO_WIDE = 0.1
"""An interval that reaches further than this from the estimate, either way, decides nothing."""

Verdict = Literal["lower", "higher", "no difference seen", "too noisy"]


@dataclass(frozen=True, slots=True)
class RoundMean:
    """The mean over rounds of one measurement with its 95 % bootstrap interval, `pairs` rounds in number.

    Always defined, with a unit: `demur.core.metrics.Estimate` is of graded answers, and may be undefined.
    """

    value: float
    low: float
    high: float
    pairs: int
    unit: str = ""

    def text(self, form: str = ".3g") -> str:
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"

    def json(self) -> dict[str, float | int | str]:
        return asdict(self)


def ratio_of(ours: Sequence[float], theirs: Sequence[float], seed: int = 0) -> RoundMean:
    """The geometric mean of ours / theirs over pairs, with a percentile bootstrap over the pairs.

    Raises ValueError where the lengths differ, there is no pair, or a figure is not above 0.
    """
    if len(ours) != len(theirs) or not ours:
        raise ValueError("a ratio needs as many figures of one as of the other, and at least one")
    if min(*ours, *theirs) <= 0:
        raise ValueError("a ratio needs figures above 0")
    logs = np.log(np.asarray(ours) / np.asarray(theirs))
    low, high = _interval(logs, seed)
    return RoundMean(math.exp(float(logs.mean())), math.exp(low), math.exp(high), len(logs), "ratio")


def mean_of(values: Sequence[float], unit: str, seed: int = 0) -> RoundMean:
    """The mean over rounds, with a percentile bootstrap over them."""
    found = np.asarray(values, dtype=float)
    low, high = _interval(found, seed)
    return RoundMean(float(found.mean()), low, high, len(found), unit)


def verdict(ratio: RoundMean) -> Verdict:
    """What a ratio shows in words."""
    if ratio.high > ratio.value * (1 + TOO_WIDE) or ratio.low < ratio.value * (1 - TOO_WIDE):
        return "too noisy"
    if ratio.low <= 1 <= ratio.high:
        return "no difference seen"
    return "lower" if ratio.high < 1 else "higher"


def _interval(values: np.ndarray, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    means = values[rng.integers(len(values), size=(RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
