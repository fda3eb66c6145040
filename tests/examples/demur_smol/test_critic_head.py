"""The value head: fitted in closed form, read before the end token, loadable as a token classifier."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForTokenClassification

from demur.model.merging import write_critic
from demur_smol_lab import critic
from demur_smol_lab.grading import Graded
from demur_smol_lab.llama import Llama
from demur_smol_lab.problems.mix import distinct
from demur_smol_lab.sampling import Sample
from demur_smol_lab.tokens import Vocabulary
from tiny_digit_model import make_tiny_digit_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny_digit_model(tmp_path_factory.mktemp("model"))


def some_samples(vocabulary):
    return [
        Sample(i, problem, contract, tuple(vocabulary.encode(f"Answer: {i}\nConfidence: 0.50")), (), "", True, Graded(False, False, 0.5))
        for i, (problem, contract) in enumerate(zip(distinct("train", 6, 0), ["response", "claims"] * 3, strict=True))
    ]  # fmt: skip


def test_the_critic_in_its_folder_gives_the_values_that_were_fitted(folder, tmp_path):
    vocabulary, model = Vocabulary(folder), Llama(folder)
    samples = some_samples(vocabulary)
    found = dict(critic.states(model, vocabulary, samples))
    states = torch.stack([found[number][-1] for number in range(len(samples))])
    weight, bias = torch.randn(1, states.shape[1], generator=torch.Generator().manual_seed(0)) / 50, torch.tensor([0.5])
    served = AutoModelForTokenClassification.from_pretrained(
        write_critic(folder, weight, bias, tmp_path / "critic"), dtype=torch.float32
    ).eval()
    for sample, expected in zip(samples, critic.values(states, weight, bias), strict=True):
        ids = [*vocabulary.prompt(sample.problem.question, sample.contract), *sample.ids]
        with torch.no_grad():
            value = served(torch.tensor([ids])).logits[0, -1, 0].clamp(0, 1)
        assert float(value) == pytest.approx(expected, abs=2e-4)


def test_the_fit_finds_what_success_depends_on():
    dice = torch.Generator().manual_seed(0)
    found = critic.Regression(8)
    for _ in range(4000):
        state = torch.randn(1, 8, generator=dice, dtype=torch.float64)
        chance = float((0.5 + 0.15 * state[0, 2]).clamp(0, 1))
        found.add(state, float(torch.rand(1, generator=dice) < chance), torch.ones(1, dtype=torch.float64))
    weight, bias = found.solve()
    assert float(weight[0, 2]) == pytest.approx(0.15, abs=0.03)
    assert float(bias) == pytest.approx(0.5, abs=0.03)
    assert float(weight[0].abs().sort().values[-2]) < 0.03


def test_the_fit_weighs_as_many_copies_would():
    dice = torch.Generator().manual_seed(1)
    once, copied = critic.Regression(3), critic.Regression(3)
    for outcome in (0.0, 1.0, 1.0, 0.0, 1.0):
        states = torch.randn(2, 3, generator=dice, dtype=torch.float64)
        once.add(states, outcome, torch.tensor([1.0, 3.0], dtype=torch.float64))
        copied.add(states[[0, 1, 1, 1]], outcome, torch.ones(4, dtype=torch.float64))
    for one, other in zip(once.solve(), copied.solve(), strict=True):
        torch.testing.assert_close(one, other)


def test_states_are_those_before_the_first_token_and_at_every_token(folder):
    vocabulary, model = Vocabulary(folder), Llama(folder)
    samples = some_samples(vocabulary)
    found = dict(critic.states(model, vocabulary, samples))
    assert sorted(found) == list(range(len(samples)))
    for number, sample in enumerate(samples):
        prompt = vocabulary.prompt(sample.problem.question, sample.contract)
        ids = torch.tensor([[*prompt, *sample.ids]])
        length = ids.shape[1]
        masks = [torch.ones(length, length, dtype=torch.bool).tril()]
        with torch.no_grad():
            alone = model.hidden(ids, torch.arange(length)[None], masks)[0, len(prompt) - 1 :]
        torch.testing.assert_close(found[number], alone, atol=1e-4, rtol=1e-4)


def test_a_critic_fitted_on_samples_has_one_weight_a_feature(folder):
    vocabulary, model = Vocabulary(folder), Llama(folder)
    weight, bias = critic.fit(model, vocabulary, some_samples(vocabulary))
    assert weight.shape == (1, model.embedding.shape[1])
    assert bias.shape == (1,)
    assert float(bias) == pytest.approx(0.0, abs=1e-6)  # none was right


def test_values_are_probabilities():
    states = torch.tensor([[100.0], [-100.0], [0.1]])
    assert critic.values(states, torch.ones(1, 1), torch.zeros(1)) == pytest.approx([1.0, 0.0, 0.1])


def test_a_course_is_looked_at_from_before_the_first_token_to_the_last():
    found = critic.course([0.5, 0.6, 0.4, 0.4, 0.8, 1.0, 1.0, 0.9, 0.0])
    assert found.places == [0.5, 0.4, 0.8, 1.0, 0.0]
    assert found.shown == pytest.approx([0.5, (0.6 + 0.4) / 2, (0.6 + 0.4 + 0.4 + 0.8) / 4, 3.2 / 4, 2.9 / 4])
    assert found.step == pytest.approx((0.1 + 0.2 + 0.0 + 0.4 + 0.2 + 0.0 + 0.1 + 0.9) / 8)
    assert found.clipped == pytest.approx(3 / 9)


def test_what_is_measured_is_what_the_page_shows():
    page = Path(__file__).parents[3] / "clients" / "web" / "js" / "expected.js"
    assert f"const OVER = {critic.OVER};" in page.read_text(encoding="utf-8")


def test_an_output_without_tokens_has_the_value_of_its_prompt():
    assert critic.course([0.3]) == critic.Course([0.3] * len(critic.PLACES), [0.3] * len(critic.PLACES), 0.0, 0.0)
