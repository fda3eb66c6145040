"""The Critic port over transformers, in this process: for machines without a GPU.

There a second vLLM engine takes half a minute to start, most of it two imports of vLLM one after the other. A critic
only reads, each sequence once, so that an engine has little to schedule.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

from demur.engine.base import EngineDead, EngineError

# vLLM's names for data types. Full precision by default, in which every CPU computes.
_DATA_TYPES = {"auto": "float32", "float": "float32", "half": "float16"}


class TransformersCritic:
    """A token classifier with one label. Made by `start`; sequences are read one after the other, in a thread."""

    def __init__(self, model: Any, most_tokens: int | None = None) -> None:
        self._model: Any = model
        self._most_tokens = most_tokens
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="critic")
        self._closed = False

    @classmethod
    async def start(
        cls,
        model: str | Path,
        *,
        max_model_len: int | None = None,
        dtype: str = "auto",
        trust_remote_code: bool = False,
    ) -> Self:
        """Load `model`, a folder or a hub id. Sequences of more than `max_model_len` tokens are refused.

        Raises EngineError for what cannot be loaded, has no value head, or gives more than one value a token.
        """
        return cls(await asyncio.to_thread(_load, str(model), dtype, trust_remote_code), max_model_len)

    async def values(self, token_ids: Sequence[int], *, request_id: str) -> list[float]:
        """As the port says; a sequence that is being read when its caller leaves is read to its end."""
        await self.check()
        if self._most_tokens is not None and len(token_ids) > self._most_tokens:
            raise EngineError(f"the critic reads at most {self._most_tokens} tokens, not {len(token_ids)}")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, list(token_ids))
        except (IndexError, RuntimeError) as error:
            await self.check()
            raise EngineError(f"the critic cannot read these tokens: {error}") from error

    async def check(self) -> None:
        """Raises EngineDead once it was closed."""
        if self._closed:
            raise EngineDead("the critic was closed")

    async def close(self) -> None:
        """What waits is given up, what is being read is read to its end."""
        self._closed = True
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
        self._model = None

    def _read(self, token_ids: list[int]) -> list[float]:
        import torch

        with torch.inference_mode():
            logits = self._model(torch.tensor([token_ids]), use_cache=False).logits
        return logits[0, :, 0].float().tolist()


def _load(model: str, dtype: str, trust_remote_code: bool) -> Any:
    import transformers

    classifiers: Any = transformers.AutoModelForTokenClassification
    transformers.utils.logging.disable_progress_bar()  # it would stand between the lines of the log
    try:
        loaded, report = classifiers.from_pretrained(
            model,
            dtype=_DATA_TYPES.get(dtype, dtype),
            trust_remote_code=trust_remote_code,
            output_loading_info=True,
        )
    except (AttributeError, OSError, RuntimeError, ValueError) as error:
        raise EngineError(f"transformers cannot load {model}: {error}") from error
    if missing := sorted(report["missing_keys"]):
        raise EngineError(f"{model} is no critic: it has no {missing[0]}")
    if loaded.config.num_labels != 1:
        raise EngineError(f"a critic gives one value a token; this model gives {loaded.config.num_labels}")
    return loaded.eval()
