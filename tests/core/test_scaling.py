"""Accuracy over k from n samples, against the selection rules themselves and against counting."""

import itertools

import numpy as np
import pytest
from bench.populations import POPULATIONS, Population, draw
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.core.scaling import Problem, best_at, chosen_right, scaling_curves
from demur.core.selection import RULES, Sample, select

ANSWERS = st.sampled_from(["a", "b", "c", None])
BALLOTS = st.lists(st.tuples(ANSWERS, st.none() | st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0])), min_size=1, max_size=7)


def problem(ballots: list[tuple[str | None, float | None]]) -> Problem:
    """ "b" is right."""
    return Problem([key for key, _ in ballots], [p for _, p in ballots], [key == "b" for key, _ in ballots])


@given(ballots=BALLOTS)
@settings(deadline=None, max_examples=150)
def test_every_subset_is_decided_as_the_rule_decides_it(ballots: list[tuple[str | None, float | None]]) -> None:
    samples = [Sample(i, key, key, p, "missing" if p is None else "value") for i, (key, p) in enumerate(ballots)]
    for k in range(1, len(ballots) + 1):
        subsets = list(itertools.combinations(range(len(ballots)), k))
        chosen = np.array([[i in subset for i in range(len(ballots))] for subset in subsets])
        for rule in RULES:
            expected = [float(select((samples[i] for i in subset), rule).answer == "b") for subset in subsets]
            assert chosen_right(problem(ballots), chosen, rule).tolist() == expected


def test_the_figures_at_one_and_at_all_samples() -> None:
    ballots: list[tuple[str | None, float | None]] = [("b", 0.9), ("a", 0.5), ("a", 0.2), (None, None)]
    one, everything = scaling_curves([problem(ballots)], [1, 4])
    assert one.exact
    assert everything.subsets == 1
    assert {name: float(values[0]) for name, values in one.figures.items()} == pytest.approx(
        {"mean": 0.25, "best": 0.25, "maxconf": 0.25, "majconf": 0.25, "majority": 0.25}
    )
    assert {name: float(values[0]) for name, values in everything.figures.items()} == pytest.approx(
        {"mean": 0.25, "best": 1.0, "maxconf": 1.0, "majconf": 1.0, "majority": 0.0}
    )


@pytest.mark.parametrize("right", range(6))
def test_best_at_k_is_the_chance_of_a_subset_with_a_right_sample(right: int) -> None:
    valid = [i < right for i in range(5)]
    for k in range(1, 6):
        subsets = list(itertools.combinations(valid, k))
        expected = sum(any(subset) for subset in subsets) / len(subsets)
        assert best_at(Problem(["a"] * 5, [None] * 5, valid), k) == pytest.approx(expected)


def test_random_subsets_come_close_to_all_of_them() -> None:
    ballots: list[tuple[str | None, float | None]] = [("b", 0.1 * i) if i % 3 else ("a", 0.4) for i in range(10)]
    every, some = (scaling_curves([problem(ballots)], [4], subsets=enough)[0] for enough in (1000, 200))
    assert (every.exact, every.subsets) == (True, 210)
    assert (some.exact, some.subsets) == (False, 200)
    for name, values in every.figures.items():
        assert some.figures[name] == pytest.approx(values, abs=0.1)
    assert scaling_curves([problem(ballots)], [4], subsets=200)[0].figures["majority"] == some.figures["majority"]


def test_a_problem_with_too_few_samples_is_named() -> None:
    with pytest.raises(ValueError, match="problem 0 has 1 samples"):
        scaling_curves([problem([("a", 0.5)])], [2])


@pytest.mark.parametrize("name", [name for name in POPULATIONS if name.startswith("calibrated")])
def test_calibrated_populations_are_calibrated(name: str) -> None:
    samples = draw(POPULATIONS[name], 20_000, 2, np.random.default_rng(0))
    stated, right = samples.confidences.ravel(), samples.right.ravel()
    for low in np.arange(0, 1, 0.1):
        within = (stated >= low) & (stated < low + 0.1)
        assert right[within].mean() == pytest.approx(stated[within].mean(), abs=0.035)


def test_distorted_populations_are_not() -> None:
    for name, sign in (("over-confident", 1), ("under-confident", -1)):
        samples = draw(POPULATIONS[name], 5_000, 2, np.random.default_rng(0))
        assert sign * (samples.confidences.mean() - samples.right.mean()) > 0.05


def test_easier_populations_are_easier() -> None:
    shares = [draw(Population(difficulty=d), 2_000, 4, np.random.default_rng(1)).right.mean() for d in (-2.0, 0.0, 2.0)]
    assert shares == sorted(shares)
    assert shares[1] == pytest.approx(0.5, abs=0.04)
