"""When a vote may stop: losslessly, or with a bounded chance of another winner."""

import itertools
from math import comb, exp, isnan, lgamma

import numpy as np
import pytest
from bench.populations import POPULATIONS, draw
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from demur.core.selection import RULES, Sample, SelectionRule, select
from demur.core.stopping import Stopping, Vote, cannot_reach_threshold, winner_is_certain
from demur.core.vote_posterior import MARGIN, flip, overtakes, stopping_level

ANY_RULE = pytest.mark.parametrize("rule", RULES)
Ballot = tuple[str | None, float | None]
COMMON = ["calibrated", "calibrated, problem only", "over-confident", "under-confident", "ties"]
RARE = ["ties, rarely sure", "ties, mostly silent", "half silent", "almost silent"]
"""Populations in which a late sample may weigh more than all before it."""
LETTERS = "bcdefghijklmn"


def sample(i: int, ballot: Ballot) -> Sample:
    key, p = ballot
    return Sample(i, key, key, p, "missing" if p is None else "value")


def run(ballots: list[Ballot], rule: SelectionRule, stopping: Stopping, budget: float = 0.05) -> Vote:
    """Feed a vote until it is over."""
    vote = Vote(rule, len(ballots), stopping, budget)
    for i, ballot in enumerate(ballots):
        vote.add(sample(i, ballot))
        if vote.over:
            break
    return vote


def votes(name: str, problems: int, k: int, seed: int) -> list[list[Ballot]]:
    samples = draw(POPULATIONS[name], problems, k, np.random.default_rng(seed))
    return [
        [(LETTERS[g], None if isnan(p) else p) for g, p in zip(groups, confidences, strict=True)]
        for groups, confidences in zip(samples.groups.tolist(), samples.confidences.tolist(), strict=True)
    ]


def flip_rate(rule: SelectionRule, drawn: list[list[Ballot]], budget: float) -> float:
    """At most, by the 95 % upper bound of Clopper and Pearson."""
    flips = sum(
        key_of(run(ballots, rule, "confident", budget)) != key_of(run(ballots, rule, "none")) for ballots in drawn
    )
    return float(beta.ppf(0.95, flips + 1, len(drawn) - flips))


def key_of(vote: Vote) -> str | None:
    chosen = vote.result().sample
    return chosen.key if chosen else None


EXTREMES: list[Ballot] = [
    ("a", 1.0),
    ("b", 1.0),
    ("c", 1.0),
    ("A", 1.0),
    ("b", None),
    ("c", 0.0),
    (None, None),
    ("a", 0.5),
]
BALLOTS = st.lists(
    st.tuples(st.sampled_from(["b", "c", "d", None]), st.none() | st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])),
    min_size=1,
    max_size=9,
)


@ANY_RULE
@given(ballots=BALLOTS, to_come=st.integers(1, 3))
@settings(deadline=None, max_examples=120)
def test_no_completion_changes_a_decided_winner(rule: SelectionRule, ballots: list[Ballot], to_come: int) -> None:
    """Against every completion by extreme votes: new and old answers, smaller and larger keys, all kinds of confidence."""
    vote = Vote(rule, len(ballots) + to_come, "decided")
    for i, ballot in enumerate(ballots):
        vote.add(sample(i, ballot))
    if vote.stopped_by:
        before = vote.result().groups[0].key
        for rest in itertools.combinations_with_replacement(EXTREMES, to_come):
            everything = [sample(i, ballot) for i, ballot in enumerate([*ballots, *rest])]
            assert select(everything, rule).groups[0].key == before


@ANY_RULE
@given(ballots=BALLOTS, to_come=st.integers(1, 3))
@settings(deadline=None, max_examples=120)
def test_what_is_not_decided_can_still_change(rule: SelectionRule, ballots: list[Ballot], to_come: int) -> None:
    samples = [sample(i, ballot) for i, ballot in enumerate(ballots)]
    vote = Vote(rule, len(ballots) + to_come, "decided")
    for each in samples:
        vote.add(each)
    if not vote.stopped_by and (groups := vote.result().groups):
        rivals = ["", *(group.key for group in groups[1:])]
        completed = [[*samples, *(sample(len(samples) + i, (rival, 1.0)) for i in range(to_come))] for rival in rivals]
        assert any(select(everything, rule).groups[0].key != groups[0].key for everything in completed)


@pytest.mark.parametrize(
    ("rule", "ballots", "drawn"),
    [
        ("majority", [("b", 0.5)] * 16, 9),
        ("majority", [("b", 1.0)] * 16, 9),
        ("majconf", [("b", 1.0)] * 16, 9),
        ("majconf", [("b", 0.5)] * 16, 11),
        ("majconf", [("b", 0.0)] * 16, 16),
        ("maxconf", [("b", 0.9)] * 16, 16),
        ("maxconf", [("b", 1.0)] * 16, 9),
        ("majority", [(None, None)] * 16, 16),
        ("majority", [("b", None)], 1),
    ],
)
def test_a_decided_vote_stops_as_early_as_it_can(rule: SelectionRule, ballots: list[Ballot], drawn: int) -> None:
    assert run(ballots, rule, "decided").drawn == drawn


def test_nothing_is_decided_before_there_is_an_answer() -> None:
    for rule in RULES:
        assert not winner_is_certain({}, 3, rule)
        assert winner_is_certain({}, 0, rule)


@ANY_RULE
@pytest.mark.parametrize("name", POPULATIONS)
def test_decided_gives_the_full_vote_every_time(rule: SelectionRule, name: str) -> None:
    for ballots in votes(name, 150, 16, seed=7):
        assert key_of(run(ballots, rule, "decided")) == key_of(run(ballots, rule, "none"))


@ANY_RULE
@pytest.mark.parametrize("name", COMMON + RARE)
def test_the_flip_rate_stays_within_the_budget(rule: SelectionRule, name: str) -> None:
    assert flip_rate(rule, votes(name, 600, 16, seed=11), 0.05) <= 0.05


@ANY_RULE
@pytest.mark.parametrize("name", ["calibrated", *RARE])
def test_the_flip_rate_stays_within_the_default_budget(rule: SelectionRule, name: str) -> None:
    assert flip_rate(rule, votes(name, 1_000, 16, seed=12), Vote(rule, 1).error_budget) <= 0.01


def test_one_confidence_to_come_can_decide_among_samples_without_any() -> None:
    silent: list[Ballot] = [("a", None)] * 15
    late: list[Ballot] = [*silent, ("b", 0.5)]
    vote = run(late, "majconf", "confident", 0.01)
    assert key_of(vote) == key_of(run(late, "majconf", "none")) == "b"
    assert vote.drawn == 16


def test_a_sure_sample_to_come_outweighs_many_doubtful_ones() -> None:
    sure: list[Ballot] = [("b", 1.0)] * 4
    late: list[Ballot] = [*[("a", 0.1)] * 12, *sure]
    assert key_of(run(late, "majconf", "confident", 0.01)) == key_of(run(late, "majconf", "none")) == "b"


@ANY_RULE
def test_a_confident_vote_stops_no_later_than_a_decided_one(rule: SelectionRule) -> None:
    saved = 0
    for ballots in votes("calibrated", 100, 16, seed=3):
        confident, lossless = (run(ballots, rule, stopping).drawn for stopping in ("confident", "decided"))
        assert confident <= lossless
        saved += lossless - confident
    assert saved > 0


def test_without_confidences_only_a_majority_vote_stops() -> None:
    ballots: list[Ballot] = [("b", None)] * 16
    assert run(ballots, "majority", "confident").drawn < 9
    assert run(ballots, "majconf", "confident").drawn == run(ballots, "maxconf", "confident").drawn == 16


@given(st.lists(st.sampled_from(["b", "c", "d", None]), min_size=1, max_size=9))
@settings(deadline=None, max_examples=60)
def test_without_confidences_every_rule_chooses_as_the_majority_does(keys: list[str | None]) -> None:
    silent: list[Ballot] = [(key, None) for key in keys]
    assert len({key_of(run(silent, rule, "none")) for rule in RULES}) == 1


@pytest.mark.parametrize("k", [1, 2, 3])
def test_very_small_votes(k: int) -> None:
    for rule in RULES:
        vote = run([("b", 0.5)] * k, rule, "confident")
        assert vote.over
        assert key_of(vote) == "b"


def test_a_stopped_vote_stays_stopped_and_counts_what_was_under_way() -> None:
    vote = Vote("majority", 4, "decided")
    for i in range(3):
        vote.add(sample(i, ("b", 0.5)))
    assert vote.stopped_by == "decided"
    assert vote.add(sample(3, ("c", 0.9))) == "decided"
    assert vote.drawn == 4
    assert [group.members for group in vote.result().groups] == [(0, 1, 2), (3,)]


def test_a_vote_that_took_all_its_samples_was_stopped_by_nothing() -> None:
    vote = run([("b", 0.5), ("c", 0.6)], "majority", "confident")
    assert vote.over
    assert vote.stopped_by is None


def test_misuse_is_an_error() -> None:
    with pytest.raises(ValueError, match="k must"):
        Vote("majority", 0)
    with pytest.raises(ValueError, match="error_budget"):
        Vote("majority", 4, "confident", 0.0)
    vote = Vote("majority", 1)
    vote.add(sample(0, ("b", 0.5)))
    with pytest.raises(ValueError, match="already"):
        vote.add(sample(0, ("b", 0.5)))
    with pytest.raises(ValueError, match="all of its 1"):
        vote.add(sample(1, ("b", 0.5)))


@pytest.mark.parametrize(
    ("leader", "rival", "remaining"), [(3, 1, 5), (0, 0, 4), (7, 7, 1), (2.5, 0.7, 6), (9, 0, 9), (4, 0, 3)]
)
def test_being_overtaken_is_a_beta_binomial_tail(leader: float, rival: float, remaining: int) -> None:
    def chance(x: int) -> float:
        a, b = rival + 1, leader + 1
        joint = lgamma(a + x) + lgamma(b + remaining - x) - lgamma(a + b + remaining)
        return comb(remaining, x) * exp(joint + lgamma(a + b) - lgamma(a) - lgamma(b))

    expected = sum(chance(x) for x in range(remaining + 1) if rival + x >= leader + remaining - x)
    assert overtakes(leader, rival, remaining) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_an_unseen_answer_is_a_rival_too() -> None:
    assert flip(5, [], 6) == overtakes(5, 0, 6) > 0
    assert flip(5, [2, 0], 6) == pytest.approx(overtakes(5, 0, 6) + overtakes(5, 2, 6))


@pytest.mark.parametrize("k", [2, 4, 6, 8])
@pytest.mark.parametrize("budget", [0.02, 0.1, 0.3])
def test_wrong_stops_in_a_dead_heat_stay_within_the_margin(k: int, budget: float) -> None:
    """Against every order of arrival, counted one by one."""
    level, wrong = stopping_level(k, budget), 0
    orders = list(itertools.combinations(range(k), k // 2))
    for losers in orders:
        seen = [0, 0]
        for n in range(1, k):
            seen[n - 1 in losers] += 1
            if seen[0] != seen[1] and flip(max(seen), [min(seen)], k - n) < level:
                wrong += seen[1] > seen[0]
                break
    assert wrong / len(orders) <= MARGIN * budget


def test_more_budget_stops_no_later() -> None:
    levels = [stopping_level(32, budget) for budget in (0.001, 0.01, 0.05, 0.2)]
    assert levels == sorted(levels)
    assert levels[0] < levels[-1]


def test_a_budget_nothing_could_exceed_stops_at_once() -> None:
    assert stopping_level(2, 0.99) == 1.0


@pytest.mark.parametrize(
    ("running", "risk_threshold", "hopeless"),
    [(None, 0.9, False), (0.5, 0.9, True), (0.9, 0.9, False), (0.0, 0.0, False), (0.95, 0.9, False)],
)
def test_when_further_claims_cannot_help(running: float | None, risk_threshold: float, hopeless: bool) -> None:
    assert cannot_reach_threshold(running, risk_threshold) is hopeless
