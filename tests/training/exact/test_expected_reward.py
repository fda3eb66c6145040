from pathlib import Path
from typing import Any

import pytest
import torch

from demur.core.reward_rules import brier
from demur_training.exact.expected_reward import CONFIDENCES, LABEL, Endings, advantages, expected_score, log_probs


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_model)


@pytest.fixture(scope="module")
def model(tiny_model: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(tiny_model).eval()


@pytest.fixture(scope="module")
def endings(tokenizer: Any) -> Endings:
    return Endings.of(tokenizer.encode, tokenizer.eos_token_id)


def test_the_tree_spells_every_confidence(endings: Endings, tokenizer: Any) -> None:
    for text, leaf, value in zip(CONFIDENCES, endings.leaf, endings.value, strict=True):
        ids = [endings.token[node] for node in endings.path(leaf)]
        assert tokenizer.encode(LABEL) + ids == [*tokenizer.encode(f"{LABEL} {text}"), tokenizer.eos_token_id]
        assert value == float(text)
    assert len(endings.inner()) < 150


@pytest.mark.parametrize("text", ["0.00", "0.37", "0.99", "1.00"])
def test_a_path_has_the_probability_of_the_plain_text(text: str, model: Any, tokenizer: Any, endings: Endings) -> None:
    context = tokenizer.encode(f"Answer: 4\n{LABEL}")
    rest = tokenizer.encode(f"Answer: 4\n{LABEL} {text}")[len(context) :]
    whole = torch.tensor([[*context, *rest, tokenizer.eos_token_id]])
    with torch.no_grad():
        plain = model(whole).logits[0].log_softmax(-1)[:-1].gather(1, whole[0, 1:, None])[:, 0]
        tree, spoken = log_probs(model, torch.tensor(context), endings)
    assert float(tree[CONFIDENCES.index(text)]) == pytest.approx(float(plain[len(context) - 1 :].sum()), abs=1e-3)
    assert torch.allclose(spoken, plain[: len(context) - 1], atol=1e-4)


def test_the_gradient_is_that_of_enumerating_the_endings(model: Any, tokenizer: Any, endings: Endings) -> None:
    context = torch.tensor(tokenizer.encode(f"Answer: 4\n{LABEL}"))
    scores = torch.tensor([brier(value, True) for value in endings.value])
    weight = model.model.layers[0].mlp.up_proj.weight

    def gradient(total: torch.Tensor) -> torch.Tensor:
        model.zero_grad()
        total.backward()
        return weight.grad.clone()

    exact = gradient(expected_score(log_probs(model, context, endings)[0], scores, -1.0))
    total = torch.tensor(-1.0)
    for k, leaf in enumerate(endings.leaf):
        ids = torch.cat([context, torch.tensor([endings.token[node] for node in endings.path(leaf)])])
        rows = model(ids[None]).logits[0].log_softmax(-1)
        ending = rows[torch.arange(len(context) - 1, len(ids) - 1), ids[len(context) :]].sum()
        total = total + ending.exp() * (scores[k] + 1.0)
    assert torch.allclose(exact, gradient(total), rtol=1e-3, atol=1e-9)
    assert float(exact.abs().max()) > 0


def test_probability_outside_the_contract_counts_as_a_violation() -> None:
    scores = torch.tensor([0.5, 1.0])
    assert float(expected_score(torch.log(torch.tensor([0.5, 0.5])), scores, -1.0)) == pytest.approx(0.75)
    assert float(expected_score(torch.log(torch.tensor([0.25, 0.25])), scores, -1.0)) == pytest.approx(-0.125)


def test_samples_of_one_question_are_measured_against_each_other() -> None:
    assert advantages([1.0, 0.0, -1.0]) == [1.5, 0.0, -1.5]
    assert advantages([0.7]) == [0.0]
