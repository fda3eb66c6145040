"""A first try before the answer: how pairs of samples become one, and what is read off it."""

import random
from dataclasses import replace

import pytest

from demur.core.answers import ContractName
from demur.core.reader import read
from demur_smol_lab import first_attempts
from demur_smol_lab.confidence_targets import estimate
from demur_smol_lab.grading import grade
from demur_smol_lab.problems.mix import draw
from demur_smol_lab.problems.problem import Problem, Step
from demur_smol_lab.sampling import Sample
from demur_smol_lab.tokens import Vocabulary
from demur_smol_lab.training_rows import FIRM, LOOSE, RESTATED, WRONG, scored_rows
from demur_smol_lab.worked_answers import claims_text, response_text
from tiny_digit_model import make_tiny_digit_model

EGGS = Problem("sum_times", 1, ("+*", "3", "4", "5"), "5 times 3 + 4?", "35", (Step(3, "+", 4), Step(7, "*", 5)), True)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    return Vocabulary(make_tiny_digit_model(tmp_path_factory.mktemp("model")))


def sample(vocabulary, problem, text, contract: ContractName = "response", logprob=-0.5):
    ids = tuple(vocabulary.encode(text))
    return Sample(0, problem, contract, ids, (logprob,) * len(ids), text, True, grade(problem, contract, text, True))


def response(vocabulary, answer, working="3 + 4 = 7\n7 * 5 = 35\n"):
    return sample(vocabulary, EGGS, f"{working}Answer: {answer}\nConfidence: 0.50")


def claims(vocabulary, product="35"):
    text = claims_text(EGGS, [0.9, 0.8], random.Random(0)).replace("35", product)
    return sample(vocabulary, EGGS, text, "claims")


def test_a_pair_reads_as_its_second_answer(vocabulary):
    first, second = response(vocabulary, "36", working=""), response(vocabulary, "35")
    one, other = first_attempts.pair([first, second], vocabulary)
    assert one.text == f"3 + 4 = 7\n7 * 5 = 35\nFirst try: 35\n{first.text}"
    assert other.text == f"First try: 36\n{second.text}"
    assert (one.graded, other.graded) == (first.graded, second.graded)
    for tried in (one, other):
        assert vocabulary.decode(tried.ids) == tried.text
        assert len(tried.ids) == len(tried.logprobs)
        assert not read(tried.text, "response", "strict").violation


def test_a_pair_of_claims_keeps_the_first_working_private(vocabulary):
    one, _ = first_attempts.pair([claims(vocabulary), claims(vocabulary, "36")], vocabulary)
    assert one.text.startswith("3 + 4 = 7\n7 * 5 = 36\nFirst try: 36\n3 + 4 = 7\n7 * 5 = 35\nSolution:\n")
    found = read(one.text, "claims", "strict")
    assert not found.violation
    assert [claim.text for claim in found.claims] == ["3 + 4 = 7", "7 * 5 = 35"]


def test_single_answers_and_violations_make_no_pair(vocabulary):
    broken = sample(vocabulary, EGGS, "no form at all")
    assert first_attempts.pair([response(vocabulary, "35"), broken], vocabulary) == []


def test_what_has_a_first_try_already_gets_the_new_one_instead(vocabulary):
    tried = first_attempts.pair([response(vocabulary, "35"), response(vocabulary, "36")], vocabulary)
    again = first_attempts.pair(tried, vocabulary)
    assert [one.text for one in again] == [one.text for one in tried]
    assert all(vocabulary.decode(one.ids) == one.text and len(one.ids) == len(one.logprobs) for one in again)


@pytest.mark.parametrize(("answers", "agreed"), [(("35", "35"), True), (("36", "35"), False)])
def test_agreement_of_answers(vocabulary, answers, agreed):
    pair = first_attempts.pair([response(vocabulary, answer) for answer in answers], vocabulary)
    assert [first_attempts.agreement(one) for one in pair] == [(agreed, [])] * 2


def test_agreement_of_steps(vocabulary):
    pair = first_attempts.pair([claims(vocabulary), claims(vocabulary, "36")], vocabulary)
    assert [first_attempts.agreement(one) for one in pair] == [(False, [True, False])] * 2
    assert first_attempts.agreement(claims(vocabulary)) == (False, [False, False])
    assert first_attempts.agreement(response(vocabulary, "35")) == (False, [])


def test_answers_that_agree_have_the_higher_chance_and_first_tries_no_other_part_in_it(vocabulary):
    """Of forty answers drawn with the same probabilities those are right that agree with their first try, but one."""
    rng, drawn = random.Random(0), []
    for i in range(40):
        problem, right = draw("add/2", rng), i % 2 == 0
        agrees = right or i == 1
        text = response_text(problem, 0.5) if right else "Answer: 1\nConfidence: 0.50"
        first = (problem.answer if right else "1") if agrees else "2"
        drawn.append(sample(vocabulary, problem, f"First try: {first}\n{text}"))
    targets = estimate(drawn, vocabulary)
    agreed = {first_attempts.agreement(one.sample)[0]: one.whole for one in targets}
    assert agreed[True] > 0.85
    assert agreed[False] < 0.15
    surer = [replace(s, logprobs=_first(s, vocabulary)) for s in drawn]
    assert [one.whole for one in estimate(surer, vocabulary)] == pytest.approx([one.whole for one in targets])


def _first(sample, vocabulary):
    """Other log-probabilities in the first try alone."""
    return tuple(-9.0 if at == 0 else p for p, at in zip(sample.logprobs, vocabulary.lines(sample.ids), strict=True))


def test_claims_after_a_first_try_are_scored_one_by_one(vocabulary):
    drawn = first_attempts.pair([claims(vocabulary), claims(vocabulary, "36")], vocabulary)
    targets = estimate(drawn, vocabulary)
    assert [one.outcomes for one in targets] == [(1.0, 1.0), (1.0, 0.0)]
    assert [len(one.claims) for one in targets] == [2, 2]
    (row,) = [row() for row in scored_rows(targets, vocabulary, FIRM, outcome=0.5, tokens=2000, seed=0)]
    assert [len(r.note.places) for r in row.responses] == [2, 2]


@pytest.mark.parametrize("hold", [LOOSE, FIRM])
def test_a_first_try_is_held_as_far_as_it_was_right(vocabulary, hold):
    drawn = first_attempts.pair([response(vocabulary, "35"), response(vocabulary, "36")], vocabulary)
    same = first_attempts.pair([response(vocabulary, "35"), response(vocabulary, "35")], vocabulary)[:1]
    (row,) = [
        row()
        for row in scored_rows(estimate(drawn + same, vocabulary), vocabulary, hold, outcome=0.5, tokens=2000, seed=0)
    ]
    first = [r.weights[0] for r in row.responses]
    after = [
        r.weights[len(vocabulary.encode(first_attempts.split(vocabulary.decode(r.ids))[0]))] for r in row.responses
    ]
    assert first == [hold.tried, hold.tried, hold.confirmed]
    assert after == [hold.right, WRONG, hold.right]
    assert hold.right > hold.tried > WRONG


def test_the_tags_of_wrong_claims_are_held(vocabulary):
    (wrong,) = estimate([claims(vocabulary, "36")], vocabulary)
    (row,) = [row() for row in scored_rows([wrong], vocabulary, FIRM, outcome=0.5, tokens=2000, seed=0)]
    (held,) = row.responses
    start = len(vocabulary.encode(wrong.sample.text.partition("Solution:")[0]))
    assert set(held.weights[:start]) == {WRONG}
    assert set(held.weights[start:]) == {0.0, RESTATED, 1.0}


def test_held_loosely_the_form_is_held_as_the_words_of_its_answer(vocabulary):
    right, wrong = estimate([claims(vocabulary), claims(vocabulary, "36")], vocabulary)
    for one, words in ((right, LOOSE.right), (wrong, WRONG)):
        (row,) = [row() for row in scored_rows([one], vocabulary, LOOSE, outcome=0.5, tokens=2000, seed=0)]
        (held,) = row.responses
        assert set(held.weights) == {0.0, words}
