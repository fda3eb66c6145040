"""From samples to what the confidence should have been."""

import random

import pytest

from demur_smol_lab.confidence_targets import estimate
from demur_smol_lab.grading import grade
from demur_smol_lab.measuring import auc_within
from demur_smol_lab.problems.mix import asked, draw
from demur_smol_lab.sampling import Sample
from demur_smol_lab.tokens import Vocabulary
from demur_smol_lab.training_rows import FIRM, WRONG, empirical_rows, scored_rows
from demur_smol_lab.worked_answers import claims_text, response_text
from tiny_digit_model import make_tiny_digit_model

SURE, UNSURE = -0.01, -1.5
"""Log-probabilities of every token of an output."""


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    return Vocabulary(make_tiny_digit_model(tmp_path_factory.mktemp("model")))


def sample(vocabulary, number, problem, text, contract="response", logprob=SURE):
    ids = tuple(vocabulary.encode(text))
    graded = grade(problem, contract, text, ended=True)
    return Sample(number, problem, contract, ids, (logprob,) * len(ids), text, True, graded)


@pytest.fixture
def answers(vocabulary):
    """Forty problems of one cell: the answers the model was sure of are right nine times in ten, the others once."""
    rng = random.Random(0)
    found = []
    for i in range(40):
        problem, sure = draw("add/2", rng), i % 2 == 0
        right = (i // 2) % 10 != 0 if sure else (i // 2) % 10 == 0
        text = response_text(problem, 0.5) if right else "Answer: 1\nConfidence: 0.50"
        found.append(sample(vocabulary, i, problem, text, logprob=SURE if sure else UNSURE))
    return found


def test_what_the_model_was_unsure_of_has_the_lower_chance(vocabulary, answers):
    targets = estimate(answers, vocabulary)
    sure = [one.whole for one in targets if one.sample.logprobs[0] == SURE]
    unsure = [one.whole for one in targets if one.sample.logprobs[0] == UNSURE]
    assert len(sure) == len(unsure) == 20
    assert sum(sure) / 20 == pytest.approx(0.9, abs=0.07)
    assert sum(unsure) / 20 == pytest.approx(0.1, abs=0.07)
    assert sum(one.whole for one in targets) == pytest.approx(20, abs=0.01)


def test_a_cell_the_model_fails_has_the_lower_chance(vocabulary):
    rng = random.Random(1)
    easy = [draw("add/1", rng) for _ in range(20)]
    hard = [draw("multiply/44", rng) for _ in range(20)]
    drawn = [sample(vocabulary, i, p, response_text(p, 0.5)) for i, p in enumerate(easy)]
    drawn += [sample(vocabulary, i, p, "Answer: 1\nConfidence: 0.50") for i, p in enumerate(hard, 20)]
    targets = [one.whole for one in estimate(drawn, vocabulary)]
    assert min(targets[:20]) > 0.7
    assert max(targets[20:]) < 0.3


def test_what_became_of_a_problem_does_not_leak_into_its_own_chance(vocabulary):
    """An easy cell and a hard one, all outputs drawn with the same probabilities: within a cell nothing tells the right
    ones from the wrong ones, and their order by chance is a toss-up."""
    rng = random.Random(2)
    drawn = []
    for i in range(400):
        cell, rate = (("add/2", 0.8), ("add/4", 0.2))[i % 2]
        problem = draw(cell, rng)
        answer = int(problem.answer or "") + (rng.random() > rate)
        drawn.append(sample(vocabulary, i, problem, f"Answer: {answer}\nConfidence: 0.50"))
    found = [(one.sample.problem.cell, one.whole, one.sample.graded.valid) for one in estimate(drawn, vocabulary)]
    assert auc_within(found).value == pytest.approx(0.5, abs=0.15)


def test_one_outcome_everywhere_is_its_own_chance(vocabulary, answers):
    right = [s for s in answers if s.graded.valid]
    assert {one.whole for one in estimate(right, vocabulary)} == {1.0}
    assert estimate([], vocabulary) == []


def test_only_what_was_said_before_the_confidence_counts(vocabulary, answers):
    def with_last_line(one, logprob):
        lines = vocabulary.lines(one.ids)
        logprobs = tuple(logprob if at == lines[-1] else p for at, p in zip(lines, one.logprobs, strict=True))
        return Sample(one.problem_id, one.problem, one.contract, one.ids, logprobs, one.text, one.ended, one.graded)

    changed = [with_last_line(one, -random.Random(i).random()) for i, one in enumerate(answers)]
    expected = [one.whole for one in estimate(answers, vocabulary)]
    assert [one.whole for one in estimate(changed, vocabulary)] == pytest.approx(expected)


def test_what_was_stated_does_not_count(vocabulary, answers):
    otherwise = [
        sample(vocabulary, s.problem_id, s.problem, s.text.replace("0.50", "0.90"), logprob=s.logprobs[0])
        for s in answers
    ]
    wholes = [[one.whole for one in estimate(drawn, vocabulary)] for drawn in (answers, otherwise)]
    assert wholes[0] == wholes[1]


def test_violations_teach_no_confidence(vocabulary, answers):
    broken = sample(vocabulary, 0, answers[0].problem, "no form at all")
    assert estimate([*answers, broken], vocabulary) == estimate(answers, vocabulary)


def test_empirical_rows_write_the_chance(vocabulary, answers):
    targets = estimate(answers, vocabulary)
    rows = [row() for row in empirical_rows(targets, vocabulary, tokens=800, seed=0)]
    texts = sorted(vocabulary.decode(r.ids).rpartition(" ")[2] for row in rows for r in row.responses)
    assert texts == sorted(f"{round(one.whole, 2):.2f}<|im_end|>" for one in targets)


def test_a_wrong_output_is_hardly_imitated_but_its_confidence_is(vocabulary, answers):
    wrong = [one for one in estimate(answers, vocabulary) if not one.sample.graded.valid][:1]
    (row,) = empirical_rows(wrong, vocabulary, tokens=800, seed=0)
    (response,) = row().responses
    assert response.weights[0] == WRONG < 0.1
    assert response.weights[-3:] == [1.0, 1.0, WRONG]


def test_scored_rows_write_the_chance_and_carry_what_became_of_each_output(vocabulary, answers):
    targets = estimate(answers, vocabulary)
    rows = [row() for row in scored_rows(targets, vocabulary, FIRM, outcome=0.5, tokens=800, seed=0)]
    responses = [r for row in rows for r in row.responses]
    texts = sorted(vocabulary.decode(r.ids).rpartition(" ")[2] for r in responses)
    assert texts == sorted(f"{round(one.whole, 2):.2f}<|im_end|>" for one in targets)
    expected = sorted((one.whole + one.sample.graded.valid) / 2 for one in targets)
    assert sorted(target for r in responses for target in r.note.targets) == pytest.approx(expected)
    assert all(r.note.valid is None for r in responses)


def test_scored_rows_hold_every_word_and_leave_the_confidence_to_the_score(vocabulary, answers):
    rows = [
        row() for row in scored_rows(estimate(answers, vocabulary), vocabulary, FIRM, outcome=0.5, tokens=800, seed=0)
    ]
    for response in (r for row in rows for r in row.responses):
        (place,) = response.note.places
        assert [i for i, weight in enumerate(response.weights) if weight == 0.0] == [place, place + 1]


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_target_is_so_much_of_what_became_of_the_output_itself(vocabulary, answers, share):
    targets = estimate(answers, vocabulary)
    made = scored_rows(targets, vocabulary, FIRM, outcome=share, tokens=800, seed=0)
    found = sorted(target for row in made for r in row().responses for target in r.note.targets)
    expected = [share * one.sample.graded.valid + (1 - share) * one.whole for one in targets]
    assert found == pytest.approx(sorted(expected))


def in_other_words(vocabulary, count=30):
    """Each problem in four wordings: an answer that all of them share is right, one that stands alone is wrong."""
    rng = random.Random(4)
    for i in range(count):
        problem = draw("add/3", rng)
        for number in range(4):
            slip = i % 2 == 0 and number == 3
            text = "Answer: 1\nConfidence: 0.50" if slip else response_text(problem, 0.5)
            again = asked(problem, rng, "train")
            yield sample(vocabulary, i, again, text, logprob=-0.1 - 0.1 * number)


def test_what_the_same_problem_in_other_words_got_as_an_answer_tells_a_slip(vocabulary):
    drawn = list(in_other_words(vocabulary))
    found = {one.sample.graded.valid: [] for one in estimate(drawn, vocabulary)}
    for one in estimate(drawn, vocabulary):
        found[one.sample.graded.valid].append(one.whole)
    assert min(found[True]) > 0.8 > 0.3 > max(found[False])


def test_the_same_answer_in_other_words_has_the_same_chance_where_that_is_asked_for(vocabulary):
    drawn = list(in_other_words(vocabulary))
    for consistent in (False, True):
        by_answer: dict[tuple[str, ...], set[float]] = {}
        for one in estimate(drawn, vocabulary, consistent=consistent):
            key = *one.sample.problem.key, one.sample.graded.answer
            by_answer.setdefault(key, set()).add(round(one.whole, 9))
        assert (max(map(len, by_answer.values())) == 1) is consistent


def test_a_step_that_others_take_too_is_likely_where_the_answers_differ(vocabulary):
    """The first step is always right and the same; the second comes out in four ways, once rightly."""
    rng, drawn = random.Random(5), []
    for i in range(10):
        problem = draw("sum_times/1", rng)
        last = str(problem.steps[1])
        for wrong in (None, 97, 98, 99):
            text = claims_text(problem, [0.5, 0.5], rng)
            spoiled = text if wrong is None else text.replace(last, f"{problem.steps[1].expression} = {wrong}")
            if wrong is not None:
                spoiled = spoiled.replace(f"Answer:{problem.answer}", f"Answer:{wrong}")
            drawn.append(sample(vocabulary, i, problem, spoiled, "claims"))
        other = draw("sum_times/1", rng)  # where the first step fails, nobody else takes it
        text = claims_text(other, [0.5, 0.5], rng)
        for wrong in (95, 96):
            spoiled = text.replace(str(other.steps[0]), f"{other.steps[0].expression} = {wrong}")
            drawn.append(sample(vocabulary, 100 + i, other, spoiled, "claims"))
    firsts = {True: [], False: []}
    for one in estimate(drawn, vocabulary):
        firsts[one.outcomes[0] == 1.0].append(one.claims[0])
    assert min(firsts[True]) > max(firsts[False])


def test_claims_have_a_target_each_and_one_for_their_minimum(vocabulary):
    rng = random.Random(3)
    drawn = []
    for i in range(20):
        problem = draw("sum_times/1", rng)
        text = claims_text(problem, [0.9, 0.8], rng)
        spoiled = text.replace(str(problem.steps[0]), f"{problem.steps[0].expression} = 99")
        drawn.append(sample(vocabulary, i, problem, spoiled if i % 2 else text, "claims"))
    targets = estimate(drawn, vocabulary)
    assert {one.outcomes for one in targets} == {(1.0, 1.0), (0.0, 0.0)}
    rows = [row() for row in scored_rows(targets, vocabulary, FIRM, outcome=0.5, tokens=800, seed=0)]
    notes = [r.note for row in rows for r in row.responses]
    assert len(notes) == 20
    for note in notes:
        assert len(note.places) == len(note.targets) == 2
        assert note.valid == 1.0  # the final answer stayed right
    assert sum(note.targets[0] > 0.5 for note in notes) == 10
