import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.core.reward_rules import binary, brier, cross_entropy, explicit_risk, overlong_penalty


def prior_average(confidence: float, valid: bool, cdf: Callable[[float], float], *, cells: int = 2000) -> float:
    """R_u, the bounded risk reward averaged over any prior of thresholds with the distribution function `cdf`.

    R_u = 2 v u(p) + 2 ∫_p^1 t du(t) - 1, here integrated by parts, 1 + 2(v - p) u(p) - 2 ∫_p^1 u(t) dt, so that
    priors with atoms work too; the last integral by the midpoint rule on `cells` cells. Proper for every prior, and
    strictly proper where the prior has positive density. `cdf` must rise to 1 at 1.
    """
    width = (1.0 - confidence) / cells
    area = width * math.fsum(cdf(confidence + (i + 0.5) * width) for i in range(cells))
    return 1.0 + 2.0 * (valid - confidence) * cdf(confidence) - 2.0 * area


GRID = [i / 200 for i in range(201)]
EPS = 0.01
probabilities = st.floats(0.0, 1.0)


def expected(score: Callable[[float, bool], float], p: float, q: float) -> float:
    """Expected score of stating p when the answer is right with probability q."""
    return q * score(p, True) + (1 - q) * score(p, False)


def uniform_cdf(t: float) -> float:
    return t


def logit_cdf(t: float) -> float:
    """Density proportional to 1/(t(1-t)) on (EPS, 1-EPS)."""
    t = min(max(t, EPS), 1 - EPS)
    return 0.5 + math.log(t / (1 - t)) / (2 * math.log((1 - EPS) / EPS))


@pytest.mark.parametrize("q", GRID[::5])
def test_honest_confidence_maximises_expected_brier(q: float) -> None:
    scores = [expected(brier, p, q) for p in GRID]
    assert GRID[scores.index(max(scores))] == q
    assert sorted(scores)[-2] < max(scores)


@pytest.mark.parametrize("q", [q for q in GRID[::5] if EPS <= q <= 1 - EPS])
def test_honest_confidence_maximises_expected_cross_entropy(q: float) -> None:
    scores = [expected(cross_entropy, p, q) for p in GRID]
    assert GRID[scores.index(max(scores))] == q
    assert sorted(scores)[-2] < max(scores)


@given(p=probabilities, q=probabilities)
def test_no_confidence_beats_the_honest_one_under_brier(p: float, q: float) -> None:
    assert expected(brier, p, q) <= expected(brier, q, q) + 1e-12


@given(p=probabilities, q=st.floats(EPS, 1 - EPS))
def test_no_confidence_beats_the_honest_one_under_cross_entropy(p: float, q: float) -> None:
    assert expected(cross_entropy, p, q) <= expected(cross_entropy, q, q) + 1e-12


@given(p=probabilities, valid=st.booleans())
def test_brier_is_the_uniform_average_of_the_risk_reward(p: float, valid: bool) -> None:
    assert prior_average(p, valid, uniform_cdf) == pytest.approx(brier(p, valid), abs=1e-9)


@given(p=probabilities, valid=st.booleans())
def test_cross_entropy_is_the_logit_average_of_the_risk_reward(p: float, valid: bool) -> None:
    # The distribution function has a kink at 1 - EPS, which costs the midpoint rule some digits.
    assert prior_average(p, valid, logit_cdf) == pytest.approx(cross_entropy(p, valid, EPS), abs=2e-6)


@given(p=probabilities, valid=st.booleans())
def test_an_average_over_one_threshold_is_the_reward_at_that_threshold(p: float, valid: bool) -> None:
    t = 0.4

    def atom(u: float) -> float:
        return float(u >= t)

    average = prior_average(p, valid, atom, cells=20_000)
    assert average == pytest.approx(explicit_risk(valid, t, abstained=p < t, bounded=True), abs=1e-4)


@given(p=probabilities, valid=st.booleans())
def test_closed_forms_stay_in_range_and_reward_being_right(p: float, valid: bool) -> None:
    for rule in (brier, cross_entropy):
        assert -1.0 <= rule(p, valid) <= 1.0
        assert rule(p, True) >= rule(p, False)


def test_brier_is_validity_minus_squared_error() -> None:
    assert brier(0.3, True) == pytest.approx(1 - 0.7**2)
    assert brier(0.3, False) == pytest.approx(-(0.3**2))


def test_cross_entropy_is_flat_outside_its_prior() -> None:
    assert cross_entropy(0.0, True) == cross_entropy(EPS, True) == 0.0
    assert cross_entropy(1.0, False) == cross_entropy(1 - EPS, False) == pytest.approx(-1.0)
    assert cross_entropy(1.0, True) == pytest.approx(1.0)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("q", [i / 20 for i in range(21)])
@pytest.mark.parametrize("t", [0.0, 0.1, 0.37, 0.5, 0.9, 0.99])
def test_answering_pays_exactly_above_the_risk_threshold(q: float, t: float, bounded: bool) -> None:
    def earns(valid: bool, abstained: bool) -> float:
        return explicit_risk(valid, t, abstained, bounded=bounded)

    answering = q * earns(True, False) + (1 - q) * earns(False, False)
    abstaining = q * earns(True, True) + (1 - q) * earns(False, True)
    if q == t:
        assert answering == pytest.approx(abstaining, abs=1e-12)
    else:
        assert (answering > abstaining) == (q > t)


@pytest.mark.parametrize("q", [i / 20 for i in range(1, 21)])
def test_the_binary_reward_makes_any_guess_better_than_surely_wrong(q: float) -> None:
    assert q * binary(True) + (1 - q) * binary(False) > binary(False)


def test_the_bounded_form_covers_the_threshold_one() -> None:
    assert explicit_risk(False, 1.0, True, bounded=True) == 1.0
    with pytest.raises(ValueError, match="below 1"):
        explicit_risk(False, 1.0, False)


@given(p=probabilities, t=st.floats(0.0, 0.99))
def test_a_violation_never_outscores_abstaining(p: float, t: float) -> None:
    assert brier(1.0, False) <= brier(p, False)
    assert brier(1.0, False) < brier(0.0, False) == 0.0
    assert cross_entropy(1.0, False) <= cross_entropy(p, False)
    assert explicit_risk(False, t, False) <= explicit_risk(False, t, True)


def test_the_overlong_penalty_is_a_ramp_over_the_buffer() -> None:
    limit, buffer = 20480, 4096
    assert overlong_penalty(1, limit, buffer) == 0.0
    assert overlong_penalty(limit - buffer, limit, buffer) == 0.0
    assert overlong_penalty(limit - buffer // 2, limit, buffer) == pytest.approx(-0.5)
    assert overlong_penalty(limit, limit, buffer, 0.3) == pytest.approx(-0.3)


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan, math.inf])
def test_numbers_that_are_no_probabilities_are_refused(p: float) -> None:
    for rule in (brier, cross_entropy):
        with pytest.raises(ValueError, match="confidence"):
            rule(p, True)
    with pytest.raises(ValueError, match="risk_threshold"):
        explicit_risk(True, p, False)


@pytest.mark.parametrize("buffer", [0, 11])
def test_a_buffer_that_does_not_fit_is_refused(buffer: int) -> None:
    with pytest.raises(ValueError, match="buffer"):
        overlong_penalty(5, 10, buffer)


@pytest.mark.parametrize("eps", [0.0, 0.5, -1.0])
def test_an_epsilon_that_leaves_no_prior_is_refused(eps: float) -> None:
    with pytest.raises(ValueError, match="eps"):
        cross_entropy(0.5, True, eps)
