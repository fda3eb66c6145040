"""Signals as features, and fitted maps as they are applied."""

import subprocess
import sys

import numpy as np
import pytest

from demur.core.calibration.maps import Identity, Isotonic, Logistic, trimmed
from demur.core.calibration.signals import features, log_odds, probability

NAN = float("nan")


def test_log_odds_and_probability_undo_each_other_inside_the_clip():
    p = np.linspace(0.005, 0.995, 41)
    assert probability(log_odds(p)) == pytest.approx(p)
    assert probability(log_odds(np.array([0.0, 1.0]))) == pytest.approx([0.005, 0.995])
    assert probability(np.array([-1e4, 1e4])).tolist() == [0.0, 1.0]


def test_a_missing_signal_is_an_indicator_and_no_number():
    found = features(np.array([[0.8, NAN], [NAN, 0.5]]))
    assert found == pytest.approx(np.array([[np.log(4), 0, 0, 1], [0, 0, 1, 0]]))


@pytest.mark.parametrize("values", [np.array([[0.5, 97.0]]), np.array([[-0.1]]), np.array([0.5, 0.5])])
def test_signals_that_are_no_probabilities_are_refused(values):
    with pytest.raises(ValueError, match=r"signal"):
        features(values)


def test_a_logistic_map_is_the_textbook_formula():
    fitted = Logistic(-1.0, (0.5, 2.0), (0.25, -0.75))
    odds = -1 + 0.5 * np.log(4) + 2 * np.log(1.5)
    assert fitted(np.array([[0.8, 0.6]]))[0] == pytest.approx(1 / (1 + np.exp(-odds)))
    assert fitted(np.array([[0.8, NAN]]))[0] == pytest.approx(1 / (1 + np.exp(1 - 0.5 * np.log(4) + 0.75)))


def test_only_an_answer_without_any_used_signal_has_no_confidence():
    values = np.array([[NAN, NAN], [0.3, NAN], [NAN, 0.3]])
    assert np.isnan(Logistic(0.0, (1.0, 1.0), (0.0, 0.0))(values)).tolist() == [True, False, False]
    assert np.isnan(Logistic(0.0, (1.0, 0.0), (0.0, 0.0))(values)).tolist() == [True, False, True]
    assert np.isnan(Identity(1)(values)).tolist() == [True, True, False]


@pytest.mark.parametrize(
    "fitted",
    [
        Identity(0),
        Logistic(0.3, (0.0, 1.5), (0.2, 0.1)),
        Isotonic(Logistic(0.0, (1.0, 0.5), (0.0, 0.0)), (0.2, 0.4, 0.9), (0.1, 0.1, 0.8)),
    ],
)
def test_no_map_falls_where_a_signal_rises(fitted):
    rng = np.random.default_rng(0)
    low = rng.random((500, 2))
    high = low + (1 - low) * rng.random((500, 2)) * (rng.random((500, 2)) < 0.5)
    before, after = fitted(low), fitted(high)
    assert (after >= before).all()
    assert ((before >= 0) & (before <= 1)).all()


def test_an_isotonic_curve_is_linear_between_its_points_and_flat_outside():
    curve = Isotonic(Logistic(0.0, (1.0,), (0.0,)), (0.25, 0.75), (0.1, 0.9))
    assert curve(np.array([[0.1], [0.25], [0.5], [0.9], [NAN]])) == pytest.approx(
        [0.1, 0.1, 0.5, 0.9, NAN], nan_ok=True
    )


def test_an_answer_alone_gets_the_number_it_has_among_others():
    """A threshold is the confidence of a graded answer: whoever ties with it has to pass it when served alone."""
    values = np.random.default_rng(3).random((4000, 4))
    values[values < 0.1] = NAN
    score = Logistic(0.1, (0.7, 0.3, 1.1, 0.9), (0.2, -0.1, 0.4, 0.3))
    for fitted in (score, Isotonic(score, (0.1, 0.5, 0.9), (0.05, 0.6, 0.97))):
        together = fitted(values)
        alone = np.array([fitted(row[None])[0] for row in values])
        other_layout = fitted(np.asfortranarray(values[::-1]))[::-1]
        assert np.array_equal(together, alone, equal_nan=True)
        assert np.array_equal(together, other_layout, equal_nan=True)


def test_a_trimmed_map_says_the_same_over_fewer_signals():
    values = np.random.default_rng(2).random((200, 3))
    values[values < 0.2] = NAN
    score = Logistic(0.4, (0.0, 1.5, 0.0), (0.0, 0.1, -0.3))
    for fitted in (score, Isotonic(score, (0.3, 0.8), (0.2, 0.9)), Identity(1)):
        smaller, columns = trimmed(fitted)
        assert columns == ((1,) if isinstance(fitted, Identity) else (1, 2))
        assert smaller(values[:, columns]) == pytest.approx(fitted(values), nan_ok=True)
    assert trimmed(Logistic(0.4, (0.0, 0.0), (0.0, 0.0))) == (Logistic(0.4, (0.0,), (0.0,)), (0,))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Logistic(0.0, (-0.1,), (0.0,)), "negative"),
        (lambda: Logistic(NAN, (0.1,), (0.0,)), "finite"),
        (lambda: Logistic(0.0, (0.1, 0.2), (0.0,)), "2 weights"),
        (lambda: Isotonic(Logistic(0.0, (1.0,), (0.0,)), (0.2, 0.2), (0.1, 0.3)), "rise"),
        (lambda: Isotonic(Logistic(0.0, (1.0,), (0.0,)), (0.2, 0.4), (0.3, 0.1)), "rise"),
        (lambda: Isotonic(Logistic(0.0, (1.0,), (0.0,)), (0.2, 1.4), (0.1, 0.3)), "outside"),
        (lambda: Logistic(0.0, (1.0,), (0.0,))(np.array([[0.5, 0.5]])), "takes 1 signals"),
    ],
)
def test_a_map_that_could_mislead_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_applying_a_map_and_watching_for_drift_need_numpy_alone():
    code = (
        "import sys, demur.core.calibration.maps, demur.core.calibration.drift, demur.core.calibration.folds;"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'scipy', 'sklearn', 'mapie'}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
