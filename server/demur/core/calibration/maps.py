"""Maps from the signals of an answer to P(correct), as they are applied. Fitting is `demur.calibration.fit`.

Every map is monotone in every signal, so that an answer never loses confidence because a signal rose.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from demur.core.calibration.signals import Floats, check_signals, features, probability

DECIMALS = 9
"""Fitted confidences are rounded, so that an answer alone gets the very number that it gets among a thousand: the last
bits of a logarithm may differ, and a certified threshold is the confidence of a graded answer."""


@dataclass(frozen=True, slots=True)
class Identity:
    """No calibration: the signal in column `signal` as it is.

    Applied to (n, k) signals gives (n,), NaN where that one is missing; raises ValueError as `check_signals` does.
    """

    signal: int

    def __call__(self, values: Floats) -> Floats:
        return check_signals(values)[:, self.signal].copy()

    def weights_of(self, signals: int) -> Floats:
        """How much the log odds move with each signal's, (k,)."""
        return np.eye(signals)[self.signal]


@dataclass(frozen=True, slots=True)
class Logistic:
    """Logistic regression on the log odds of the signals (Platt scaling of several scores at once).

    `weights` holds one number of at least 0 for each signal, `missing` what is added where that signal is absent.
    Applied to (n, k) signals gives P(correct) (n,), NaN where every signal that is used is missing.

    Reference: Platt 1999, "Probabilistic outputs for support vector machines"; on log odds, Kull, Silva Filho and Flach
    2017, "Beta calibration". Raises ValueError for unequal lengths, a negative weight or a number that is not finite.
    """

    intercept: float
    weights: tuple[float, ...]
    missing: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.missing):
            raise ValueError(f"{len(self.weights)} weights and {len(self.missing)} for missing signals")
        if not np.isfinite([self.intercept, *self.weights, *self.missing]).all():
            raise ValueError("a weight is not finite")
        if any(weight < 0 for weight in self.weights):
            raise ValueError("a weight is negative: the map would fall where a signal rises")

    @property
    def used(self) -> tuple[int, ...]:
        """The columns of signals that change the confidence."""
        return tuple(i for i, parts in enumerate(zip(self.weights, self.missing, strict=True)) if any(parts))

    def of(self, columns: Sequence[int]) -> "Logistic":
        """The same map over some of the columns; the others must be unused."""
        return Logistic(
            self.intercept, tuple(self.weights[c] for c in columns), tuple(self.missing[c] for c in columns)
        )

    def log_odds(self, values: Floats) -> Floats:
        """The log odds of P(correct), (n,); NaN where every signal that is used is missing."""
        values = _of_width(values, len(self.weights))
        odds = np.full(len(values), self.intercept)
        for weight, column in zip([*self.weights, *self.missing], features(values).T, strict=True):
            odds = odds + weight * column
        used = list(self.used)
        blind = np.isnan(values[:, used] if used else values).all(axis=1)
        return np.where(blind, np.nan, odds)

    def __call__(self, values: Floats) -> Floats:
        return np.round(probability(self.log_odds(values)), DECIMALS)

    def weights_of(self, signals: int) -> Floats:
        """How much the log odds move with each signal's, (k,)."""
        return np.array(self.weights)


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A non-decreasing curve over the confidence of a logistic map: linear between the points `x`, `y`, flat outside.

    Reference: Zadrozny and Elkan 2002, "Transforming classifier scores into accurate multiclass probability estimates".
    Raises ValueError unless `x` rises, `y` does not fall, and both lie in [0, 1].
    """

    score: Logistic
    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        x, y = np.array(self.x), np.array(self.y)
        if not len(x) or len(x) != len(y):
            raise ValueError(f"{len(x)} points x and {len(y)} points y")
        if not (((x >= 0) & (x <= 1)).all() and ((y >= 0) & (y <= 1)).all()):
            raise ValueError("a point of the curve is outside [0, 1]")
        if (np.diff(x) <= 0).any() or (np.diff(y) < 0).any():
            raise ValueError("the curve does not rise")

    def __call__(self, values: Floats) -> Floats:
        return np.round(np.interp(self.score(values), self.x, self.y), DECIMALS)

    def weights_of(self, signals: int) -> Floats:
        """How much the log odds beneath the curve move with each signal's, (k,)."""
        return self.score.weights_of(signals)


Map = Identity | Logistic | Isotonic


def trimmed(fitted: Map) -> tuple[Map, tuple[int, ...]]:
    """The same map over the signals that it uses alone, and their columns; at least one is kept.

    What a map does not use need not be asked for when answers are served: some signals cost further samples.
    """
    if isinstance(fitted, Identity):
        return Identity(0), (fitted.signal,)
    score = fitted.score if isinstance(fitted, Isotonic) else fitted
    columns = score.used or (0,)
    return replace(fitted, score=score.of(columns)) if isinstance(fitted, Isotonic) else score.of(columns), columns


def never_missing(fitted: Map) -> tuple[int, ...]:
    """The columns of signals that every answer had which the map was fitted on: what an answer without one of them is
    worth is not known. Read off the weights, since an absence that never varied has none."""
    if isinstance(fitted, Identity):
        return (fitted.signal,)
    score = fitted.score if isinstance(fitted, Isotonic) else fitted
    pairs = enumerate(zip(score.weights, score.missing, strict=True))
    return tuple(column for column, (weight, missing) in pairs if weight > 0 and missing == 0)


def _of_width(values: Floats, width: int) -> Floats:
    checked = check_signals(values)
    if checked.shape[1] != width:
        raise ValueError(f"the map takes {width} signals, these answers have {checked.shape[1]}")
    return checked
