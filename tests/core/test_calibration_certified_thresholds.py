"""Exact tails and certified thresholds, against scipy.stats, MAPIE and counting by hand."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from mapie.risk_control import BinaryClassificationController, control_fwer
from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value
from scipy.stats import binom, binomtest

from demur.core.calibration.binomial import least_answers, tail, upper_bound
from demur.core.calibration.certified_thresholds import (
    certify,
    hypotheses,
    ranks,
    smallest_max_error,
    spent,
)
from demur.core.calibration.populations import POPULATIONS, draw


def test_tails_are_those_of_the_binomial_distribution():
    wrong, answered = np.array([0, 1, 5, 40]), np.array([10, 40, 100, 40])
    assert tail(wrong, answered, 0.1) == pytest.approx(binom.cdf(wrong, answered, 0.1))
    assert tail(0, 0, 0.1) == 1


@pytest.mark.parametrize(("wrong", "answered"), [(0, 22), (1, 38), (7, 90), (30, 30), (0, 1)])
def test_the_upper_bound_is_clopper_and_pearsons(wrong, answered):
    exact = binomtest(wrong, answered, alternative="less").proportion_ci(confidence_level=0.9, method="exact").high
    assert upper_bound(wrong, answered, 0.1) == pytest.approx(exact)
    if wrong < answered:
        assert tail(wrong, answered, float(exact)) == pytest.approx(0.1)


def test_the_fewest_answers_for_a_certificate():
    rates = 0.05, 0.1, 0.2
    assert [least_answers(a, 0.1, errors=0) for a in rates] == [45, 22, 11]
    assert [least_answers(a, 0.1) for a in rates] == [77, 38, 18]
    assert least_answers(0.0005, 0.05) == next(n for n in range(9000, 10000) if binom.cdf(1, n, 0.0005) <= 0.05)
    assert binom.cdf(1, least_answers(1e-7, 0.1), 1e-7) <= 0.1
    with pytest.raises(ValueError, match="max_error"):
        least_answers(1.0, 0.1)


def test_ranks_are_fixed_by_the_number_of_answers():
    assert ranks(200, 0.1, 0.1)[0].tolist() == [39, *range(40, 201, 10)]
    assert ranks(50, 0.1, 0.1)[0].tolist() == [38, 40, 43, 45, 48, 50]
    assert ranks(37, 0.1, 0.1)[0].tolist() == []
    assert ranks(30, 0.2, 0.1, step=0.4)[0].tolist() == [18, 24, 30]


@pytest.mark.parametrize("n", [38, 60, 152, 200, 500, 5000])
@pytest.mark.parametrize("a", [0.05, 0.1, 0.2])
def test_a_tenth_of_delta_is_kept_for_a_quarter_of_the_answers(n, a):
    at, share = ranks(n, a, 0.1)
    if not len(at):
        assert n < least_answers(a, 0.1)
    elif math.ceil(n / 4) <= least_answers(a, 0.1):  # too late to begin again
        assert share.tolist() == [1.0, *[0.0] * (len(at) - 1)]
        assert at[0] == least_answers(a, 0.1)
    else:
        assert (at[0], share[0]) == (least_answers(a, 0.09), 0.9)
        again = int(np.flatnonzero(at >= n / 4)[0])
        assert (share[again], share.sum()) == (pytest.approx(0.1), pytest.approx(1))


def test_what_fails_at_the_top_is_certified_further_down():
    """The surest answers are slips, as of a model that states 99 % for them; all below them are right."""
    wrong = np.arange(600) < 4
    assert tail(4, 39, 0.1) > 0.1
    found = certify(np.linspace(1, 0, 600), wrong, 0.1)
    assert (found.answered, found.wrong) == (600, 4)


def test_testing_goes_on_after_a_failure_at_what_is_kept_alone():
    n = 600
    at, _ = ranks(n, 0.1, 0.1)
    place = int(np.flatnonzero(at >= n / 4)[0])
    allowed = [int((tail(np.arange(99), at[place], 0.1) <= level).sum()) - 1 for level in (0.1, 0.01)]
    assert allowed[0] > allowed[1]
    for errors, found in ((allowed[1], True), (allowed[1] + 1, False)):
        wrong = np.arange(n) < errors
        wrong[at[place] :] = True
        certificate = certify(np.linspace(1, 0, n), wrong, 0.1)
        assert (certificate.threshold is not None) is found
        assert not found or certificate.answered == at[place]


def by_hand(confidence, wrong, a, delta):
    """Testing written out: the last threshold that passed, or None."""
    served, level = None, 0.0
    ranked = sorted(confidence, reverse=True)
    shares = {}  # by threshold: ranks within a tie are one test
    for rank, share in zip(*(part.tolist() for part in ranks(len(confidence), a, delta)), strict=True):
        shares[ranked[rank - 1]] = shares.get(ranked[rank - 1], 0) + share
    for t, share in shares.items():
        level += delta * share
        answered = [w for p, w in zip(confidence, wrong, strict=True) if p >= t]
        if binom.cdf(sum(answered), len(answered), a) > level:
            level = 0.0
        else:
            served = (t, len(answered), sum(answered))
    return served


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize(("a", "delta"), [(0.05, 0.1), (0.1, 0.1), (0.2, 0.05)])
def test_the_certified_threshold_is_the_one_found_by_hand(population, a, delta):
    for seed in range(3):
        answers = draw(POPULATIONS[population], 400, np.random.default_rng(seed))
        confidence, wrong = answers.signals[:, 0], ~answers.correct
        found, expected = certify(confidence, wrong, a, delta), by_hand(confidence, wrong, a, delta)
        assert (found.threshold is None) == (expected is None)
        if expected is not None:
            assert (found.threshold, found.answered, found.wrong) == expected
            assert found.coverage == found.answered / 400
            assert found.reason is None


def test_sets_are_tested_together_as_they_are_one_by_one():
    answers = draw(POPULATIONS["coarse"], 3000, np.random.default_rng(5))
    p, v = answers.signals[:, 0].reshape(10, 300), ~answers.correct.reshape(10, 300)
    together = hypotheses(p, v, 0.2)
    for row, last in enumerate(together.last_rejected(0.1)):
        alone = certify(p[row], v[row], 0.2)
        assert (alone.threshold is not None) == (last >= 0)
        if last >= 0:
            assert alone.threshold == together.threshold[row, last]


def test_a_threshold_takes_all_answers_of_its_tie():
    confidence = np.repeat([0.9, 0.8], [30, 170])
    wrong = np.zeros(200, dtype=bool)
    assert certify(confidence, wrong, 0.1).answered == 200
    wrong[30:] = True
    found = certify(confidence, wrong, 0.1)
    assert (found.threshold, found.answered, found.wrong) == (None, 200, 170)


def test_a_tie_beyond_the_place_of_the_second_beginning_has_all_of_delta():
    a, delta = 0.1, 0.1

    def allowed(answered, level):
        return int((tail(np.arange(answered + 1), answered, a) <= level).sum()) - 1

    tied = next(k for k in range(100, 400) if allowed(k, delta) > allowed(k, 0.9 * delta))
    confidence = np.repeat([0.9, 0.1], [tied, 400 - tied])
    for errors, found in ((allowed(tied, delta), True), (allowed(tied, delta) + 1, False)):
        wrong = (np.arange(400) < errors) | (np.arange(400) >= tied)
        certificate = certify(confidence, wrong, a, delta)
        assert (certificate.threshold is not None, certificate.answered, certificate.wrong) == (found, tied, errors)
        assert found or f"only {errors - 1} or fewer would be certain" in (certificate.reason or "")


def test_answers_without_a_confidence_are_never_served_and_lower_the_coverage():
    confidence = np.r_[np.linspace(0.5, 1, 100), np.full(100, np.nan)]
    found = certify(confidence, np.r_[np.zeros(100), np.ones(100)], 0.1)
    assert (found.threshold, found.answered, found.wrong, found.coverage) == (0.5, 100, 0, 0.5)
    nothing = certify(np.full(200, np.nan), np.zeros(200), 0.1)
    assert nothing.threshold is None
    assert "too few" in (nothing.reason or "")


def test_nothing_certified_says_why_and_what_would_help():
    few = certify(np.linspace(0, 1, 37), np.zeros(37), 0.1)
    assert few.threshold is None
    assert "37 graded answers" in (few.reason or "")
    assert "at least 38" in (few.reason or "")
    silent = certify(np.r_[np.linspace(0, 1, 38), np.full(162, np.nan)], np.zeros(200), 0.1)
    assert (silent.threshold, silent.answered) == (None, 0)
    assert "38 graded answers with a confidence are too few" in (silent.reason or "")
    assert "at least 39" in (silent.reason or "")
    bad = certify(np.linspace(1, 0, 200), np.arange(200) < 5, 0.1)
    assert bad.threshold is None
    assert "5 of the 39" in (bad.reason or "")
    assert "(13 %); only 1 or fewer would be certain" in (bad.reason or "")


def test_levels_together_share_delta_and_looks_halve_it():
    assert spent(0.1) == 0.1
    assert spent(0.1, levels=4) == 0.025
    assert sum(spent(0.1, look=k) for k in range(1, 60)) == pytest.approx(0.1)
    assert spent(0.1, levels=2, look=1) == 0.025
    with pytest.raises(ValueError, match="look"):
        spent(0.1, look=-1)


def test_the_smallest_error_rate_is_the_first_with_a_certificate():
    answers = draw(POPULATIONS["misled"], 500, np.random.default_rng(3))
    p, v = answers.signals[:, 0], ~answers.correct
    least = smallest_max_error(lambda rate: certify(p, v, rate))
    assert least is not None
    assert certify(p, v, least).threshold is not None
    assert all(certify(p, v, round(a, 2)).threshold is None for a in np.arange(0.01, least - 1e-9, 0.01))
    assert smallest_max_error(lambda rate: certify(p[:1], v[:1], rate)) is None


@pytest.mark.parametrize(
    ("confidence", "wrong", "words"),
    [([0.5, 1.2], [0, 1], "outside"), ([0.5], [0, 1], "one shape"), ([0.5], [0.5], "true or false")],
)
def test_rows_that_are_none_are_refused(confidence, wrong, words):
    with pytest.raises(ValueError, match=words):
        certify(confidence, wrong, 0.1)


def test_mapie_bounds_the_exact_tail_by_bentkus():
    """MAPIE's p-value is the smaller of Hoeffding's and e times the exact tail, so it is never below the exact one."""
    wrong, answered = np.arange(0, 30, 3), 200
    for rate in (0.05, 0.1, 0.2):
        theirs = compute_hoeffding_bentkus_p_value(wrong / answered, answered, np.array([rate]))[:, 0]
        exact = tail(wrong, answered, rate)
        assert (theirs >= exact - 1e-12).all()
        assert (theirs <= np.e * exact + 1e-12).all()


@pytest.mark.parametrize("population", POPULATIONS)
def test_mapie_stops_at_the_same_place_with_all_of_delta_on_the_first(population):
    for seed in range(5):
        answers = draw(POPULATIONS[population], 500, np.random.default_rng(seed))
        tests = hypotheses(answers.signals[:, 0], ~answers.correct, 0.2)
        sequence = replace(tests, share=np.eye(len(tests.share))[0])
        theirs = control_fwer(tests.p_value, 0.1, "fixed_sequence")
        assert list(theirs) == list(range(int(sequence.last_rejected(0.1)) + 1))


def test_mapie_never_answers_more():
    """Its controller over the same thresholds, with its wider p-values: valid, and never above our coverage."""
    certified = 0
    for seed in range(8):
        answers = draw(POPULATIONS["sharp"], 400, np.random.default_rng(seed))
        p, v = answers.signals[:, 0], ~answers.correct
        tests = hypotheses(p, v, 0.1)
        controller = BinaryClassificationController(
            lambda x: np.column_stack([1 - x[:, 0], x[:, 0]]),
            "precision",
            target_level=0.9,
            list_predict_params=tests.threshold,
            fwer_method="fixed_sequence",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            controller.calibrate(p[:, None], answers.correct.astype(int))
        valid = np.ravel(controller.valid_predict_params)
        ours = certify(p, v, 0.1).threshold
        if len(valid):
            certified += 1
            assert ours is not None
            assert ours <= valid.min()
    assert certified
