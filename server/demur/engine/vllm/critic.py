"""The Critic port over vLLM: a token classifier with one label, run as a pooling model."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Self

from demur.engine.base import EngineError
from demur.engine.vllm.convert import translated_errors
from demur.engine.vllm.process import SILENCE, EngineProcess
from demur.engine.vllm.startup import Launched, existing, import_vllm, launch

_ARGUMENTS: Mapping[str, Any] = {
    "runner": "pooling",
    "convert": "classify",
    # Every token's value is wanted, and a token that was read from the cache would have none.
    "enable_prefix_caching": False,
    # vLLM's metrics of one process are those of the engine that registers them last, which should be the generator.
    "disable_log_stats": True,
}


class VLLMCritic:
    """One AsyncLLM beside the generator's. Made by `start`; a request inside vLLM ends with the call of `values`."""

    def __init__(self, launched: Launched, silence: float = SILENCE) -> None:
        self._llm = launched.llm
        self._process = EngineProcess(launched, silence)

    @classmethod
    async def start(
        cls, model: str | Path, *, memory_share: float = 1.0, silence: float = SILENCE, **engine_args: Any
    ) -> Self:
        """Load `model`, a folder or a hub id of a token classifier with one label, and value one token.

        Takes as long as a generator of its size. Raises as VLLMEngine.start does.
        """
        name = existing(model)
        await asyncio.to_thread(import_vllm)
        critic = cls(await launch(name, {**_ARGUMENTS, **engine_args}, memory_share), silence)
        try:
            await critic.values([0], request_id="warm-up")
        except BaseException:
            await critic.close()
            raise
        return critic

    async def values(self, token_ids: Sequence[int], *, request_id: str) -> list[float]:
        from vllm.inputs import tokens_input
        from vllm.pooling_params import PoolingParams

        raw = PoolingParams(task="token_classify", use_activation=False)  # by default vLLM would apply a sigmoid
        with translated_errors():
            outputs = self._llm.encode(tokens_input(list(token_ids)), raw, request_id)
            async with aclosing(outputs):
                async for output in outputs:
                    return _one_each(output.outputs.data, len(token_ids))
        raise EngineError("vLLM ended the critic's work without a value")

    async def check(self) -> None:
        """Raises EngineDead when the critic's process is gone, or has not replied for too long."""
        await self._process.check()

    async def close(self) -> None:
        """End the child processes; takes a few seconds."""
        await self._process.close()


def _one_each(data: Any, tokens: int) -> list[float]:
    """`data` has the shape (tokens, labels). Raises EngineError unless there is one label."""
    if tuple(data.shape) != (tokens, 1):
        raise EngineError(f"a critic gives one value a token; this model gave {tuple(data.shape)} for {tokens} tokens")
    return data[:, 0].tolist()
