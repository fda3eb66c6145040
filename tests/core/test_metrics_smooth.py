"""smECE against relplot, the reference implementation."""

import numpy as np
import pytest
import relplot

from demur.core.metrics import Rows, smece, smece_and_width, smooth_curve, tally


def forecasts(n, kind):
    """Confidences and verdicts that are calibrated ("true"), over-confident, in few values, or certain."""
    rng = np.random.default_rng(n)
    p = rng.random(n)
    if kind == "tenths":
        p = np.round(p, 1)
    if kind == "certain":
        p = np.where(p < 0.5, 0.0, 1.0)
    return p, rng.random(n) < (p**3 if kind == "over" else p)


@pytest.mark.parametrize("kind", ["true", "over", "tenths", "certain"])
@pytest.mark.parametrize("n", [1, 2, 7, 60, 500, 4000, 100_000])
def test_relplot_agrees(n, kind):
    p, v = forecasts(n, kind)
    error, width = smece_and_width(tally(Rows.of(p, v)))
    expected, expected_width = relplot.metrics.smECE(p, v.astype(float), return_width=True)
    assert width == expected_width
    assert error == pytest.approx(expected, abs=1e-9)


def test_relplot_agrees_where_the_levels_are_rounded_first():
    p, v = forecasts(200_000, "true")
    assert smece(tally(Rows.of(p, v))) == pytest.approx(relplot.smECE(p, v.astype(float)), abs=1e-6)


def test_a_batch_is_its_members():
    sets = [forecasts(300, kind) for kind in ("tenths", "certain")]
    grid = np.arange(11) / 10
    right = np.array([[(v & (p == g)).sum() for g in np.round(grid, 1)] for p, v in sets], dtype=float)
    wrong = np.array([[(~v & (p == g)).sum() for g in np.round(grid, 1)] for p, v in sets], dtype=float)
    one = tally(Rows.of(*sets[0]))
    batch = type(one)(np.round(grid, 1), right, wrong, np.zeros(2), np.zeros(2))
    assert smece(batch) == pytest.approx([float(smece(tally(Rows.of(p, v)))) for p, v in sets])


def test_no_rows_have_no_error():
    assert np.isnan(smece(tally(Rows.of([], []))))


def test_the_curve_follows_the_truth_and_stops_where_there_is_nothing():
    rng = np.random.default_rng(3)
    p = 0.4 + 0.2 * rng.random(20_000)
    v = rng.random(20_000) < 0.8
    points = np.linspace(0, 1, 201)
    accuracy, density = smooth_curve(tally(Rows.of(p, v)), 0.02, points)
    inside, outside = (points > 0.42) & (points < 0.58), (points < 0.25) | (points > 0.75)
    assert np.abs(accuracy[inside] - 0.8).max() < 0.05
    assert np.isnan(accuracy[outside]).all()
    assert density.mean() == pytest.approx(1, abs=0.02)
