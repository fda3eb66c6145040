"""Maps that scikit-learn fits: against it, monotone, and chosen without the rows that judge them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from demur.calibration.calibrate import FIT_SHARE, cross_fitted
from demur.calibration.fit import Graded, fit, isotonic, logistic
from demur.core.calibration.certified_thresholds import certify
from demur.core.calibration.folds import fold_of, held_out, split
from demur.core.calibration.maps import Identity, Isotonic, Logistic
from demur.core.calibration.populations import POPULATIONS, draw, just_above
from demur.core.calibration.signals import log_odds, probability


def graded(population="sharp", n=400, seed=0, signals=4):
    answers = draw(POPULATIONS[population], n, np.random.default_rng(seed))
    return Graded(answers.signals[:, :signals], answers.correct, np.arange(n))


def brier(confidence, correct):
    return float(((confidence - correct) ** 2).mean())


def test_a_logistic_map_is_scikit_learns():
    rows = graded("blunt", 2000)
    fitted = logistic(rows, (0, 1, 2, 3), 1.0)
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(log_odds(rows.signals), rows.correct)
    assert fitted(rows.signals) == pytest.approx(theirs.predict_proba(log_odds(rows.signals))[:, 1], abs=1e-3)


def test_a_row_of_weight_two_counts_as_two_rows():
    rows = graded("blunt", 300, signals=2)
    twice = np.arange(300) % 3 == 0
    weighted = replace(rows, weight=1.0 + twice)
    doubled = rows.at(np.r_[np.arange(300), np.flatnonzero(twice)])
    assert weighted.share_right == pytest.approx(doubled.share_right)
    for columns in ((0, 1), ()):
        ones, others = logistic(weighted, columns, 1e6), logistic(doubled, columns, 1e6)
        assert ones(rows.signals) == pytest.approx(others(rows.signals), abs=1e-4)


def test_the_scale_of_weights_changes_nothing():
    rows = graded("blunt", 300, signals=2)
    weight = 1.0 + np.arange(300) % 4
    small, large = (fit(replace(rows, weight=scale * weight)).map for scale in (1e-3, 1.0))
    assert small(rows.signals) == pytest.approx(large(rows.signals))


def test_an_isotonic_curve_is_scikit_learns():
    rows = graded("coarse", 1500)
    fitted = isotonic(rows, logistic(rows, (0,), 1.0))
    score = fitted.score(rows.signals)
    theirs = IsotonicRegression(y_min=0, y_max=1).fit(score, rows.correct)
    assert fitted(rows.signals) == pytest.approx(theirs.predict(score), abs=1e-9)


def test_a_signal_that_would_count_backwards_is_dropped():
    signals = np.random.default_rng(1).random((800, 2))
    odds = log_odds(signals)
    correct = np.random.default_rng(2).random(800) < probability(odds[:, 0] - odds[:, 1])
    rows = Graded(signals, correct, np.arange(800))
    fitted = logistic(rows, (0, 1), 1.0)
    assert fitted.weights[0] > 0.5
    assert fitted.weights[1] == 0
    assert logistic(rows, (1,), 1.0).weights == (0, 0)


def test_a_missing_signal_has_a_weight_of_its_own():
    rows = graded("misled", 3000)
    fitted = logistic(rows, (0, 1, 2, 3), 1.0)
    assert fitted.missing[0] == 0
    assert all(weight != 0 for weight in fitted.missing[1:])


@pytest.mark.parametrize("population", POPULATIONS)
def test_fitted_maps_make_confidences_truer_on_new_answers(population):
    fitted, new = fit(graded(population, 600)).map, graded(population, 20_000, seed=1)
    assert isinstance(fitted, Logistic)
    assert brier(fitted(new.signals), new.correct) < brier(new.signals[:, 0], new.correct) - 0.005


def test_a_raw_number_that_is_true_already_is_kept():
    rng = np.random.default_rng(3)
    p = rng.random(400)
    fitted = fit(Graded(p[:, None], rng.random(400) < p, np.arange(400)))
    assert fitted.map == Identity(0)
    assert fitted.brier == fitted.raw_brier


def test_an_isotonic_curve_needs_a_thousand_rows_and_has_to_win():
    """A step that no logistic map can follow."""
    rng = np.random.default_rng(4)
    p = rng.random(3000)
    correct = rng.random(3000) < np.where(p < 0.5, 0.1, np.where(p < 0.6, 0.9, 0.92))
    rows = Graded(p[:, None], correct, np.arange(3000))
    assert isinstance(fit(rows).map, Isotonic)
    assert isinstance(fit(rows.at(np.arange(900))).map, Logistic)
    assert isinstance(fit(graded("sharp", 3000)).map, Logistic)


@pytest.mark.parametrize("correct", [np.zeros(60, dtype=bool), np.ones(60, dtype=bool)])
def test_rows_of_one_class_teach_nothing(correct):
    assert fit(Graded(np.random.default_rng(0).random((60, 2)), correct, np.arange(60))).map == Identity(0)


def test_out_of_fold_confidences_come_from_maps_that_never_saw_the_problem():
    """Verdicts turned over in one fold change nothing about its own confidences."""
    rows = graded("blunt", 300, signals=1)
    rows = Graded(rows.signals, rows.correct, np.arange(300) // 2)
    before, fold = cross_fitted(rows), fold_of(rows.problem, 10)
    turned = Graded(rows.signals, np.where(fold == 3, ~rows.correct, rows.correct), rows.problem)
    after = cross_fitted(turned)
    assert after[fold == 3] == pytest.approx(before[fold == 3])
    assert (after[fold != 3] != before[fold != 3]).any()
    assert all(not set(rows.problem[a]) & set(rows.problem[b]) for a, b in held_out(rows.problem, fold))


def noise(sets, n=100, signals=20, a=0.2):
    """Sets whose answers are wrong at just above a whatever the signals say: every certificate is false."""
    rng = np.random.default_rng(9)
    for _ in range(sets):
        answers = just_above(a, n, rng, signals=signals)
        yield Graded(answers.signals, answers.correct, np.arange(n))


def surest_wrong(rows, column, first=20):
    """How many of the surest answers by a signal are wrong: what somebody looks at who chooses among signals."""
    return int((~rows.correct)[np.argsort(-rows.signals[:, column])[:first]].sum())


def best_signal(rows):
    return min(range(rows.signals.shape[1]), key=lambda column: surest_wrong(rows, column))


def certified(confidence, rows, a=0.2):
    return certify(confidence, ~rows.correct, a).threshold is not None


def too_many(false, sets):
    return binomtest(false, sets, 0.1, alternative="greater").pvalue < 1e-6


def within_delta(false, sets):
    return binomtest(false, sets, 0.1, alternative="greater").pvalue > 0.001


def test_choosing_signals_on_the_rows_that_certify_is_caught():
    sets = 150
    assert too_many(sum(certified(rows.signals[:, best_signal(rows)], rows) for rows in noise(sets)), sets)


def test_choosing_signals_on_other_problems_holds():
    sets, false = 150, 0
    for rows in noise(sets):
        fitting = split(rows.problem, FIT_SHARE)
        rest = rows.at(~fitting)
        false += certified(rest.signals[:, best_signal(rows.at(fitting))], rest)
    assert within_delta(false, sets)


def test_fitting_on_the_rows_that_certify_is_caught_and_on_others_holds():
    sets, inside, outside = 40, 0, 0
    every = tuple(range(20))
    for rows in noise(sets):
        inside += certified(logistic(rows, every, 10.0)(rows.signals), rows)
        fitting = split(rows.problem, FIT_SHARE)
        rest = rows.at(~fitting)
        outside += certified(logistic(rows.at(fitting), every, 10.0)(rest.signals), rest)
    assert too_many(inside, sets)
    assert within_delta(outside, sets)
