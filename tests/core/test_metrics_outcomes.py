"""Answers and abstentions over t, explicit-risk runs, and the four objectives."""

import math

import numpy as np
import pytest

from demur.core.metrics import (
    Estimate,
    RiskRow,
    Rows,
    RowsError,
    objectives,
    outcomes,
    resample,
    risk_outcomes,
    summarise,
    tally,
    threshold_grid,
    verbalized_outcomes,
)
from demur.core.metrics.objectives import adaptive_gain, risk_snr_gain
from demur.core.metrics.outcomes import midpoints, trapezoid


def test_a_tie_answers():
    o = outcomes(tally(Rows.of([0.2, 0.5, 0.5, 0.9], [0, 1, 0, 1])), np.array([0.0, 0.5, 0.51, 1.0]))
    assert o.right.tolist() == [2, 2, 1, 0]
    assert o.wrong.tolist() == [2, 1, 0, 0]
    assert o.could.tolist() == [0, 0, 1, 2]
    assert o.rest.tolist() == [0, 1, 2, 2]
    assert o.accuracy.tolist() == [0.5, 0.5, 0.25, 0]
    assert o.hallucination.tolist() == [0.5, 0.25, 0, 0]
    assert o.abstention.tolist() == [0, 0.25, 0.75, 1]
    assert np.array_equal(o.true_positive, [0.5, 2 / 3, 1, math.nan], equal_nan=True)
    assert np.array_equal(o.false_negative, [math.nan, 0, 1 / 3, 0.5], equal_nan=True)


def test_integrals_over_t_give_the_closed_form():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(200), 2)
    v = rng.random(200) < p
    t = tally(Rows.of(p, v))
    o = outcomes(t, midpoints())
    assert o.accuracy @ o.weight == pytest.approx((v * p).mean())
    assert o.hallucination @ o.weight == pytest.approx((~v * p).mean())


def test_trapezoid_weights_sum_to_one():
    assert trapezoid(np.array([0.0, 0.5, 1.0])).tolist() == [0.25, 0.5, 0.25]
    assert trapezoid(np.array([0.3])).tolist() == [1]
    assert trapezoid(np.array([0.0, 0.1, 0.4])) @ [0.0, 0.1, 0.4] == pytest.approx(0.2)


def checks_of(p, v, lost=None):
    rows = Rows.of(p, v)
    drawn = resample(rows)
    exact = outcomes(tally(rows), *threshold_grid())
    gain = summarise(rows, replicates=200).figures["snr_gain"]
    checks = objectives(exact, *verbalized_outcomes(drawn), snr_gain=gain, accuracy_lost=lost)
    return {check.name: check for check in checks}


def test_a_calibrated_model_passes_every_objective():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(4000), 2)
    checks = checks_of(p, rng.random(4000) < p, lost=Estimate(0.0, -0.01, 0.01))
    assert len({check.objective for check in checks.values()}) == 4
    assert all(check.passed for check in checks.values())
    assert all(check.conclusive for check in checks.values())


def test_an_overconfident_model_fails():
    rng = np.random.default_rng(0)
    p = rng.choice([0.95, 1.0], 2000)
    checks = checks_of(p, rng.random(2000) < 0.3, lost=Estimate(0.1, 0.05, 0.15))
    failed = {name for name, check in checks.items() if check.passed is False and check.conclusive}
    assert failed >= {
        "gain over a fixed stance",
        "accuracy lost",
        "hallucination at the last t",
        "TP short of t",
    }
    assert not checks["SNR-gain"].conclusive


def test_a_last_threshold_at_which_nothing_is_answered_passes_nothing():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(1000) * 0.9, 2)
    check = checks_of(p, rng.random(1000) < p)["hallucination at the last t"]
    assert check.passed is None
    assert check.figure.reason == "nothing is answered there"


def test_an_underconfident_model_abstains_too_much():
    rng = np.random.default_rng(0)
    checks = checks_of(np.full(1000, 0.1), rng.random(1000) < 0.9)
    assert checks["FN beyond t"].passed is False
    assert checks["TP short of t"].passed is True


def test_without_a_baseline_accuracy_kept_is_undefined():
    check = checks_of([0.2, 0.8, 0.4], [0, 1, 1])["accuracy lost"]
    assert check.passed is None
    assert check.figure.reason == "no baseline given"


def risk_rows(answer):
    """Ten problems at three thresholds; `answer(k, t)` is (abstained, correct)."""
    return [RiskRow(f"q{k}", 0, t, *answer(k, t)) for k in range(10) for t in (0.0, 0.5, 0.9)]


def test_explicit_risk_counts_by_threshold():
    o, drawn = risk_outcomes(risk_rows(lambda k, t: (k / 10 < t, k >= 4)), replicates=50)
    assert o.t.tolist() == [0.0, 0.5, 0.9]
    assert o.right.tolist() == [6, 5, 1]
    assert o.wrong.tolist() == [4, 0, 0]
    assert o.could.tolist() == [0, 1, 5]
    assert o.rest.tolist() == [0, 4, 4]
    assert drawn.right.shape == (50, 3)
    assert (drawn.n == 10).all()
    assert risk_snr_gain(o) > 0
    assert adaptive_gain(o) > 0


def test_an_answer_that_ignores_the_threshold_gains_nothing():
    o, _ = risk_outcomes(risk_rows(lambda k, t: (False, k >= 4)), replicates=5)
    assert risk_snr_gain(o) == pytest.approx(0)
    assert adaptive_gain(o) == pytest.approx(0)


def test_explicit_risk_refuses_bad_rows():
    with pytest.raises(RowsError, match="no rows"):
        risk_outcomes([])
    with pytest.raises(RowsError, match=r"risk_threshold must be in \[0, 1\]"):
        risk_outcomes([RiskRow("q", 0, 1.5, False, True)])
