"""Seeds, logit shaping, log-probabilities and the prefix cache of real vLLM."""

import asyncio
from dataclasses import replace

import pytest

from demur.engine.base import Sampling
from demur.engine.shaping import LogitShaping
from demur.prompts import ask_if_right
from tiny_engine import GREEDY, QUESTIONS, ask, collect, ids_of, sample, text_of

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(400)]


def test_a_seed_gives_the_same_sample_again(engine, run):
    drawn = {
        seed: [ids_of(run(sample(engine, QUESTIONS[0], Sampling(max_tokens=24, seed=seed)))) for _ in range(2)]
        for seed in (1, 2)
    }
    assert drawn[1][0] == drawn[1][1]
    assert drawn[2][0] == drawn[2][1]
    assert drawn[1][0] != drawn[2][0]


def test_sixty_four_seeded_samples_of_one_long_prompt_come_out_the_same_twice(engine, run):
    """More tokens wait than one step reads, so that prompts are read in parts: what a seed must survive."""

    async def seeded() -> list[list[int]]:
        prompt = await engine.prepare(ask("What is 2 + 2? " * 150))
        assert len(prompt.token_ids or ()) > 1000
        drawn = (collect(engine, prompt, Sampling(max_tokens=24, seed=1 + i)) for i in range(64))
        return [ids_of(chunks) for chunks in await asyncio.gather(*drawn)]

    first = run(seeded())
    assert {len(ids) for ids in first} == {24}
    assert len({tuple(ids) for ids in first}) == 64
    assert run(seeded()) == first


def test_thirty_two_seeded_requests_at_once_are_each_as_if_alone(engine, run):
    async def seeded(i: int) -> list[int]:
        return ids_of(await sample(engine, f"Request {i}. " * 200, Sampling(max_tokens=16, seed=i, top_p=0.9)))

    async def together() -> list[list[int]]:
        return await asyncio.gather(*(seeded(i) for i in range(32)))

    found = run(together())
    assert found[3] == run(seeded(3))
    assert found[31] == run(seeded(31))


def test_what_shapes_the_distribution(engine, run) -> None:
    greedy = run(sample(engine, QUESTIONS[0], GREEDY))
    narrow = run(sample(engine, QUESTIONS[0], Sampling(max_tokens=48, shaping=LogitShaping(top_k=1))))
    assert ids_of(narrow) == ids_of(greedy)
    first = ids_of(greedy)[0]
    banned = Sampling(max_tokens=4, temperature=0.0, shaping=LogitShaping(logit_bias={first: -100.0}))
    assert first not in ids_of(run(sample(engine, QUESTIONS[0], banned)))


def test_samples_of_one_prompt_share_its_computation(engine, run):
    from prometheus_client import REGISTRY

    def hits() -> float:
        return sum(s.value for m in REGISTRY.collect() for s in m.samples if s.name == "vllm:prefix_cache_hits_total")

    async def four_samples() -> int:
        prompt = await engine.prepare(ask("Tell me, at length, how sure you are of this. " * 12))
        await collect(engine, prompt, Sampling(max_tokens=1))
        before = hits()
        await asyncio.gather(*(collect(engine, prompt, Sampling(max_tokens=4)) for _ in range(4)))
        assert len(prompt.token_ids) > 128
        return int(hits() - before)

    cached = run(four_samples())
    assert cached > 0
    assert cached % (4 * 128) == 0  # the CPU's cache has blocks of 128 tokens


def test_a_further_turn_reads_the_conversation_from_the_cache(engine, run):
    turns = ask("Is 91 a prime number? " * 40)
    prompt = run(engine.prepare(turns))
    output = text_of(run(collect(engine, prompt, GREEDY)))
    again = run(engine.prepare(ask_if_right(turns, output)))
    last = run(collect(engine, again, Sampling(max_tokens=1, temperature=0.0, logprobs=20)))[-1]
    assert len(again.token_ids) == last.prompt_tokens
    assert len(prompt.token_ids) - 128 <= last.cached_tokens < last.prompt_tokens
    assert sum(len(each.alternatives) for each in last.logprobs) >= 20


def test_log_probabilities_are_the_models_own_before_temperature(engine, run, reference):
    """As transformers has them, for every token, with the text that the token adds; and only on request."""
    import torch

    tokenizer, model = reference
    prompt = run(engine.prepare(ask(QUESTIONS[0])))
    plain = run(collect(engine, prompt, GREEDY))
    told = run(collect(engine, prompt, replace(GREEDY, temperature=1.7, seed=5, logprobs=3)))
    assert not any(chunk.logprobs for chunk in plain)
    tokens = [each for chunk in told for each in chunk.logprobs]
    assert b"".join(each.text for each in tokens).decode() == text_of(told)
    seen = torch.tensor([[*prompt.token_ids, *ids_of(told)]])
    with torch.no_grad():
        expected = model(seen).logits[0, len(prompt.token_ids) - 1 : -1].log_softmax(-1)
    own = expected.gather(1, seen[0, len(prompt.token_ids) :, None])[:, 0].tolist()
    assert [each.logprob for each in tokens] == pytest.approx(own, abs=1e-3)
    likeliest, at = expected[0].topk(3)
    alternatives = dict(tokens[0].alternatives)
    for logprob, token in zip(likeliest.tolist(), at.tolist(), strict=True):
        assert alternatives[tokenizer.decode([token])] == pytest.approx(logprob, abs=1e-3)
