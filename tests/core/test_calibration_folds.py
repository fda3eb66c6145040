"""Splits by problem: nothing that is fitted on a problem judges it."""

import numpy as np
import pytest

from demur.core.calibration.folds import check_folds, fold_of, held_out, one_a_problem, split

PROBLEM = np.repeat(np.arange(40), np.arange(40) % 5 + 1)
WORDS = np.array([f"q{code}" for code in PROBLEM])


@pytest.mark.parametrize("problem", [PROBLEM, WORDS])
def test_rows_of_a_problem_share_a_fold(problem):
    fold = fold_of(problem, 7, seed=3)
    check_folds(problem, fold)
    sizes = [len(np.unique(problem[fold == f])) for f in range(7)]
    assert max(sizes) - min(sizes) <= 1
    assert (fold_of(problem, 7, seed=3) == fold).all()
    assert (fold_of(problem, 7, seed=4) != fold).any()


def test_each_row_is_judged_once_by_what_never_saw_its_problem():
    judged = np.zeros(len(PROBLEM), dtype=int)
    for seen, unseen in held_out(PROBLEM, fold_of(PROBLEM, 5)):
        assert not set(PROBLEM[seen]) & set(PROBLEM[unseen])
        judged += unseen
    assert (judged == 1).all()


def test_a_problem_in_two_folds_is_refused_by_name():
    fold = fold_of(WORDS, 5)
    row = int(np.flatnonzero(WORDS == "q4")[0])
    fold[row] = (fold[row] + 1) % 5
    with pytest.raises(ValueError, match="q4 lies in more than one fold"):
        list(held_out(WORDS, fold))


def test_a_split_takes_a_share_of_the_problems():
    taken = split(WORDS, 0.4, seed=1)
    assert len(np.unique(WORDS[taken])) == 16
    assert not set(WORDS[taken]) & set(WORDS[~taken])
    assert split(np.arange(2), 0.99).sum() == 1


def test_one_row_of_each_problem_is_drawn_at_random():
    drawn = [one_a_problem(WORDS, seed) for seed in range(300)]
    for rows in drawn[:5]:
        assert sorted(WORDS[rows]) == sorted(set(WORDS))
    of_five = np.flatnonzero(WORDS == "q4")
    shares = [np.mean([row in rows for rows in drawn]) for row in of_five]
    assert shares == pytest.approx([0.2] * 5, abs=0.1)


@pytest.mark.parametrize("call", [lambda: fold_of([1, 1], 2), lambda: split([1, 1], 0.5), lambda: split([1, 2], 1.0)])
def test_too_few_problems_are_refused(call):
    with pytest.raises(ValueError, match="problems"):
        call()
