"""The e-process: its formula, its false alarms, and what it notices."""

from dataclasses import asdict

import numpy as np
import pytest

from demur.core.calibration.drift import (
    SLACK,
    Drift,
    Overconfidence,
    alpha_of_refit,
    average,
    bet,
    false_alarms,
    peaks,
    started,
    values,
    values_of_stated,
)

A = 0.1


def verdicts(*parts, seed=0, runs=400):
    """Sequences of wrong answers at (answers, rate) after one another."""
    rates = np.concatenate([np.full(n, rate) for n, rate in parts])
    return np.random.default_rng(seed).random((runs, len(rates))) < rates


def run(wrong):
    states = [Drift.start(A)]
    for verdict in wrong:
        states.append(states[-1].add(bool(verdict)))
    return states


def stakes(states):
    return [float(bet(np.array(s.errors / s.weight), A)) for s in states]


def test_the_recursion_is_the_mixture_over_starts():
    wrong = verdicts((60, 0.3), runs=1)[0]
    states = run(wrong)
    growth = 1 + np.array(stakes(states[:-1])) * (wrong - A)
    for t in range(len(wrong) + 1):
        begun = sum(started(s) * np.prod(growth[s - 1 : t]) for s in range(1, t + 1))
        later = 1 - sum(started(s) for s in range(1, t + 1))
        assert states[t].value == pytest.approx(begun + later)
    assert states[-1].peak == max(state.value for state in states)


def test_bets_come_from_the_past_and_cannot_ruin():
    states = run(verdicts((300, 0.9), runs=1)[0])
    assert all(0 <= stake <= 1 / A for stake in stakes(states))
    assert stakes(states)[0] == 0
    assert bet(np.array([0.05, 0.1, 1.0]), A).tolist() == pytest.approx([0, 0, 10])


def test_the_state_stays_as_small_as_it_began():
    state = Drift.start(A)
    fields = set(asdict(state))
    for verdict in verdicts((3000, 0.6), runs=1)[0]:
        state = state.add(bool(verdict))
    assert set(asdict(state)) == fields
    assert np.isfinite(list(asdict(state).values())).all()
    assert Drift(**asdict(state)) == state


def test_many_sequences_at_once_are_the_same_process():
    wrong = verdicts((120, 0.2), runs=5)
    assert peaks(wrong, A) == pytest.approx([run(one)[-1].peak for one in wrong])


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2])
def test_false_alarms_at_an_error_of_exactly_what_was_promised(alpha):
    """Looked at after each of 2,000 answers. Three standard errors of 1,000 runs are allowed for."""
    assert false_alarms(A, A, alpha) <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / 1000)


def test_watching_a_plain_test_would_ring_falsely():
    """What the mixture is for: an exact test at 0.05, looked at after every answer, rings in far more than 5 %."""
    from demur.core.calibration.binomial import tail

    wrong = verdicts((500, A), runs=200)
    counts, n = np.cumsum(wrong, axis=1), np.arange(1, 501)
    p_of_more = 1 - tail(counts - 1, n, A)
    assert (p_of_more <= 0.05).any(axis=1).mean() > 0.2


def test_a_late_rise_is_noticed():
    """1,000 good answers do not use up the wealth that a later drift needs."""
    assert (peaks(verdicts((1000, 0.08), (300, 0.25)), A) >= 20).mean() > 0.95
    assert (peaks(verdicts((1000, 0.08)), A) >= 20).mean() < 0.02


def test_an_alarm_that_has_rung_stays():
    state = Drift.start(A)
    while not state.alarm(0.05):
        state = state.add(True)
    while state.value >= 20:
        state = state.add(False)
    assert state.alarm(0.05)


def test_refits_and_several_processes_stay_within_one_alpha():
    assert sum(alpha_of_refit(0.05, k) for k in range(10_000)) == pytest.approx(0.05, rel=1e-3)
    assert average([1.0, 3.0]) == 2.0
    with pytest.raises(ValueError, match="average"):
        average([])
    with pytest.raises(ValueError, match="refits"):
        alpha_of_refit(0.05, -1)
    with pytest.raises(ValueError, match="max_error"):
        Drift.start(0.0)


def stated(rng, shape):
    return rng.beta(4, 1.5, shape).clip(0.1, 0.99)


def rings(paths, alpha):
    return np.max([np.asarray(path) for path in paths], axis=0) >= 1 / alpha


def test_stated_probabilities_are_tested_against_what_each_allows():
    """By hand: two answers at 0.9 with a slack of 0.05 may be wrong with 0.15 each."""
    state = Overconfidence.start(0.05).add(True, 0.9)
    assert state.value == pytest.approx(1.0)  # the first bet is 0: nothing is known yet
    excess = 0.85 / (10 * 0.5 ** (1 / 50) + 1)
    growth = 1 + excess / (0.15 * 0.85) * 0.85
    wealth = (0.5 + 1 / 6) * growth
    assert state.add(True, 0.9).value == pytest.approx(wealth + 1 / 3)
    assert state.add(True, 0.02) == state  # it may be wrong for sure
    with pytest.raises(ValueError, match="slack"):
        Overconfidence.start(1.0)


def test_many_sequences_of_stated_probabilities_are_the_same_process():
    rng = np.random.default_rng(3)
    p = stated(rng, (4, 80))
    wrong = rng.random(p.shape) < 0.5
    paths = np.array(list(values_of_stated(wrong, p, SLACK))).T
    for path, verdicts_of, confidences in zip(paths, wrong, p, strict=True):
        state = Overconfidence.start(SLACK)
        for value, verdict, confidence in zip(path, verdicts_of, confidences, strict=True):
            state = state.add(bool(verdict), float(confidence))
            assert state.value == pytest.approx(value)


@pytest.mark.parametrize("slack", [0.0, SLACK])
def test_false_alarms_where_confidences_are_too_high_by_all_that_is_allowed(slack):
    """Wrong with exactly 1 - p + slack; looked at after each of 1,500 answers, also as the mean with the promise's."""
    rng = np.random.default_rng(5)
    p = stated(rng, (600, 1500))
    wrong = rng.random(p.shape) < 1 - p + slack
    above = p >= 0.75
    error = (1 - p + slack)[above].mean() + 0.002
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)
    alone = list(values_of_stated(wrong, p, slack))
    assert rings(alone, 0.05).mean() <= limit
    promise = list(values(np.where(above, wrong, rng.random(p.shape) < error), error))
    both = [(first + second) / 2 for first, second in zip(alone, promise, strict=True)]
    assert rings(both, 0.05).mean() <= limit


def test_confidences_that_became_too_high_are_noticed_below_the_threshold_too():
    """What no promise speaks of: the surest answers stay as they were, the others become wrong."""
    rng = np.random.default_rng(6)
    p = stated(rng, (100, 1500))
    later = np.arange(1500) >= 500
    wrong = rng.random(p.shape) < np.where(later & (p < 0.8), np.minimum(1.3 - p, 1.0), 1 - p)
    assert rings(values_of_stated(wrong, p, SLACK), 0.05).mean() > 0.95
