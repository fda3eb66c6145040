"""`python -m bench replay`: the part that needs no run, and a run of the scripted engine."""

import pytest
from bench import replay

from demur.core.selection import Sample
from demur.evaluation.asking.base import Output, RequestId
from demur.evaluation.datasets import Question
from demur.evaluation.grade import Graded
from demur.evaluation.judging.graders import Verdict


def graded(problem, number, answer, confidence, correct=None, risk_threshold=None):
    output = Output(answer, confidence, "value" if confidence is not None else "missing", "")
    right = answer == "1" if correct is None else correct
    return Graded(
        RequestId(problem, number, risk_threshold), Question(problem, "?", ("1",)), output, Verdict(right), group=answer
    )


def test_problems_without_a_sample_or_a_grade_are_left_out():
    whole = [graded("a", i, "1", 0.5) for i in range(3)]
    short = [graded("b", i, "1", 0.5) for i in range(2)]
    ungraded = [*(graded("c", i, "1", 0.5) for i in range(2)), Graded(RequestId("c", 2, None), *UNGRADED)]
    problems, left_out = replay.problems_of([*whole, *short, *ungraded])
    assert (len(problems), left_out) == (1, 2)
    assert problems[0].right == (True, True, True)


UNGRADED = Question("c", "?", ("1",)), Output("1", 0.5, "value", ""), Verdict(None)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([graded("a", 0, "1", 0.5)], "one sample a question"),
        ([], "one sample a question"),
        ([graded("a", 0, "1", None, risk_threshold=0.5)], "explicit-risk"),
        ([graded("a", 0, "1", 0.5), Graded(RequestId("a", 1, None), *UNGRADED)], "no question"),
    ],
)
def test_runs_that_cannot_be_replayed_are_said_so(rows, message):
    with pytest.raises(ValueError, match=message):
        replay.problems_of(rows)


def problem(replay, *answers):
    samples = tuple(
        Sample(i, answer, answer, confidence, "value" if confidence is not None else "missing")
        for i, (answer, confidence) in enumerate(answers)
    )
    return replay.Problem(samples, tuple(answer == "1" for answer, _ in answers))


def test_a_vote_stops_when_it_is_decided():
    one = problem(replay, ("1", 0.9), ("1", 0.8), ("1", None), ("2", 0.5))
    ended = replay.replay(one, 7, [0, 1, 2, 3], "majority", "decided", 0.01)
    assert (ended.problem, ended.used, ended.flipped, ended.right) == (7, 3, False, True)
    assert (ended.members, ended.everybody) == ((0.9, 0.8), (0.9, 0.8))
    full = replay.replay(one, 7, [3, 2, 1, 0], "majority", "none", 0.01)
    assert (full.used, full.flipped, full.everybody) == (4, False, (0.9, 0.8, 0.5))


def test_a_flip_is_another_winner_than_that_of_all():
    one = problem(replay, *[("2", 0.9)] * 7, *[("1", 0.9)] * 9)
    early = replay.replay(one, 0, range(16), "majority", "confident", 0.5)
    assert (early.used < 16, early.flipped, early.right) == (True, True, False)


def test_what_votes_come_to():
    ended = [replay.Ended(n, 4, n == 0, n > 0, (0.5,), (0.5, 0.5)) for n in range(10) for _ in range(3)]
    cost = replay.cost(ended, 8, "majority", "decided", 0.01)
    assert (cost.problems, cost.votes, cost.flips, cost.used, cost.accuracy) == (10, 30, 3, 4, pytest.approx(0.9))
    assert cost.flip_bound == pytest.approx(0.394, abs=1e-3)  # one of ten: Clopper and Pearson, one-sided
    assert replay.cost(ended[:3], 8, "majority", "decided", 0.01).flip_bound == 1


def test_every_candidate_is_scored():
    ended = [replay.Ended(n, 4, False, n % 2 == 0, (0.5, 0.5), (0.5,) * 4) for n in range(4)]
    scored = replay.scores([*ended, replay.Ended(9, 4, False, True, (), ())])
    assert list(scored) == list(replay.CANDIDATES)
    assert scored["mean"] == (pytest.approx(0, abs=1e-9), pytest.approx(0.25))
    assert scored["pooled odds"] == scored["vote share"]
    assert replay.scores([]) == {}


def test_orders_are_the_same_for_every_rule():
    one = problem(replay, *[("1", 0.9)] * 8)
    first, again = (
        replay.replay_all([one, one], rule, "none", 0.01, orders=3, seed=1) for rule in ("majority", "maxconf")
    )
    assert [ended.used for ended in first] == [ended.used for ended in again] == [8] * 6
