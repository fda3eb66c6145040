"""Output of real vLLM read token by token, in steps, or whole."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from demur.engine.base import Chunk, Untold
from tiny_engine import ENDLESS, GREEDY, QUESTIONS, ask, idle, ids_of, sample, text_of

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(400)]


@pytest.mark.parametrize("form", [{}, {"seed": 3, "temperature": 1.0, "logprobs": 1}, {"constraint": "[a-c]{20,30}"}])
def test_a_whole_sample_is_one_chunk_and_a_step_makes_few(engine, run, form):
    """With the same text, tokens, log-probabilities and counts as one that comes token by token."""
    sampling = replace(GREEDY, **form)
    each, stepwise, whole = (run(sample(engine, QUESTIONS[1], replace(sampling, step=step))) for step in (1, 16, None))
    assert len(whole) == 1
    assert 1 < len(stepwise) <= 2 + len(ids_of(whole)) // 16
    assert len(each) > len(stepwise)
    for chunks in (stepwise, whole):
        assert text_of(chunks) == text_of(each)
        assert ids_of(chunks) == ids_of(each)
        assert [one.text for chunk in chunks for one in chunk.logprobs] == [
            one.text for chunk in each for one in chunk.logprobs
        ]
        assert chunks[-1].finish_reason == each[-1].finish_reason
        assert chunks[-1].completion_tokens == each[-1].completion_tokens


@pytest.mark.parametrize("step", [16, None])
def test_what_a_stopped_sample_had_generated_unread_is_counted(engine, run, step):
    """As vLLM itself counts tokens, but for the few that its process generates before it hears of the stop."""
    from prometheus_client import REGISTRY

    def generated() -> int:
        return int(
            sum(s.value for m in REGISTRY.collect() for s in m.samples if s.name == "vllm:generation_tokens_total")
        )

    async def stop() -> tuple[int, int]:
        untold, read, before = Untold(), list[Chunk](), generated()

        async def reader() -> None:
            prompt = await engine.prepare(ask(QUESTIONS[2]))
            sampling = replace(ENDLESS, step=step, untold=untold)
            async with aclosing(engine.stream(prompt, sampling, request_id=f"stopped-{step}")) as chunks:
                async for chunk in chunks:
                    read.append(chunk)

        reading = asyncio.create_task(reader())
        async with asyncio.timeout(60):
            while generated() < before + 40:  # noqa: ASYNC110 - a counter cannot be awaited
                await asyncio.sleep(0.005)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        counted = len(ids_of(read)) + untold.tokens
        assert (not read) if step is None else read
        await idle(engine)
        return counted, generated() - before

    counted, total = run(stop())
    assert 40 <= counted <= total + 1
    assert len(ids_of(run(sample(engine, QUESTIONS[1], GREEDY)))) == 48


def test_a_whole_sample_closed_before_it_began_counts_nothing(engine, run):
    async def close() -> int:
        untold = Untold()
        prompt = await engine.prepare(ask(QUESTIONS[0]))
        stream = engine.stream(prompt, replace(ENDLESS, step=None, untold=untold), request_id="unbegun")
        reading = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await stream.aclose()
        await idle(engine)
        return untold.tokens

    assert run(close()) == 0
