"""Validation: what cannot be scored is refused by name, and what is missing is counted."""

import numpy as np
import pytest

from demur.core.metrics import Rows, RowsError, number, tally


@pytest.mark.parametrize(
    ("confidence", "correct", "problem", "message"),
    [
        ([0.2, 1.5], [1, 0], None, "confidence of row 1 is 1.5"),
        ([-0.1], [1], None, "confidence of row 0 is -0.1"),
        ([0.2, float("inf")], [1, 0], None, "confidence of row 1 is inf"),
        (["sure"], [1], None, "confidence holds something that is no number"),
        ([[0.2]], [1], None, "one number a row"),
        ([0.2], [2], None, "correct of row 0"),
        ([0.2], [[1]], None, "one verdict a row"),
        ([0.2, 0.3], [1], None, "confidence has 2 rows and correct has 1"),
        ([0.2, 0.3], [1, 0], ["a"], "confidence has 2 rows and problem has 1"),
    ],
)
def test_bad_rows_are_refused_by_name(confidence, correct, problem, message):
    with pytest.raises(RowsError, match=message):
        Rows.of(confidence, correct, problem)


def test_none_and_nan_are_missing():
    rows = Rows.of([0.5, None, float("nan")], [1, 0, 1])
    assert rows.missing == 2
    assert rows.treat("abstain").confidence.tolist() == [0.5, 0.0, 0.0]
    assert rows.treat("skip").missing == 2


def test_problems_are_numbered_in_order_and_shared_codings_are_kept():
    rows = Rows.of([0.1, 0.2, 0.3], [1, 0, 1], ["b", "a", "b"])
    assert rows.problem.tolist() == [0, 1, 0]
    assert rows.problems == 2
    shared = number(["a", "b", "c"])
    again = Rows.of([0.1, 0.2, 0.3], [1, 0, 1], ["b", "a", "b"], coding=shared)
    assert again.problem.tolist() == [1, 0, 1]
    assert again.problems == 3
    with pytest.raises(RowsError, match="'z' is not in the coding"):
        Rows.of([0.1], [1], ["z"], coding=shared)


def test_the_tally_counts_every_level_exactly():
    p = [0.5, 0.25, 0.5, 1.0, 0.0, -0.0, None, None]
    v = [1, 0, 0, 1, 0, 1, 1, 0]
    t = tally(Rows.of(p, v))
    assert t.level.tolist() == [0.0, 0.25, 0.5, 1.0]
    assert t.right.tolist() == [1, 0, 1, 1]
    assert t.wrong.tolist() == [1, 1, 1, 0]
    assert (t.unread_right, t.unread_wrong) == (1, 1)


def test_the_tally_agrees_with_unique_on_random_rows():
    rng = np.random.default_rng(0)
    p, v = np.round(rng.random(5000), 3), rng.random(5000) < 0.4
    t = tally(Rows.of(p, v))
    level, count = np.unique(p, return_counts=True)
    assert np.array_equal(t.level, level)
    assert np.array_equal(t.count, count)
    assert np.array_equal(t.right, [v[p == at].sum() for at in level])


def test_no_rows_give_an_empty_tally():
    t = tally(Rows.of([], []))
    assert t.read == 0
    assert t.count.sum() == 0
