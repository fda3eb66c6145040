"""The logits processor that draws seeded samples, on made-up logits."""

from collections import Counter

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("vllm")
pytestmark = pytest.mark.vllm

DRAWS = 4000
LOGITS = [2.0, 1.0, 0.0, -1.0, float("-inf")]


def draw(requests, logits=LOGITS):
    """The token chosen for each of `requests`: (settings for SamplingParams, tokens written so far)."""
    from vllm import SamplingParams
    from vllm.v1.sample.logits_processor import BatchUpdate

    from demur.engine.vllm.seeded_sampling import SeededSampling

    processor = SeededSampling(None, torch.device("cpu"), False)
    added = [(i, SamplingParams(**settings), [], written) for i, (settings, written) in enumerate(requests)]
    processor.update_state(BatchUpdate(batch_size=len(added), removed=[], added=added, moved=[]))
    return processor.apply(torch.tensor([logits] * len(requests)))


def seeded(seed: int, **settings):
    from demur.engine.vllm.arguments import SEED

    return {"extra_args": {SEED: seed}, **settings}


def shares(**settings) -> dict[int, float]:
    chosen = draw([(seeded(i, **settings), []) for i in range(DRAWS)]).argmax(dim=-1).tolist()
    return {token: count / DRAWS for token, count in Counter(chosen).items()}


def test_seeds_draw_each_token_as_often_as_it_is_likely():
    expected = torch.tensor(LOGITS).softmax(dim=-1).tolist()
    found = shares()
    assert [found.get(i, 0.0) for i in range(5)] == pytest.approx(expected, abs=0.02)
    assert 4 not in found


@pytest.mark.parametrize(
    ("settings", "possible"), [({"top_k": 2}, [0, 1]), ({"top_p": 0.6}, [0]), ({"top_p": 0.8}, [0, 1])]
)
def test_what_top_k_and_top_p_leave_out_is_never_drawn(settings, possible):
    expected = torch.tensor(LOGITS)[possible].softmax(dim=-1).tolist()
    found = shares(**settings)
    assert sorted(found) == possible
    assert [found[i] for i in possible] == pytest.approx(expected, abs=0.02)


def test_a_draw_depends_on_seed_and_position_alone():
    one = draw([(seeded(7), [1, 2])])
    assert torch.equal(draw([(seeded(3), []), (seeded(7), [4, 5])])[1], one[0])
    tokens = {int(draw([(seeded(7), [0] * position)]).argmax()) for position in range(50)}
    assert len(tokens) > 1


def test_only_one_token_is_left_and_requests_without_a_seed_are_left_alone():
    logits = draw([(seeded(1), []), ({}, [])])
    assert (logits[0] > float("-inf")).sum() == 1
    assert logits[1].tolist() == LOGITS


def test_a_seed_that_nobody_can_draw_with_is_refused_by_name():
    from demur.engine.base import RequestRefused, Sampling
    from demur.engine.vllm.convert import sampling_params

    with pytest.raises(RequestRefused) as caught:
        sampling_params(Sampling(max_tokens=1, seed=0), "none")
    assert caught.value.param == "seed"
    assert sampling_params(Sampling(max_tokens=1), "none").seed is None
    assert sampling_params(Sampling(max_tokens=1, seed=5), "engine").seed == 5
    assert sampling_params(Sampling(max_tokens=1, seed=5), "processor").seed is None


def test_speculative_decoding_on_a_cpu_takes_no_processor_and_so_no_seed():
    from demur.engine.vllm.arguments import SEEDED_SAMPLING, engine_arguments, seeding

    plain = engine_arguments("m", {"logits_processors": ["mine:Own"]}).logits_processors
    assert plain == ["mine:Own", SEEDED_SAMPLING]
    assert seeding(plain) == "processor"
    speculative = engine_arguments("m", {"speculative_config": {"method": "ngram"}}).logits_processors
    assert seeding(speculative or ()) == "none"
    assert SEEDED_SAMPLING not in (engine_arguments("m", {"runner": "pooling"}).logits_processors or ())
