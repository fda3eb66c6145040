"""Intervals over problems, reasons for what is undefined, and paired comparison."""

import json
import math

import numpy as np
import pytest

from demur.core.metrics import METRICS, Rows, compare, number, resample, summarise
from demur.core.metrics.bootstrap import MOST_BLOCKS, interval


def forecasts(n, seed=0):
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(n), 2)
    return p, rng.random(n) < p


def figures(rows, **options):
    return summarise(rows, replicates=200, **options).figures


def width(estimate):
    return estimate.high - estimate.low


def test_every_figure_has_an_interval_around_it():
    summary = summarise(Rows.of(*forecasts(300)))
    assert set(summary.figures) == set(METRICS)
    for name, figure in summary.figures.items():
        assert figure.reason is None, name
        assert figure.low <= figure.value <= figure.high, name
        assert figure.low < figure.high, name


def test_the_interval_of_accuracy_is_the_textbook_one():
    p, v = forecasts(2000)
    figure = summarise(Rows.of(p, v)).figures["accuracy"]
    textbook = 2 * 1.96 * math.sqrt(v.mean() * (1 - v.mean()) / len(v))
    assert width(figure) == pytest.approx(textbook, rel=0.1)


def test_samples_of_one_problem_are_resampled_together():
    p, v = forecasts(300)
    once = figures(Rows.of(p, v))
    repeated = np.tile(p, 8), np.tile(v, 8)
    together = figures(Rows.of(*repeated, list(range(300)) * 8))
    apart = figures(Rows.of(*repeated))
    for name in ("accuracy", "auc", "brier", "snr_gain"):
        assert width(together[name]) == pytest.approx(width(once[name])), name
        assert width(apart[name]) < 0.5 * width(once[name]), name


def test_random_groups_of_many_problems_keep_the_width():
    p, v = forecasts(20 * MOST_BLOCKS)
    figure = summarise(Rows.of(p, v)).figures["accuracy"]
    textbook = 2 * 1.96 * math.sqrt(v.mean() * (1 - v.mean()) / len(v))
    assert width(figure) == pytest.approx(textbook, rel=0.15)


def test_the_seed_decides():
    rows = Rows.of(*forecasts(200))
    assert figures(rows, seed=1) == figures(rows, seed=1)
    assert figures(rows, seed=1) != figures(rows, seed=2)


def test_many_distinct_confidences_leave_the_estimate_exact():
    rng = np.random.default_rng(5)
    p = rng.random(5000)
    v = rng.random(5000) < p
    drawn = resample(Rows.of(p, v), replicates=3)
    assert len(drawn.observed.level) <= 2001
    assert drawn.observed.count.sum() == 5000
    assert summarise(Rows.of(p, v), replicates=20).figures["brier"].value == pytest.approx(np.mean((p - v) ** 2))


@pytest.mark.parametrize(
    ("confidence", "correct", "undefined"),
    [
        ([], [], dict.fromkeys(METRICS, "no rows")),
        ([None, None], [1, 0], dict.fromkeys(set(METRICS) - {"accuracy"}, "no row has a confidence")),
        ([0.3, 0.4], [1, 1], {"auc": "no wrong rows", "snr_gain": "no wrong rows"}),
        ([0.3, 0.4], [0, 0], {"auc": "no right rows", "snr_gain": "no right rows"}),
        ([0.3, 0.0], [1, 0], {"snr_gain": "infinite: every wrong row has confidence 0"}),
        ([0.0, 0.3], [1, 0], {"snr_gain": "infinite: every right row has confidence 0"}),
        ([0.0, 0.0], [1, 0], {"snr_gain": "no row has a confidence above 0"}),
    ],
)
def test_undefined_is_null_with_a_reason(confidence, correct, undefined):
    figures = summarise(Rows.of(confidence, correct), replicates=50).figures
    for name, figure in figures.items():
        if name in undefined:
            assert (figure.value, figure.reason) == (None, undefined[name]), name
        else:
            assert math.isfinite(figure.value), name


def test_one_problem_has_no_interval():
    figure = figures(Rows.of([0.2, 0.7], [0, 1], ["a", "a"]))["brier"]
    assert figure.value is not None
    assert (figure.low, figure.high) == (None, None)
    assert figure.reason == "no interval: a single problem"


def test_an_interval_that_most_resamples_cannot_give_is_refused():
    rows = Rows.of([0.9, 0.2, 0.3, 0.4], [1, 0, 0, 0])
    figure = figures(rows)["auc"]
    assert figure.value == 1.0
    assert figure.reason == "no interval: undefined in too many resamples"


def test_the_wire_form_is_json():
    p, v = forecasts(50)
    wire = json.loads(json.dumps(summarise(Rows.of([*p, None], [*v, 1]), replicates=50).as_dict()))
    assert set(wire) == {"n", "missing", *METRICS}
    assert (wire["n"], wire["missing"]) == (51, 1)
    assert set(wire["accuracy"]) == {"value", "low", "high"}
    empty = summarise(Rows.of([], [])).as_dict()
    assert empty["auc"] is None
    assert empty["reasons"] == dict.fromkeys(METRICS, "no rows")


def test_a_reflected_interval_turns_over_and_keeps_the_estimate():
    replicates = np.linspace(0.2, 0.4, 1001)
    low, high = interval(np.float64(0.25), np.float64(0.25), replicates, reflect=True)
    assert (low, high) == pytest.approx((0.5 - 0.395, 0.5 - 0.205), abs=1e-3)
    low, high = interval(np.float64(0.1), np.float64(0.1), replicates, reflect=True)
    assert high == pytest.approx(0.1)


def test_paired_differences_are_sharper_than_two_intervals():
    rng = np.random.default_rng(7)
    p, v = forecasts(400)
    better = np.clip(p + np.where(v, 0.1, -0.1), 0, 1)
    names = [f"q{k}" for k in range(400)]
    coding = number(names)
    gaps = compare(Rows.of(p, v, names, coding=coding), Rows.of(better, v, names, coding=coding), replicates=200)
    gap = gaps["brier"].difference
    assert gap.value == pytest.approx(np.mean((better - v) ** 2) - np.mean((p - v) ** 2))
    assert gap.high < 0
    assert width(gap) < 0.5 * (width(gaps["brier"].first) + width(gaps["brier"].second))
    shuffled = rng.permutation(400)
    again = compare(
        Rows.of(p, v, names, coding=coding),
        Rows.of(better[shuffled], v[shuffled], [names[k] for k in shuffled], coding=coding),
        replicates=200,
    )
    assert again["brier"].difference == gap


def test_a_run_does_not_differ_from_itself():
    rows = Rows.of(*forecasts(100))
    for name, gap in compare(rows, rows, replicates=50).items():
        assert (gap.difference.value, gap.difference.low, gap.difference.high) == (0, 0, 0), name


def test_runs_coded_apart_are_refused_and_undefined_stays_undefined():
    with pytest.raises(ValueError, match="share one coding"):
        compare(Rows.of([0.1], [1]), Rows.of([0.1, 0.2], [1, 0]))
    gap = compare(Rows.of([0.1, 0.2], [1, 1]), Rows.of([0.1, 0.2], [1, 0]), replicates=50)["auc"]
    assert gap.difference.value is None
    assert gap.difference.reason == "no wrong rows"
