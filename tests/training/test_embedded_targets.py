"""From samples to what the confidence should have been."""

import random

import pytest

from demur_training.embedded.grading import grade
from demur_training.embedded.losses import Stated
from demur_training.embedded.sampling import Sample
from demur_training.embedded.targets import brier_rows, empirical_rows, problem_success
from demur_training.embedded.texts import claims_text, response_text
from demur_training.embedded.tokens import Vocabulary
from demur_training.graded.mix import draw
from tiny_digit_model import make_tiny_digit_model


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    return Vocabulary(make_tiny_digit_model(tmp_path_factory.mktemp("model")))


def sample(vocabulary, number, problem, text, contract="response"):
    ids = tuple(vocabulary.encode(text))
    return Sample(number, problem, contract, ids, text, True, grade(problem, contract, text, ended=True))


@pytest.fixture
def answers(vocabulary):
    """Two problems of one cell: the first right three times of four, the second never."""
    rng = random.Random(0)
    one, two = draw("add/2", rng), draw("add/2", rng)
    right, wrong = response_text(one, 0.5), "Answer: 1\nConfidence: 0.50"
    return [sample(vocabulary, 0, one, text) for text in (right, right, right, wrong)] + [
        sample(vocabulary, 1, two, wrong) for _ in range(4)
    ]


def test_success_is_shrunk_towards_its_cell(answers):
    success = problem_success(answers)
    cell = 3 / 8
    assert success["response", 0, -1] == pytest.approx((3 + 4 * cell) / 8)
    assert success["response", 1, -1] == pytest.approx((0 + 4 * cell) / 8)


def test_violations_teach_no_confidence(vocabulary, answers):
    broken = sample(vocabulary, 0, answers[0].problem, "no form at all")
    assert problem_success([*answers, broken]) == problem_success(answers)
    rows = [row() for row in brier_rows([*answers, broken], vocabulary, tokens=500, seed=0)]
    assert sum(len(row.responses) for row in rows) == len(answers)


def test_empirical_rows_restate_the_measured_success(vocabulary, answers):
    rows = [row() for row in empirical_rows(answers, vocabulary, tokens=800, seed=0, each=4)]
    texts = sorted({vocabulary.decode(r.ids).rpartition(" ")[2] for row in rows for r in row.responses})
    assert texts == ["0.19<|im_end|>", "0.56<|im_end|>"]


def test_the_answer_of_a_wrong_output_is_not_imitated_but_its_ending_is(vocabulary, answers):
    rows = [row() for row in empirical_rows(answers[4:], vocabulary, tokens=800, seed=0, each=1)]
    (response,) = (r for row in rows for r in row.responses)
    weights = dict(zip(map(str, range(len(response.ids))), response.weights, strict=True))
    assert weights["0"] == 0.0
    assert response.weights[-1] > 0
    assert sorted(response.weights)[-2:] == [1.0, 1.0]


def test_brier_rows_carry_what_became_of_each_output(vocabulary, answers):
    rows = [row() for row in brier_rows(answers, vocabulary, tokens=800, seed=0)]
    notes = [r.note for row in rows for r in row.responses]
    assert sorted(note.targets for note in notes) == [(0.0,)] * 5 + [(1.0,)] * 3
    assert all(isinstance(note, Stated) and note.valid is None for note in notes)


def test_claims_have_a_target_each_and_one_for_their_minimum(vocabulary):
    rng = random.Random(3)
    problem = draw("sum_times/1", rng)
    text = claims_text(problem, [0.9, 0.8], rng)
    first = str(problem.steps[0])
    spoiled = text.replace(first, f"{problem.steps[0].expression} = 99")
    drawn = [sample(vocabulary, 0, problem, t, "claims") for t in (text, spoiled)]
    rows = [row() for row in brier_rows(drawn, vocabulary, tokens=800, seed=0)]
    notes = {r.note.targets: r.note for row in rows for r in row.responses}
    assert set(notes) == {(1.0, 1.0), (0.0, 0.0)}
    assert notes[1.0, 1.0].valid == 1.0
    assert len(notes[1.0, 1.0].places) == 2
