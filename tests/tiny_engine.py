"""Real vLLM with the tiny random model, for tests, and what to ask it."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

from demur.engine.base import Chunk, Message, Prompt, Sampling
from demur.engine.vllm import VLLMEngine

T = TypeVar("T")
GREEDY = Sampling(max_tokens=48, temperature=0.0)
ENDLESS = Sampling(max_tokens=4000, temperature=0.0)
QUESTIONS = ["What is 2 + 2?", "Name the capital of France.", "Is 91 a prime number? Say why."]


class SharedEngine:
    """One event loop and one engine for all tests; the engine is made anew when a test has killed it."""

    def __init__(self, runner: asyncio.Runner, model: Path) -> None:
        self._runner, self._model = runner, model
        self._engine: VLLMEngine | None = None
        self.progress: list[tuple[str, float]] = []

    def run(self, coroutine: Coroutine[object, object, T]) -> T:
        return self._runner.run(coroutine)

    @property
    def engine(self) -> VLLMEngine:
        if self._engine is None:
            self._engine = self.run(self._start())
        return self._engine

    def close(self) -> None:
        if self._engine is not None:
            self.run(self._engine.close())
            self._engine = None

    async def _start(self) -> VLLMEngine:
        return await VLLMEngine.start(
            self._model,
            progress=lambda doing, share: self.progress.append((doing, share)),
            dtype="float32",
            kv_cache_memory_bytes=1 << 28,
        )


def ask(question: str) -> list[Message]:
    return [Message(role="user", content=question)]


async def collect(engine: VLLMEngine, prompt: Prompt, sampling: Sampling) -> list[Chunk]:
    async with aclosing(engine.stream(prompt, sampling, request_id="test")) as chunks:
        return [chunk async for chunk in chunks]


async def sample(engine: VLLMEngine, question: str, sampling: Sampling) -> list[Chunk]:
    return await collect(engine, await engine.prepare(ask(question)), sampling)


def text_of(chunks: Sequence[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


def ids_of(chunks: Sequence[Chunk]) -> list[int]:
    return [token for chunk in chunks for token in chunk.token_ids]


async def drain(stream: AsyncGenerator[Chunk, None]) -> None:
    async for _ in stream:
        pass


async def idle(engine: VLLMEngine) -> None:
    """Return when vLLM's own gauge says that nothing runs."""
    async with asyncio.timeout(30):
        while engine.running:  # noqa: ASYNC110 - a gauge cannot be awaited
            await asyncio.sleep(0.01)
