"""What the warm start shows is read strictly, and its confidences are found among its tokens."""

import random

import pytest

from demur.core.reader import read
from demur_smol_lab.grading import grade
from demur_smol_lab.problems.mix import MIX, draw
from demur_smol_lab.tokens import Prompts, Vocabulary
from demur_smol_lab.warm_start import CONFIDENCE_WEIGHT, rows, weighed
from demur_smol_lab.worked_answers import claims_text, count_claims, response_text, written
from tiny_digit_model import make_tiny_digit_model
from tiny_model import make_tiny_model


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    return Vocabulary(make_tiny_digit_model(tmp_path_factory.mktemp("model")))


@pytest.mark.parametrize("cell", sorted(MIX))
def test_own_texts_are_well_formed_and_right(cell):
    rng = random.Random(cell)
    problem = draw(cell, rng)
    confidences = [rng.random() for _ in range(count_claims(problem))]
    for contract, text, stated in (
        ("response", response_text(problem, confidences[0]), confidences[0]),
        ("claims", claims_text(problem, confidences, rng), min(confidences)),
    ):
        graded = grade(problem, contract, text, ended=True)
        assert not graded.violation, text
        assert graded.valid == (problem.answer is not None)
        assert graded.confidence == pytest.approx(min(stated, 0.99), abs=0.0051)
        assert len(graded.claims) == (count_claims(problem) if contract == "claims" else 0)
        if problem.steps:
            assert all(right for _, right in graded.claims)


@pytest.mark.parametrize(("p", "text"), [(0, "0.00"), (1, "0.99"), (0.5, "0.50"), (0.999, "0.99"), (-1, "0.00")])
def test_confidences_have_two_decimals_below_one(p, text):
    assert written(p) == text


def test_an_output_that_did_not_end_or_lost_its_form_is_a_violation():
    problem = draw("add/1", random.Random(0))
    good = response_text(problem, 0.5)
    assert not grade(problem, "response", good, ended=True).violation
    assert grade(problem, "response", good, ended=False).violation
    assert grade(problem, "response", good + "\nand more", ended=True).violation
    assert not grade(problem, "response", good + "\nand more", ended=True).valid


def test_the_prompt_is_the_servers_cut_in_two(vocabulary):
    for contract in ("response", "claims"):
        prompts = Prompts(vocabulary, contract)
        for question in ("What is 3 + 4?", "3 + 4 = ?", "Who?"):
            assert prompts.prefix + prompts.rest(question) == vocabulary.prompt(question, contract)


def test_confidences_are_found_among_the_tokens(vocabulary):
    rng = random.Random(1)
    problem = draw("sum_times/1", rng)
    for text, stated in (
        ("3 / 4 is 0.75\n" + response_text(problem, 0.62), [62]),
        (claims_text(problem, [0.31, 0.9], rng), [31, 90]),
    ):
        ids = vocabulary.encode(text)
        assert vocabulary.decode(ids) == text
        places = vocabulary.confidences(ids)
        assert [10 * vocabulary.digit(ids[i]) + vocabulary.digit(ids[i + 1]) for i in places] == stated


def test_random_confidences_weigh_little(vocabulary):
    response = weighed(vocabulary, vocabulary.encode("Answer: 4\nConfidence: 0.35"), CONFIDENCE_WEIGHT)
    assert response.ids[-1] == vocabulary.end
    light = [vocabulary.decode([i]) for i, w in zip(response.ids, response.weights, strict=True) if w != 1.0]
    assert light == ["3", "5"]


def test_warm_start_rows_show_every_problem_once(vocabulary):
    rng = random.Random(2)
    problems = [(draw("add/2", rng), contract) for contract in ("response", "claims") for _ in range(5)]
    made = [row() for row in rows(problems, vocabulary, tokens=500, seed=0)]
    assert sum(len(row.responses) for row in made) == 10
    texts = [vocabulary.decode(response.ids) for row in made for response in row.responses]
    completions = [
        read(t.removesuffix("<|im_end|>"), "claims" if "<Conf" in t else "response", "strict") for t in texts
    ]
    assert not any(completion.violation for completion in completions)
    assert {completion.answer for completion in completions} == {problem.answer for problem, _ in problems}


def test_a_tokenizer_that_joins_digits_is_refused(tmp_path):
    with pytest.raises(ValueError, match="digits one by one"):
        Vocabulary(make_tiny_model(tmp_path))
