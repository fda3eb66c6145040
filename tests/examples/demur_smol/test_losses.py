"""The exact form of the Brier reward is the expectation it claims to be, and proper."""

from itertools import product
from math import log

import pytest
import torch

from demur.core.reward_rules import brier
from demur_smol_lab.losses import ExactBrier, Stated, digit_values, expected_minimum_score, imitation
from demur_smol_lab.packing import Branch, PackedRow, Response, pack


def distributions(claims: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(claims, 10, generator=torch.Generator().manual_seed(seed)).mul(2).softmax(-1)


def middles(claims: int) -> torch.Tensor:
    return (torch.arange(10) / 10 + 0.045).expand(claims, 10)


@pytest.mark.parametrize("claims", [1, 2, 3])
@pytest.mark.parametrize("valid", [0.0, 1.0])
def test_the_score_of_the_minimum_is_its_expectation(claims, valid):
    probabilities, values = distributions(claims), middles(claims).clone()
    values[0, 4] += 0.01
    expected = 0.0
    for digits in product(range(10), repeat=claims):
        probability = torch.stack([probabilities[i, d] for i, d in enumerate(digits)]).prod()
        least = min(float(values[i, d]) for i, d in enumerate(digits))
        expected += float(probability) * (least - valid) ** 2
    assert float(expected_minimum_score(probabilities, values, valid)) == pytest.approx(expected, rel=1e-4)


def test_it_is_the_brier_reward_up_to_what_no_confidence_changes():
    probabilities, values = distributions(1), middles(1)
    reward = sum(float(c) * brier(float(p), True) for c, p in zip(probabilities[0], values[0], strict=True))
    assert 1 - float(expected_minimum_score(probabilities, values, 1.0)) == pytest.approx(reward, rel=1e-4)


@pytest.mark.parametrize("chance", [0.05, 0.25, 0.65, 0.95])
def test_honesty_is_what_gradient_descent_finds(chance):
    """Right `chance` of the time, a free distribution over the first decimal ends at that chance."""
    logits = torch.zeros(1, 10, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.3)
    for _ in range(300):
        if_right, if_wrong = (expected_minimum_score(logits.softmax(-1), middles(1), v) for v in (1.0, 0.0))
        loss = chance * if_right + (1 - chance) * if_wrong
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    stated = float((logits.detach().softmax(-1) * middles(1)).sum())
    assert stated == pytest.approx(chance, abs=0.06)


def test_the_drawn_tenth_stands_for_its_expected_hundredths():
    second = torch.zeros(10)
    second[7] = 1.0
    values = digit_values(second, 9)
    assert float(values[9]) == pytest.approx(0.97)
    assert values[:9].tolist() == pytest.approx([d / 10 + 0.045 for d in range(9)])


class Fixed:
    """A model whose logits [response tokens, vocabulary] are given."""

    device = torch.device("cpu")

    def __init__(self, row: PackedRow, logits: torch.Tensor) -> None:
        self._hidden = torch.zeros(1, row.ids.shape[1], logits.shape[1])
        self._hidden[0, row.predictors()] = logits

    def hidden(self, ids, positions, masks):
        return self._hidden

    def logits(self, hidden):
        return hidden


def test_the_score_and_the_imitation_of_the_words_add_up():
    """Of 13 tokens 3 to 12 are the digits, all alike, and the words are never what was expected: uniform over 13."""
    digits = tuple(range(3, 13))
    row = pack([1, 2], [Branch([1], [Response([2, 7, 8, 1], [1.0, 0.0, 0.0, 1.0], Stated((1,), (0.4,)))])])
    value, figures = ExactBrier(digits, strength=5.0, anchor=0.5, only_digits=0.0)(Fixed(row, torch.zeros(4, 13)), row)
    expected = sum((tenth / 10 + 0.045 - 0.4) ** 2 for tenth in range(10)) / 10
    assert figures["brier"] == pytest.approx(expected, abs=1e-4)
    assert figures["anchor"] == pytest.approx(log(13), abs=1e-4)
    assert float(value) == pytest.approx(5 * figures["brier"] + 0.5 * figures["anchor"], abs=1e-5)


@pytest.mark.parametrize(("astray", "leak"), [(0.0, 0.0), (0.5, 0.69), (0.9, 2.3)])
def test_words_where_a_digit_belongs_are_what_leaks(astray, leak):
    """Of 13 tokens 3 to 12 are the digits; `astray` of the probability at both places of a confidence is token 0's."""
    digits = tuple(range(3, 13))
    row = pack([1, 2], [Branch([1], [Response([2, 7, 8, 1], [1.0, 0.0, 0.0, 1.0], Stated((1,), (0.4,)))])])
    at_places = torch.tensor([astray, 0.0, 0.0, *[(1 - astray) / 10] * 10]).clamp(min=1e-12).log()
    logits = torch.stack([torch.zeros(13), at_places, at_places, torch.zeros(13)])
    model = Fixed(row, logits)
    plain, _ = ExactBrier(digits, only_digits=0.0)(model, row)
    held, figures = ExactBrier(digits, only_digits=2.0)(model, row)
    assert figures["leak"] == pytest.approx(leak, abs=0.01)
    assert float(held - plain) == pytest.approx(2 * figures["leak"], abs=1e-4)


def test_a_row_that_states_nothing_is_imitated():
    row = pack([1, 2], [Branch([1], [Response([2, 7, 8, 1], [1.0, 0.0, 0.0, 1.0])])])
    model = Fixed(row, torch.randn(4, 13, generator=torch.Generator().manual_seed(0)))
    value, figures = ExactBrier(tuple(range(3, 13)))(model, row)
    assert set(figures) == {"cross_entropy"}
    assert float(value) == pytest.approx(float(imitation(model, row)[0]))
