"""Simulated answers: what is called their true error rate is the rate that is found."""

import numpy as np
import pytest

from demur.core.calibration.populations import POPULATIONS, Truth, draw, just_above


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_true_risk_is_the_rate_among_new_answers(name):
    population = POPULATIONS[name]
    pool, new = (draw(population, 200_000, np.random.default_rng(seed)) for seed in (0, 1))
    truth = Truth.of(pool.signals[:, 0], pool.error)
    for t in (0.3, 0.7, 0.95):
        risk, coverage = truth.at(np.array(t))
        answered = new.signals[:, 0] >= t
        assert float(coverage) == pytest.approx(answered.mean(), abs=0.005)
        assert float(risk) == pytest.approx((~new.correct)[answered].mean(), abs=0.006)


def test_the_oracle_is_the_best_threshold_there_is():
    pool = draw(POPULATIONS["coarse"], 5000, np.random.default_rng(2))
    p = pool.signals[:, 0]
    truth = Truth.of(p, pool.error)
    for a in (0.05, 0.1, 0.3):
        shares = [float((p >= t).mean()) for t in np.unique(p) if pool.error[p >= t].mean() <= a]
        assert truth.oracle(a) == pytest.approx(max(shares, default=0.0))
    assert Truth.of(p, np.ones(5000)).oracle(0.5) == 0


def test_answers_without_a_confidence_are_beyond_every_threshold():
    truth = Truth.of(np.array([0.9, np.nan, 0.5, np.nan]), np.array([0.0, 1.0, 0.5, 1.0]))
    risk, coverage = truth.at(np.array([0.95, 0.9, 0.0]))
    assert risk == pytest.approx([np.nan, 0.0, 0.25], nan_ok=True)
    assert coverage.tolist() == [0.0, 0.25, 0.5]
    assert truth.oracle(1.0) == 0.5


def test_the_raw_number_is_never_missing_and_other_signals_may_be():
    answers = draw(POPULATIONS["misled"], 20_000, np.random.default_rng(3))
    missing = np.isnan(answers.signals).mean(axis=0)
    assert missing[0] == 0
    assert missing[1:] == pytest.approx([0.1] * 3, abs=0.01)


def test_the_worst_case_is_worse_than_promised_at_every_threshold():
    answers = just_above(0.1, 50_000, np.random.default_rng(4))
    for t in (0.0, 0.5, 0.9):
        assert (~answers.correct)[answers.signals[:, 0] >= t].mean() == pytest.approx(0.101, abs=0.015)
