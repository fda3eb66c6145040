"""The engine over OpenAI-compatible hosts against vLLM's own API server, on the CPU, with a tiny random model."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TypeVar

import httpx
import pytest

from demur.core.contracts import CONTRACTS
from demur.engine.base import Chunk, Message, Prompt, RequestRefused, Sampling, Written
from demur.engine.openai import OpenAIEngine
from demur.engine.upstreams import Served, Upstream, find_served

pytest.importorskip("vllm")
pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

T = TypeVar("T")
ENDLESS = Sampling(max_tokens=4000, temperature=0.0)
LONG = Sampling(max_tokens=500, temperature=0.0)  # of a short one all events may come together, and are one chunk then
# Quiet, and no need to compile anything; the same as the engine in process has on a CPU.
OPTIONS = ["--dtype=float32", "--enforce-eager", "--kv-cache-memory-bytes=268435456", "--uvicorn-log-level=error"]
ENVIRONMENT = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_NUM_OF_RESERVED_CPU": "0"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def address(tiny_model: Path) -> Iterator[str]:
    port = free_port()
    options = [f"--model={tiny_model}", "--served-model-name=tiny", "--host=127.0.0.1", f"--port={port}", *OPTIONS]
    process = subprocess.Popen(
        [sys.executable, "-m", "vllm.entrypoints.openai.api_server", *options],
        env=os.environ | ENVIRONMENT,
        start_new_session=True,
    )
    try:
        asyncio.run(listening(f"http://127.0.0.1:{port}", process))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the engine is a process of its own
        process.wait()


async def listening(address: str, process: subprocess.Popen[bytes]) -> None:
    async with asyncio.timeout(800), httpx.AsyncClient(base_url=address) as client:
        while True:
            assert process.poll() is None
            try:
                if (await client.get("/health")).status_code == 200:
                    return
            except httpx.TransportError:
                await asyncio.sleep(0.5)


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def engine(address: str, runner: asyncio.Runner) -> Iterator[OpenAIEngine]:
    upstreams = [Upstream(f"{address}/v1")]
    served = runner.run(find_served(upstreams, None))
    assert served == Served("tiny", 4096, structured_outputs=True)
    engine = OpenAIEngine(upstreams, served.model, structured_outputs=True, max_model_len=served.max_model_len)
    yield engine
    runner.run(engine.close())


@pytest.fixture
def run(runner: asyncio.Runner):
    def run(coroutine: Coroutine[object, object, T]) -> T:
        return runner.run(coroutine)

    return run


async def sample(engine: OpenAIEngine, sampling: Sampling, question: str = "What is 2 + 2?") -> list[Chunk]:
    prompt = await engine.prepare([Message(role="user", content=question)])
    async with aclosing(engine.stream(prompt, sampling, request_id="test-0")) as chunks:
        return [chunk async for chunk in chunks]


async def collected(stream: AsyncGenerator[Chunk, None]) -> list[Chunk]:
    async with aclosing(stream) as chunks:
        return [chunk async for chunk in chunks]


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


async def metric(address: str, name: str) -> float:
    """What vLLM itself counts, as of the engine's last step."""
    async with httpx.AsyncClient() as client:
        text = (await client.get(f"{address}/metrics")).text
    return sum(float(value) for value in re.findall(rf"^vllm:{name}\{{.*\}} (\S+)$", text, re.MULTILINE))


def test_a_sample_arrives_with_its_ending_and_its_usage(engine, run):
    run(engine.check())
    chunks = run(sample(engine, LONG))
    assert [chunk.finish_reason for chunk in chunks if chunk.finish_reason] == ["length"]
    assert chunks[-1].completion_tokens == LONG.max_tokens
    assert chunks[-1].prompt_tokens > 0
    assert len([chunk for chunk in chunks if chunk.text]) > 1
    assert text_of(chunks) == text_of(run(sample(engine, LONG)))


@pytest.mark.parametrize(("step", "counts"), [(8, [1, 9, 17, 20, 20]), (16, [1, 17, 20, 20])])
def test_a_reply_that_is_read_in_steps_comes_in_as_few_events(address, engine, run, step, counts):
    """vLLM itself holds tokens back, and says with each event how many there are."""

    async def events() -> list[Chunk]:
        the_engine = OpenAIEngine([Upstream(f"{address}/v1")], "tiny", stream_interval=True)
        asked = Sampling(max_tokens=20, temperature=0.0, step=step)
        prompt = await the_engine.prepare([Message(role="user", content="What is 2 + 2?")])
        async with aclosing(the_engine._pieces(prompt, asked, "paced-0", None)) as chunks:
            found = [chunk async for chunk in chunks]
        await the_engine.close()
        return found

    chunks = run(events())
    # Events that come together are one chunk, and vLLM makes one of those that it has not sent yet.
    assert sum(chunk.pieces for chunk in chunks) <= len(set(counts))
    assert {chunk.completion_tokens for chunk in chunks} <= set(counts)
    assert text_of(chunks) == text_of(run(sample(engine, Sampling(max_tokens=20, temperature=0.0))))


def test_samples_drawn_in_one_request_are_those_drawn_one_by_one(address, engine, run):
    """vLLM draws choice i with seed + i, and counts each."""

    async def together() -> list[list[Chunk]]:
        the_engine = OpenAIEngine([Upstream(f"{address}/v1")], "tiny", stream_interval=True)
        prompt = await the_engine.prepare([Message(role="user", content="What is 2 + 2?")])
        asked = [Sampling(max_tokens=40, seed=5 + i, step=None, logprobs=0) for i in range(4)]
        before = await metric(address, "request_params_n_sum")
        streams = the_engine.streams(prompt, asked, request_ids=[f"together-{i}" for i in range(4)])
        found = await asyncio.gather(*(collected(stream) for stream in streams))
        await the_engine.close()
        assert await metric(address, "request_params_n_sum") - before == 4
        return found

    for i, chunks in enumerate(run(together())):
        alone = run(sample(engine, Sampling(max_tokens=40, seed=5 + i)))
        assert text_of(chunks) == text_of(alone)
        assert chunks[-1].completion_tokens == alone[-1].completion_tokens == sum(len(c.logprobs) for c in chunks)


def test_seeds_reach_vllm(engine, run):
    first, again, other = (text_of(run(sample(engine, Sampling(max_tokens=16, seed=seed)))) for seed in (1, 1, 2))
    assert first == again != other


def test_a_constraint_forces_the_contract(engine, run):
    chunks = run(sample(engine, Sampling(max_tokens=600, seed=7, constraint=CONTRACTS["response"].pattern)))
    assert re.fullmatch(CONTRACTS["response"].pattern, text_of(chunks))


@pytest.mark.parametrize("continues", [True, False])
def test_a_reply_so_far_is_gone_on_with(address, run, continues):
    """vLLM takes the fields for it, a thought that was kept apart among them, and forces what follows."""

    async def go_on() -> list[Chunk]:
        the_engine = OpenAIEngine([Upstream(f"{address}/v1")], "tiny", structured_outputs=True, continues=continues)
        form = r"Answer: [0-9]{1,3}\nConfidence: 0\.[0-9]"
        written = Written("It is 4.", thought="hm", opening="\n\nAnswer:", request="Two lines.", request_form=form)
        prompt = Prompt((Message(role="user", content="What is 2 + 2?"),), None, written)
        sampling = Sampling(max_tokens=60, seed=1, constraint=r" [0-9]{1,3}\nConfidence: 0\.[0-9]")
        async with aclosing(the_engine.stream(prompt, sampling, request_id="written-0")) as chunks:
            found = [chunk async for chunk in chunks]
        await the_engine.close()
        return found

    chunks = run(go_on())
    assert chunks[0].resumed == ("continued" if continues else "asked")
    assert re.fullmatch(r"\n{1,2}Answer: [0-9]{1,3}\nConfidence: 0\.[0-9]", text_of(chunks))


def test_what_does_not_fit_the_model_is_refused_as_a_request(engine, run):
    with pytest.raises(RequestRefused):
        run(sample(engine, Sampling(max_tokens=5000)))
    with pytest.raises(RequestRefused):
        run(sample(engine, Sampling(max_tokens=1), "word " * 5000))
    run(engine.check())


def test_closing_a_stream_stops_the_work_in_vllm(engine, run, address):
    async def close() -> float:
        prompt = await engine.prepare([Message(role="user", content="Go on.")])
        before = await metric(address, "generation_tokens_total")
        async with aclosing(engine.stream(prompt, ENDLESS, request_id="closed-0")) as chunks:
            await anext(chunks)
        async with asyncio.timeout(60):
            await sample(engine, Sampling(max_tokens=1))  # a step, without which vLLM's gauges stay as they were
            while await metric(address, "num_requests_running"):
                await sample(engine, Sampling(max_tokens=1))
        return await metric(address, "generation_tokens_total") - before

    assert 0 < run(close()) < ENDLESS.max_tokens / 2
