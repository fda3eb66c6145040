"""The exact form of the Brier reward is the expectation it claims to be, and proper."""

from itertools import product

import pytest
import torch

from demur.core.scoring import brier
from demur_training.embedded.losses import digit_values, expected_minimum_score


def distributions(claims: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(claims, 10, generator=torch.Generator().manual_seed(seed)).mul(2).softmax(-1)


def middles(claims: int) -> torch.Tensor:
    return (torch.arange(10) / 10 + 0.045).expand(claims, 10)


@pytest.mark.parametrize("claims", [1, 2, 3])
@pytest.mark.parametrize("valid", [0.0, 1.0])
def test_the_score_of_the_minimum_is_its_expectation(claims, valid):
    chances, values = distributions(claims), middles(claims).clone()
    values[0, 4] += 0.01
    expected = 0.0
    for digits in product(range(10), repeat=claims):
        probability = torch.stack([chances[i, d] for i, d in enumerate(digits)]).prod()
        least = min(float(values[i, d]) for i, d in enumerate(digits))
        expected += float(probability) * (least - valid) ** 2
    assert float(expected_minimum_score(chances, values, valid)) == pytest.approx(expected, rel=1e-4)


def test_it_is_the_brier_reward_up_to_what_no_confidence_changes():
    chances, values = distributions(1), middles(1)
    reward = sum(float(c) * brier(float(p), True) for c, p in zip(chances[0], values[0], strict=True))
    assert 1 - float(expected_minimum_score(chances, values, 1.0)) == pytest.approx(reward, rel=1e-4)


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
