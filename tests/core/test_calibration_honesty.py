"""Rules without which a certificate would be false too often, each with the simulation that shows it.

A certificate is false where the error rate at its threshold is above what it promises; at delta = 0.1 that may happen in
one set of ten. Every rule is tested twice: with it, false certificates stay within delta; without it, the same
simulation finds too many, so the test can tell.
"""

import numpy as np
import pytest
from scipy.stats import binomtest

from demur.core.calibration.binomial import tail
from demur.core.calibration.certified_thresholds import certify, hypotheses, spent
from demur.core.calibration.claims import certify_claims, error_of_claims
from demur.core.calibration.folds import one_a_problem
from demur.core.calibration.populations import POPULATIONS, Truth, draw, just_above

DELTA = 0.1


def within_delta(false, sets, delta=DELTA):
    """Whether so many false certificates are compatible with at most delta: an exact one-sided test at 0.001."""
    return binomtest(int(false), sets, delta, alternative="greater").pvalue > 0.001


def clearly_above_delta(false, sets, delta=DELTA):
    return binomtest(int(false), sets, delta, alternative="greater").pvalue < 1e-6


def worst_case(a, n, sets, seed=0):
    answers = just_above(a, n * sets, np.random.default_rng(seed))
    return answers.signals[:, 0].reshape(sets, n), ~answers.correct.reshape(sets, n)


@pytest.mark.parametrize(("a", "n"), [(0.05, 500), (0.1, 200), (0.1, 1000), (0.2, 500)])
def test_sequential_testing_holds_where_every_certificate_is_false(a, n):
    sets = 1000
    confidence, wrong = worst_case(a, n, sets)
    assert within_delta((hypotheses(confidence, wrong, a).last_rejected(DELTA) >= 0).sum(), sets)


@pytest.mark.parametrize("steps", [2, 5])
def test_sequential_testing_holds_where_confidences_are_tied(steps):
    """Ties decide where testing goes on, so which hypotheses are one hypothesis depends on the draw."""
    sets, n, a = 1000, 500, 0.2
    confidence, wrong = worst_case(a, n, sets, seed=1)
    tied = np.ceil(steps * confidence) / steps
    assert within_delta((hypotheses(tied, wrong, a).last_rejected(DELTA) >= 0).sum(), sets)


def test_searching_all_thresholds_uncorrected_is_caught():
    sets, n, a = 1000, 500, 0.1
    confidence, wrong = worst_case(a, n, sets)
    counts = np.cumsum(np.take_along_axis(wrong, np.argsort(-confidence, axis=1), axis=1), axis=1)
    any_threshold = (tail(counts, np.arange(1, n + 1), a) <= DELTA).any(axis=1)
    assert clearly_above_delta(any_threshold.sum(), sets)


@pytest.mark.parametrize("name", POPULATIONS)
def test_sequential_testing_holds_in_every_population(name):
    sets, n = 400, 300
    rng = np.random.default_rng(11)
    pool, answers = draw(POPULATIONS[name], 200_000, rng), draw(POPULATIONS[name], sets * n, rng)
    truth = Truth.of(pool.signals[:, 0], pool.error)
    for a in (0.1, 0.2):
        tests = hypotheses(answers.signals[:, 0].reshape(sets, n), ~answers.correct.reshape(sets, n), a)
        last = tests.last_rejected(DELTA)
        risk, _ = truth.at(np.take_along_axis(tests.threshold, np.maximum(last, 0)[:, None], axis=1)[:, 0])
        assert within_delta(((last >= 0) & (risk > a)).sum(), sets)


def grown(a, sets, most=500, every=25):
    """Sets of answers, and how many of them are graded at each look."""
    confidence, wrong = worst_case(a, most, sets, seed=2)
    return confidence, wrong, range(50, most + 1, every)


def ever_certified(a, sets, delta_of_look):
    confidence, wrong, looks = grown(a, sets)
    found = np.zeros(sets, dtype=bool)
    for k, n in enumerate(looks, start=1):
        found |= hypotheses(confidence[:, :n], wrong[:, :n], a, delta_of_look(k)).last_rejected(delta_of_look(k)) >= 0
    return found.sum()


def test_grading_until_it_passes_holds_when_each_look_pays():
    assert within_delta(ever_certified(0.1, 400, lambda k: spent(DELTA, look=k)), 400)


def test_grading_until_it_passes_for_free_is_caught():
    assert clearly_above_delta(ever_certified(0.1, 400, lambda k: DELTA), 400)


def dependent_claims(rng, problems, a, claims=12):
    """Claims that are right or wrong, sure or unsure with their answer; the rate of wrong ones is just above a."""
    wrong = rng.random(problems) < a + 0.001
    confidence = 0.9 * np.repeat(rng.random(problems), claims) + 0.01 * rng.random(problems * claims)
    return confidence, np.repeat(wrong, claims), np.repeat(np.arange(problems), claims)


def test_one_claim_of_each_problem_holds():
    rng, sets = np.random.default_rng(4), 300
    found = [certify_claims(*dependent_claims(rng, 100, 0.1), 0.1, seed=i).threshold is not None for i in range(sets)]
    assert within_delta(sum(found), sets)


def test_counting_all_claims_is_caught():
    rng, sets = np.random.default_rng(4), 300
    found = [certify(*dependent_claims(rng, 100, 0.1)[:2], 0.1).threshold is not None for _ in range(sets)]
    assert clearly_above_delta(sum(found), sets)


def test_counting_all_samples_of_a_problem_is_caught_and_one_each_holds():
    rng, sets = np.random.default_rng(6), 300
    every, one = 0, 0
    for i in range(sets):
        p, v, problem = dependent_claims(rng, 60, 0.2, claims=8)
        rows = one_a_problem(problem, seed=i)
        every += certify(p, v, 0.2).threshold is not None
        one += certify(p[rows], v[rows], 0.2).threshold is not None
    assert clearly_above_delta(every, sets)
    assert within_delta(one, sets)


def test_all_levels_together_hold_at_delta_only_when_they_share_it():
    """Three levels on rows whose error is above all of them, each tested on rows of its own: the worst for Bonferroni."""
    sets, levels = 1500, (0.1, 0.15, 0.2)

    def any_false(delta):
        found = np.zeros(sets, dtype=bool)
        for seed, a in enumerate(levels):
            confidence, wrong = worst_case(a, 200, sets, seed=20 + seed)
            found |= hypotheses(confidence, wrong, a, delta).last_rejected(delta) >= 0
        return found.sum()

    assert within_delta(any_false(spent(DELTA, levels=len(levels))), sets)
    assert clearly_above_delta(any_false(DELTA), sets)


def test_a_certificate_for_claims_speaks_of_problems():
    """Two of the three problems assert; one is half wrong: the mean over problems is 0.25, over claims 1/6."""
    confidence, wrong = np.array([0.9, 0.8, 0.9, 0.9, 0.9, 0.9, 0.1]), np.array([1, 0, 0, 0, 0, 0, 1], dtype=bool)
    problem = np.array(["a", "a", "b", "b", "b", "b", "c"])
    assert error_of_claims(confidence, wrong, problem, 0.5) == pytest.approx(0.25)
    assert np.isnan(error_of_claims(confidence, wrong, problem, 0.95))


def test_claims_are_counted_by_problem():
    rng = np.random.default_rng(8)
    problem = rng.permutation(np.repeat(np.arange(200), rng.integers(1, 6, 200)))
    confidence = rng.random(len(problem))
    found = certify_claims(confidence, np.zeros(len(problem)), problem, 0.1)
    assert found.answered == len({int(p) for p, c in zip(problem, confidence, strict=True) if c >= found.threshold})
    assert found.coverage == found.answered / 200
