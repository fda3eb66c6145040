"""The light loop's network, packing and sampling agree with transformers."""

import pytest
import torch
from torch.nn import functional as F
from transformers import AutoModelForCausalLM

from demur_smol_lab import llama, losses
from demur_smol_lab.decoding import sample
from demur_smol_lab.llama import Llama
from demur_smol_lab.packing import Branch, Response, batches, pack
from tiny_digit_model import make_tiny_digit_model

PREFIX = [5, 9, 30, 41]
QUESTIONS = [[50, 51, 52], [60, 61], [70, 71, 72, 73, 74]]
ANSWERS = [[80, 81, 82], [90, 91]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny_digit_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """So small a model is slower on two threads, and much slower on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def model(folder):
    torch.manual_seed(0)
    return Llama(folder, rank=4, adapted=1)


@pytest.fixture(scope="module")
def reference(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


def plain(ids):
    return Response(ids, [1.0] * len(ids))


def whole_row():
    return pack(PREFIX, [Branch(q, [plain(a) for a in ANSWERS]) for q in QUESTIONS])


def token_logits(model, row):
    """[response tokens, vocabulary], all at once."""
    return model.logits(model.hidden(row.ids, row.positions, row.masks)[0, row.predictors()])


def train_a_little(model):
    with torch.no_grad():
        for _, linear in model.adapters():
            linear.lora_b.normal_(std=0.1)


def test_packed_log_probabilities_are_those_of_each_sequence_alone(model, reference):
    row = whole_row()
    with torch.no_grad():
        packed = token_logits(model, row)
        alone = [
            reference(torch.tensor([PREFIX + q + a])).logits[0, len(PREFIX + q) - 1 : -1]
            for q in QUESTIONS
            for a in ANSWERS
        ]
    torch.testing.assert_close(packed, torch.cat(alone), atol=2e-4, rtol=1e-4)


def test_targets_and_weights_follow_the_responses():
    row = pack(PREFIX, [Branch(QUESTIONS[0], [Response([80, 81], [1.0, 0.5]), Response([90], [0.25])])])
    assert row.targets().tolist() == [80, 81, 90]
    assert row.weights().tolist() == [1.0, 0.5, 0.25]
    assert row.predictors().tolist() == [6, 7, 6]


def test_batches_keep_order_and_budget():
    branches = [Branch([1] * n, [plain([2])]) for n in (3, 3, 20, 1)]
    assert [[len(b.question) for b in held] for held in batches(branches, 8)] == [[3, 3], [20], [1]]


@pytest.mark.parametrize(("samples", "batch"), [(1, 4), (2, 4), (1, 1), (3, 12), (2, 64)])
def test_greedy_samples_are_those_of_transformers(model, reference, samples, batch):
    asked = [*QUESTIONS, *([40 + n, 41 + 2 * n][: 1 + n % 2] for n in range(9))]
    alone = [continued(reference, PREFIX + question, 7) for question in asked]
    end = alone[0][3]  # some end with it, sooner or later, and leave their rows to the next
    drawn = list(sample(model, PREFIX, asked, samples=samples, limit=7, end=end, seed=0, temperature=0, batch=batch))
    assert sorted(d.question for d in drawn) == sorted([*range(12)] * samples)
    for one in drawn:
        expected = alone[one.question]
        assert one.ended == (end in expected)
        assert list(one.ids) == (expected[: expected.index(end)] if one.ended else expected)
    assert len({len(one.ids) for one in drawn}) > 1


def continued(reference, ids, tokens):
    """What transformers writes after `ids` at temperature 0."""
    prompt = torch.tensor([ids])
    with torch.no_grad():
        whole = reference.generate(
            prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=tokens, do_sample=False, eos_token_id=None
        )
    return whole[0, len(ids) :].tolist()


def test_samples_end_at_the_end_token_and_repeat_with_their_seed(model):
    first = next(iter(sample(model, PREFIX, QUESTIONS[:1], samples=1, limit=1, end=-1, seed=0, temperature=0))).ids[0]
    (stopped,) = sample(model, PREFIX, QUESTIONS[:1], samples=1, limit=5, end=first, seed=0, temperature=0)
    assert (stopped.ids, stopped.ended) == ((), True)

    def run(seed):
        return [d.ids for d in sample(model, PREFIX, QUESTIONS, samples=3, limit=6, end=2, seed=seed, batch=8)]

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_samples_have_the_log_probabilities_of_each_alone(model):
    asked = [*QUESTIONS, *([40 + n] * (1 + n % 3) for n in range(9))]
    for one in sample(model, PREFIX, asked, samples=2, limit=6, end=2, seed=0, batch=6):
        row = pack(PREFIX, [Branch(asked[one.question], [plain(one.ids)])])
        with torch.no_grad():
            probabilities = token_logits(model, row).log_softmax(-1)
        expected = probabilities[torch.arange(len(one.ids)), list(one.ids)]
        torch.testing.assert_close(torch.tensor(one.logprobs), expected, atol=2e-4, rtol=1e-4)


def test_sampling_follows_the_distribution(model):
    row = pack(PREFIX, [Branch(QUESTIONS[0], [plain([80])])])
    with torch.no_grad():
        expected = token_logits(model, row)[0].softmax(-1)
    drawn = [d.ids[0] for d in sample(model, PREFIX, QUESTIONS[:1], samples=3000, limit=1, end=-1, seed=0, batch=3000)]
    likeliest = int(expected.argmax())
    assert drawn.count(likeliest) / 3000 == pytest.approx(float(expected[likeliest]), abs=0.04)


def test_folding_changes_no_output_and_can_be_undone(model):
    before = {name: linear.weight.clone() for name, linear in model.adapters()}
    train_a_little(model)
    row = whole_row()
    with torch.no_grad():
        open_ = token_logits(model, row)
        model.fold(+1)
        model.fold(+1)
        folded = token_logits(model, row)
        model.fold(-1)
    torch.testing.assert_close(folded, open_, atol=1e-3, rtol=1e-3)
    for name, linear in model.adapters():
        torch.testing.assert_close(linear.weight, before[name])


def test_the_loss_in_chunks_has_the_value_and_the_gradient_of_all_logits_at_once(model):
    train_a_little(model)
    row = whole_row()
    expected = F.cross_entropy(token_logits(model, row), row.targets())
    value, _ = losses.imitation(model, row, chunk=3)
    torch.testing.assert_close(value, expected)
    trained = [p for p in model.parameters() if p.requires_grad]
    for found, wanted in zip(torch.autograd.grad(value, trained), torch.autograd.grad(expected, trained), strict=True):
        torch.testing.assert_close(found, wanted, atol=1e-6, rtol=1e-4)


def test_only_the_upper_layers_learn(model):
    token_logits(model, whole_row()).sum().backward()
    learning = [name for name, p in model.named_parameters() if p.grad is not None]
    assert learning
    assert all(name.startswith("layers.1.") and "lora" in name for name in learning)


def test_another_architecture_is_refused(folder, tmp_path):
    (tmp_path / "config.json").write_text((folder / "config.json").read_text().replace('"llama"', '"gemma"'))
    with pytest.raises(ValueError, match="Llama models"):
        Llama(tmp_path)


@pytest.mark.parametrize(
    ("seconds", "expected"), [([0.0, 3.0, 3.0, 4.0], torch.bfloat16), ([0.0, 1.0, 1.0, 4.0], torch.float32)]
)
def test_the_precision_is_the_one_that_took_less_time(seconds, expected):
    readings = iter(seconds)
    assert llama.faster(lambda: next(readings)) == expected
