"""Several samples of one prompt against as many prompts: what the shared prefix saves, on real vLLM.

One sample costs its prompt and its own tokens. Samples that start together share the prompt's blocks in the cache.
"""

import asyncio
import sys
import tempfile
import time
from contextlib import aclosing
from pathlib import Path

from bench.report import Spread, publish
from prometheus_client import REGISTRY

from demur.engine.base import Prompt, Sampling
from demur.engine.vllm import VLLMEngine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from tiny_model import make_tiny_model

SAMPLES = 16
ROUNDS = 7
TOKENS = 16
PROMPT_WORDS = 180
ENGINE = {"dtype": "float32", "kv_cache_memory_bytes": 1 << 28, "enforce_eager": True, "max_num_seqs": SAMPLES}


def computed() -> float:
    """Prompt tokens that the engine was given so far, less those it found in the cache."""
    counted = {s.name: s.value for metric in REGISTRY.collect() for s in metric.samples}
    return counted["vllm:prefix_cache_queries_total"] - counted["vllm:prefix_cache_hits_total"]


async def draw(engine: VLLMEngine, prompt: Prompt, name: str) -> None:
    """One sample, to its end."""
    async with aclosing(engine.stream(prompt, Sampling(max_tokens=TOKENS), request_id=name)) as chunks:
        async for _ in chunks:
            pass


async def together(engine: VLLMEngine, prompts: list[Prompt], name: str) -> tuple[float, float]:
    """Seconds and computed prompt tokens of one sample of each, started at once."""
    before, began = computed(), time.perf_counter()
    await asyncio.gather(*(draw(engine, prompt, f"{name}-{i}") for i, prompt in enumerate(prompts)))
    seconds = time.perf_counter() - began
    await asyncio.sleep(0.3)  # the counters follow a little later
    return seconds, computed() - before


async def measure() -> tuple[int, list[tuple[float, float]], list[tuple[float, float]]]:
    """Length of a prompt, then both ways in turn. No prompt is asked twice, so nothing is in the cache beforehand."""
    with tempfile.TemporaryDirectory() as folder:
        engine = await VLLMEngine.start(make_tiny_model(Path(folder)), **ENGINE)
        try:
            asked = iter(range(10**6))

            async def fresh() -> Prompt:
                return await engine.prepare([{"role": "user", "content": f"{next(asked)} word " * PROMPT_WORDS}])

            shared, separate = list[tuple[float, float]](), list[tuple[float, float]]()
            one = await fresh()
            await together(engine, [one] * SAMPLES, "warm-up")
            for i in range(ROUNDS):
                one = await fresh()
                shared.append(await together(engine, [one] * SAMPLES, f"shared-{i}"))
                separate.append(await together(engine, [await fresh() for _ in range(SAMPLES)], f"separate-{i}"))
            return len(one.token_ids or ()), shared, separate
        finally:
            await engine.close()


def main() -> None:
    length, shared, separate = asyncio.run(measure())
    ratio = Spread.of([a[0] / b[0] for a, b in zip(shared, separate, strict=True)])
    tokens = [Spread.of([run[1] for run in runs]) for runs in (shared, separate)]
    rows = [
        ["prompt tokens computed", tokens[0].text(",.0f"), tokens[1].text(",.0f")],
        ["seconds", *(Spread.of([run[0] for run in runs]).text(".2f") for runs in (shared, separate))],
        ["seconds, shared / separate", ratio.text(".2f"), ""],
    ]
    data = {"prompt_tokens": length, "samples": SAMPLES, "seconds_ratio": ratio.json()}
    data |= {"computed": {"shared": tokens[0].json(), "separate": tokens[1].json()}}
    title = f"{SAMPLES} samples of a prompt of {length} tokens, and {SAMPLES} prompts; {ROUNDS} rounds in turn"
    publish("prefix", title, ["", "one prompt", "separate prompts"], rows, data)


if __name__ == "__main__":
    main()
