"""The Critic port over real vLLM, beside a generator, against transformers' forward pass."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import pytest

from demur.engine.base import EngineError, Message, Sampling
from demur.engine.vllm import VLLMCritic, VLLMEngine

pytest.importorskip("vllm")
pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600)]

SMALL = {"dtype": "float32", "kv_cache_memory_bytes": 1 << 28, "max_model_len": 512}


@pytest.fixture(scope="module")
def critic_folder(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A value head on the tiny model, in the form in which an embedded model brings its own."""
    import torch

    from demur.model.merging import write_critic

    dice = torch.Generator().manual_seed(0)
    width = 64
    return write_critic(
        tiny_model, torch.randn(1, width, generator=dice) / 8, torch.tensor([0.5]), tmp_path_factory.mktemp("critic")
    )


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


async def write(engine: VLLMEngine, question: str) -> list[int]:
    """Token ids of a prompt and its sample; looks at what the engine tells of them on the way."""
    prompt = await engine.prepare([Message(role="user", content=question)])
    ids, text, running = list[int](), "", 0
    async with aclosing(engine.stream(prompt, Sampling(max_tokens=200, seed=3), request_id=question)) as chunks:
        async for chunk in chunks:
            ids += chunk.token_ids
            text += chunk.text
            running = max(running, engine.running)
    assert running == 1  # a critic in the same process leaves the generator its metrics
    assert "".join(engine.pieces(prompt, ids)) == text
    return [*(prompt.token_ids or ()), *ids]


def test_a_critic_beside_its_generator_gives_the_values_that_transformers_gives(tiny_model, critic_folder, runner):
    import torch
    from transformers import AutoModelForTokenClassification

    async def write_and_value() -> tuple[list[list[int]], list[list[float]]]:
        async with AsyncExitStack() as stack:
            engine = await VLLMEngine.start(tiny_model, **SMALL)
            stack.push_async_callback(engine.close)
            # Steps smaller than a sequence, so that its values come in several pieces.
            critic = await VLLMCritic.start(critic_folder, **SMALL, max_num_batched_tokens=64, max_num_seqs=4)
            stack.push_async_callback(critic.close)
            sequences = [await write(engine, question) for question in ("What is 2 + 2?", "Is 91 a prime? Say why.")]
            values = await asyncio.gather(*(critic.values(ids, request_id=f"{i}") for i, ids in enumerate(sequences)))
            with pytest.raises(EngineError, match="vLLM refuses"):
                await critic.values([1] * 600, request_id="too long")
            alone = await critic.values(sequences[0], request_id="again")
            assert alone == pytest.approx(values[0], abs=1e-4)
            await critic.check()
        return sequences, values

    sequences, values = runner.run(write_and_value())
    reference = AutoModelForTokenClassification.from_pretrained(critic_folder, dtype=torch.float32).eval()
    for ids, found in zip(sequences, values, strict=True):
        assert len(ids) > 200
        with torch.no_grad():
            expected = reference(torch.tensor([ids])).logits[0, :, 0].tolist()
        assert found == pytest.approx(expected, abs=1e-4)
        assert max(expected) - min(expected) > 0.1


def test_a_model_with_more_labels_is_no_critic(tiny_model, tmp_path, runner):
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    AutoModelForTokenClassification.from_pretrained(tiny_model, num_labels=3).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny_model).save_pretrained(tmp_path)
    with pytest.raises(EngineError, match=r"one value a token; this model gave \(1, 3\)"):
        runner.run(VLLMCritic.start(tmp_path, **SMALL))
