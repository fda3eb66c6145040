"""Fitting maps with scikit-learn.

All choosing (signals, kind, l2) is by cross-validation on the rows that are given, so that a caller who hands over one
part of the rows has a map that never saw the other.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from sklearn import config_context
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from demur.core.calibration.folds import Bools, Ints, fold_of, held_out
from demur.core.calibration.maps import Identity, Isotonic, Logistic, Map
from demur.core.calibration.signals import Floats, features

PENALTIES = (0.1, 1.0, 10.0)
"""Inverse strengths of l2 that are tried (scikit-learn's C)."""

INNER_FOLDS = 5
ISOTONIC_FROM = 1000
"""Rows below which an isotonic curve follows chance."""

CLEAR = 1.0
"""Standard errors by which a map has to be better than the raw number: the one-standard-error rule of Breiman,
Friedman, Olshen and Stone 1984. At 1.96 more maps from 80 and 200 rows were turned down, and the mean Brier score on
new answers was higher in each of the simulated populations."""


@dataclass(frozen=True, slots=True)
class Graded:
    """Graded answers: `signals` (n, k) in [0, 1], NaN where missing; `correct` (n,); `problem` (n,), whole numbers.

    Column 0 is the raw number, to which every map is compared. `weight` (n,) counts rows that were drawn with unequal
    chances; None counts each once.
    """

    signals: Floats
    correct: Bools
    problem: Ints
    weight: Floats | None = None

    def at(self, rows: Bools | Ints) -> "Graded":
        """Some of the rows, by a mask or positions."""
        weight = None if self.weight is None else self.weight[rows]
        return Graded(self.signals[rows], self.correct[rows], self.problem[rows], weight)

    @property
    def share_right(self) -> float:
        """The share of right rows, weighted."""
        return float(np.average(self.correct, weights=self.weight))

    def __len__(self) -> int:
        return len(self.correct)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A map, and the cross-validated Brier score it was chosen by beside that of the raw number."""

    map: Map
    brier: float
    raw_brier: float


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to fit a map: the columns of the signals it uses, the inverse strength of its l2 penalty (scikit-learn's
    C), and whether an isotonic curve lies over it."""

    columns: tuple[int, ...]
    penalty: float
    curve: bool = False

    def __call__(self, rows: Graded) -> Logistic | Isotonic:
        score = logistic(rows, self.columns, self.penalty)
        return isotonic(rows, score) if self.curve else score


def fit(rows: Graded, seed: int = 0) -> Fitted:
    """The best map for these rows, or `Identity(0)` where none is clearly better than the raw number.

    Candidates are logistic maps of every single signal and of all together, at each of PENALTIES; from ISOTONIC_FROM
    rows on an isotonic curve over the best of them. The least Brier score over folds by problem wins; it has to be
    below that of the raw number by CLEAR standard errors over problems. Rows of one class, or of fewer than INNER_FOLDS
    problems, teach nothing: they keep the raw number.
    """
    raw = _losses(rows.signals[:, 0], rows)
    kept = Fitted(Identity(0), float(raw.mean()), float(raw.mean()))
    if len(np.unique(rows.correct)) < 2 or len(np.unique(rows.problem)) < INNER_FOLDS:
        return kept
    fold = fold_of(rows.problem, INNER_FOLDS, seed)
    tried = [(recipe, _cross_validated(recipe, rows, fold)) for recipe in _recipes(rows.signals.shape[1])]
    best, losses = min(tried, key=_mean_loss)
    if len(rows) >= ISOTONIC_FROM:
        curve = replace(best, curve=True)
        best, losses = min([(best, losses), (curve, _cross_validated(curve, rows, fold))], key=_mean_loss)
    if not _clearly_better(losses, raw, rows.problem):
        return kept
    return Fitted(best(rows), float(losses.mean()), float(raw.mean()))


def logistic(rows: Graded, columns: tuple[int, ...], penalty: float) -> Logistic:
    """Logistic regression with an l2 penalty on the log odds of some signals; `penalty` is scikit-learn's C, above 0.

    A signal whose weight comes out negative is dropped, the lowest first; without any left the map is the share of
    right rows.
    """
    width = rows.signals.shape[1]
    weights, missing, intercept = np.zeros(width), np.zeros(width), 0.0
    while columns:
        intercept, w, m = _regression(rows, columns, penalty)
        if w.min() >= 0:
            weights[list(columns)], missing[list(columns)] = w, m
            return Logistic(intercept, tuple(weights.tolist()), tuple(missing.tolist()))
        columns = tuple(c for c, weight in zip(columns, w, strict=True) if weight > w.min())
    return Logistic(_log_odds(rows.share_right), tuple(weights.tolist()), tuple(missing.tolist()))


def isotonic(rows: Graded, score: Logistic) -> Isotonic:
    """Isotonic regression of the verdicts on the confidences of a logistic map."""
    confidence = score(rows.signals)
    read = ~np.isnan(confidence)
    weight = None if rows.weight is None else rows.weight[read]
    curve = IsotonicRegression(y_min=0.0, y_max=1.0).fit(confidence[read], rows.correct[read].astype(float), weight)
    x, first = np.unique(curve.X_thresholds_, return_index=True)
    y = np.maximum.accumulate(np.clip(curve.y_thresholds_[first], 0.0, 1.0))
    return Isotonic(score, tuple(x.tolist()), tuple(y.tolist()))


def _regression(rows: Graded, columns: tuple[int, ...], penalty: float) -> tuple[float, Floats, Floats]:
    """Intercept, weights and missing-indicator weights; an indicator that never varies has weight 0.

    The weights of rows are scaled to a mean of 1, so that they do not change how much the penalty counts.
    """
    x, k, correct = features(rows.signals[:, columns]), len(columns), rows.correct
    varies = x.min(axis=0) < x.max(axis=0)
    if not varies.any() or correct.all() or not correct.any():
        return _log_odds(rows.share_right), np.zeros(k), np.zeros(k)
    weight = None if rows.weight is None else rows.weight / rows.weight.mean()
    with config_context(assume_finite=True, skip_parameter_validation=True):
        unfitted = LogisticRegression(C=penalty, solver="newton-cholesky", max_iter=200)
        model = unfitted.fit(x[:, varies], correct, sample_weight=weight)
    weights = np.zeros(2 * k)
    weights[varies] = model.coef_[0]
    return float(model.intercept_[0]), weights[:k], weights[k:]


def _log_odds(share: float) -> float:
    share = min(max(share, 0.005), 0.995)
    return float(np.log(share / (1 - share)))


def _recipes(width: int) -> list[Recipe]:
    """Ways to fit a logistic map to so many signals."""
    sets = [(column,) for column in range(width)] + ([tuple(range(width))] if width > 1 else [])
    return [Recipe(columns, penalty) for columns, penalty in product(sets, PENALTIES)]


def _cross_validated(one: Recipe, rows: Graded, fold: Ints) -> Floats:
    """The squared error of each row under a map that never saw its problem, (n,)."""
    losses = np.zeros(len(rows))
    for seen, unseen in held_out(rows.problem, fold):
        known = rows.at(seen)
        losses[unseen] = _losses(one(known)(rows.signals[unseen]), rows.at(unseen), known.share_right)
    return losses


def _losses(confidence: Floats, rows: Graded, base: float | None = None) -> Floats:
    """Squared errors, weighted; a row without a confidence is scored with the share of right answers."""
    base = rows.share_right if base is None else base
    losses = (np.where(np.isnan(confidence), base, confidence) - rows.correct) ** 2
    return losses if rows.weight is None else losses * rows.weight


def _mean_loss(candidate: tuple[Recipe, Floats]) -> float:
    return float(candidate[1].mean())


def _clearly_better(losses: Floats, raw: Floats, problem: Ints) -> bool:
    """Whether the mean of raw - losses is above 0 by CLEAR standard errors, rows of a problem being one observation."""
    _, code = np.unique(problem, return_inverse=True)
    gain = raw - losses
    residual = np.bincount(code, gain - gain.mean())
    return bool(gain.mean() > CLEAR * np.sqrt((residual**2).sum()) / len(gain))
