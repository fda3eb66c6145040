"""The e-process: its formula, its false alarms, and what it notices."""

from dataclasses import asdict

import numpy as np
import pytest

from demur.core.calibration.drift import Drift, alpha_of_refit, average, bet, false_alarms, peaks, started

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
