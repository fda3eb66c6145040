"""Which answer wins a vote, and with what confidence."""

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.core.answers import Completion
from demur.core.reader import read
from demur.core.selection import IDK, RULES, GroupTally, Sample, Selection, SelectionRule, sample_of, select, tally

unhurried = settings(deadline=None, max_examples=150)
ANY_RULE = pytest.mark.parametrize("rule", RULES)
CONFIDENCES = st.none() | st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.9, 1.0])
BALLOTS = st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), CONFIDENCES), max_size=10)


def cast_votes(*ballots: tuple[str | None, float | None]) -> list[Sample]:
    """(key, confidence) in order of id; an answer reads like its key in capitals."""
    return [
        Sample(i, key, key.upper() if key else None, p, "missing" if p is None else "value")
        for i, (key, p) in enumerate(ballots)
    ]


def winner(selection: Selection) -> str | None:
    return selection.groups[0].key if selection.groups else None


VOTES: list[tuple[str, list[tuple[str | None, float | None]], str, str, str]] = [
    ("one sample", [("a", 0.4)], "a", "a", "a"),
    ("confidence against number", [("a", 0.9), ("b", 0.4), ("b", 0.4)], "a", "a", "b"),
    ("weight against height", [("a", 0.9), ("b", 0.5), ("b", 0.5)], "a", "b", "b"),
    ("no confidence counts 1 in majority only", [("a", 0.1), ("b", None), ("b", None)], "a", "a", "b"),
    ("unreadable counts nowhere", [("a", 0.1), (None, 0.9), (None, 0.9)], "a", "a", "a"),
    ("sums in decimal: 0.1 + 0.2 ties with 0.3", [("b", 0.1), ("b", 0.2), ("a", 0.3)], "a", "b", "b"),
    ("a tie of sums goes to more members", [("b", 0.5), ("a", 0.25), ("a", 0.25)], "b", "a", "a"),
    ("a tie of heights goes to the larger sum", [("a", 0.5), ("b", 0.5), ("b", 0.1)], "b", "b", "b"),
    ("a full tie goes to the smaller key", [("b", 0.5), ("a", 0.5)], "a", "a", "a"),
    ("equal confidences everywhere", [("c", 0.5), ("b", 0.5), ("c", 0.5), ("a", 0.5)], "c", "c", "c"),
    ("no confidence anywhere: members", [("b", None), ("a", None), ("b", None)], "b", "b", "b"),
    ("declining wins a tie", [("a", None), (IDK, None)], IDK, IDK, IDK),
    ("declining can lose", [("a", None), ("a", None), (IDK, None)], "a", "a", "a"),
    ("declining can win", [("a", None), (IDK, None), (IDK, None)], IDK, IDK, IDK),
    ("zero is a confidence", [("b", 0.0), ("a", None), ("a", None)], "b", "a", "a"),
]


@pytest.mark.parametrize(
    ("ballots", "maxconf", "majconf", "majority"), [v[1:] for v in VOTES], ids=[v[0] for v in VOTES]
)
def test_who_wins(ballots: list[tuple[str | None, float | None]], maxconf: str, majconf: str, majority: str) -> None:
    samples = cast_votes(*ballots)
    for rule, expected in (("maxconf", maxconf), ("majconf", majconf), ("majority", majority)):
        for order in itertools.permutations(samples):
            assert winner(select(order, rule)) == expected


@ANY_RULE
@given(ballots=BALLOTS, source=st.randoms(use_true_random=False))
@unhurried
def test_the_outcome_does_not_depend_on_the_order(
    rule: SelectionRule, ballots: list[tuple[str | None, float | None]], source: random.Random
) -> None:
    samples = cast_votes(*ballots)
    assert select(source.sample(samples, len(samples)), rule) == select(samples, rule)


@given(ballots=BALLOTS, key=st.sampled_from(["a", "b", "c", "d"]))
@unhurried
def test_a_sample_without_confidence_counts_for_nothing_in_maxconf(
    ballots: list[tuple[str | None, float | None]], key: str
) -> None:
    if any(held is not None and p is not None for held, p in ballots):
        before, after = (select(cast_votes(*b), "maxconf") for b in (ballots, [*ballots, (key, None)]))
        assert winner(before) == winner(after)
        assert before.confidence == after.confidence


@given(ballots=BALLOTS)
@unhurried
def test_an_unreadable_sample_changes_no_winner(ballots: list[tuple[str | None, float | None]]) -> None:
    for rule in RULES:
        assert winner(select(cast_votes(*ballots, (None, 1.0)), rule)) == winner(select(cast_votes(*ballots), rule))


@given(ballots=BALLOTS)
@unhurried
def test_groups_account_for_every_readable_sample(ballots: list[tuple[str | None, float | None]]) -> None:
    samples = cast_votes(*ballots)
    selection = select(samples, "majconf")
    assert sorted(i for group in selection.groups for i in group.members) == [s.id for s in samples if s.key]
    assert math.isclose(
        sum(g.vote_share for g in selection.groups) * len(samples), sum(s.key is not None for s in samples)
    )
    assert [group.chosen for group in selection.groups] == [True] * bool(selection.groups) + [False] * (
        len(selection.groups) - 1
    )
    for group in selection.groups:
        stated = [s.confidence for s in samples if s.key == group.key and s.confidence is not None]
        assert group.max_confidence == max(stated, default=None)
        assert (group.mean_confidence is None) is (not stated)
        assert group.representative.confidence == group.max_confidence


@ANY_RULE
def test_nothing_readable_wins_nothing(rule: SelectionRule) -> None:
    for samples in ([], cast_votes((None, 0.9), (None, None))):
        selection = select(samples, rule)
        assert (selection.groups, selection.sample, selection.answer, selection.confidence) == ((), None, None, None)
        assert not selection.idk


@ANY_RULE
def test_the_confidence_of_one_sample_is_its_own(rule: SelectionRule) -> None:
    assert select(cast_votes(("a", 0.73)), rule).confidence == pytest.approx(0.73)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=64))
@unhurried
def test_every_rule_gives_a_probability(confidences: list[float]) -> None:
    for rule in RULES:
        confidence = select(cast_votes(*(("a", p) for p in confidences)), rule).confidence
        assert confidence is not None
        assert 0 <= confidence <= 1


def test_why_there_is_no_confidence() -> None:
    missing, invalid = Sample(0, "a", "A", None, "missing"), Sample(1, "a", "A", None, "invalid")
    assert select([missing], "majority").state == "missing"
    assert select([missing, invalid], "majority").state == "invalid"
    assert select([missing, Sample(2, "a", "A", 0.5, "value")], "majority").state == "value"
    assert select([Sample(0, None, None, None, "invalid")], "majconf").state == "invalid"


def test_the_most_confident_member_stands_for_its_group() -> None:
    samples = [
        Sample(0, "a", "0.5", 0.6, "value"),
        Sample(1, "a", "1/2", 0.8, "value"),
        Sample(2, "a", ".5", None, "missing"),
    ]
    selection = select(samples, "majority")
    assert selection.sample == samples[1]
    assert selection.answer == "1/2"


def test_two_samples_with_one_id_are_an_error() -> None:
    with pytest.raises(ValueError, match="same id"):
        select([Sample(1, "a", "A", 0.5, "value"), Sample(1, "b", "B", 0.5, "value")], "majority")


@pytest.mark.parametrize(
    ("text", "key", "answer", "state"),
    [
        ("Answer: 12\nConfidence: 0.7", "12", "12", "value"),
        ("Answer: 12", "12", "12", "missing"),
        ("no", None, None, "missing"),
    ],
)
def test_a_completion_as_a_vote(text: str, key: str | None, answer: str | None, state: str) -> None:
    sample = sample_of(3, read(text, "response"), key)
    assert (sample.id, sample.key, sample.answer, sample.state, sample.idk) == (3, key, answer, state, False)


def test_declining_as_a_vote() -> None:
    completion = Completion("explicit_risk", None, None, "missing", "", idk=True)
    sample = sample_of(0, completion, None)
    assert sample.idk
    assert sample.answer is None
    assert select([sample], "majority").idk


@given(ballots=st.lists(CONFIDENCES, max_size=8), more=CONFIDENCES)
@unhurried
def test_no_rank_falls_when_a_member_joins(ballots: list[float | None], more: float | None) -> None:
    before = tally(cast_votes(*(("a", p) for p in ballots)))
    for rule in RULES.values():
        assert rule.rank(before.plus(more)) >= rule.rank(before)


def test_adding_several_members_at_once_is_adding_them_one_by_one() -> None:
    one_by_one = GroupTally().plus(0.5).plus(1.0).plus(1.0).plus(None).plus(None)
    assert GroupTally().plus(0.5).plus(1.0, 2).plus(None, 2) == one_by_one
    assert one_by_one == GroupTally(members=5, stated=3, total=2_500_000_000, top=1_000_000_000, at_top=2)
    assert one_by_one.plus(0.5, 0) == one_by_one
