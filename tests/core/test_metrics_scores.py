"""Each figure against its definition and against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from demur.core.metrics import Rows, scores, tally

ROWS = st.lists(st.tuples(st.integers(0, 20).map(lambda k: k / 20), st.booleans()), min_size=2, max_size=80)


def of(pairs):
    p, v = zip(*pairs, strict=True)
    return np.array(p), np.array(v), tally(Rows.of(p, v))


@settings(max_examples=100, deadline=None)
@given(ROWS.filter(lambda rows: len({v for _, v in rows}) == 2))
def test_scikit_learn_agrees(pairs):
    p, v, t = of(pairs)
    assert scores.auc(t) == pytest.approx(roc_auc_score(v, p))
    assert scores.brier(t) == pytest.approx(brier_score_loss(v, p))
    clipped = np.clip(p, 1e-6, 1 - 1e-6)
    assert scores.nll(t) == pytest.approx(log_loss(v, clipped))


@settings(max_examples=100, deadline=None)
@given(ROWS)
def test_plain_means_agree_with_their_definitions(pairs):
    p, v, t = of(pairs)
    assert scores.accuracy(t) == pytest.approx(v.mean())
    assert scores.mean_confidence(t) == pytest.approx(p.mean())
    assert scores.abstention_accuracy(t) == pytest.approx((v == (p >= 0.5)).mean())


@settings(max_examples=100, deadline=None)
@given(ROWS)
def test_ece_bins_are_closed_on_the_left(pairs):
    p, v, t = of(pairs)
    bins = [np.flatnonzero((p >= k / 10) & ((p < (k + 1) / 10) | (k == 9))) for k in range(10)]
    expected = sum(abs((v[b] - p[b]).sum()) for b in bins) / len(p)
    assert scores.ece10(t) == pytest.approx(expected)


def test_snr_gain_is_the_integral_of_the_paper():
    rng = np.random.default_rng(1)
    p = np.round(rng.random(400), 2)
    v = rng.random(400) < p
    t = (np.arange(1000) + 0.5) / 1000
    answered = p[:, None] >= t
    acc, hal = (v[:, None] & answered).mean(), (~v[:, None] & answered).mean()
    gain = math.log(acc / hal) - math.log(v.mean() / (~v).mean())
    assert scores.snr_gain(tally(Rows.of(p, v))) == pytest.approx(gain)


def test_the_log_likelihood_clips_certainty():
    assert scores.nll(tally(Rows.of([1.0], [0]))) == pytest.approx(-math.log(1e-6))
    assert scores.nll(tally(Rows.of([0.0], [0]))) == pytest.approx(-math.log(1 - 1e-6))


def test_rows_without_a_confidence_count_in_accuracy_alone():
    t = tally(Rows.of([0.9, None, None, None], [1, 0, 0, 1]))
    assert scores.accuracy(t) == 0.5
    assert scores.brier(t) == pytest.approx(0.01)
    assert scores.mean_confidence(t) == pytest.approx(0.9)


def test_undefined_is_nan_and_infinite_is_infinite():
    assert np.isnan(scores.auc(tally(Rows.of([0.2, 0.3], [1, 1]))))
    assert np.isnan(scores.snr_gain(tally(Rows.of([0.2, 0.3], [0, 0]))))
    assert np.isnan(scores.brier(tally(Rows.of([None], [1]))))
    assert scores.snr_gain(tally(Rows.of([0.2, 0.0], [1, 0]))) == math.inf
