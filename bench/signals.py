"""What each signal costs: further calls, prompt tokens that are computed again, and milliseconds, on real vLLM.

python -m bench signals [--model FOLDER | --upstream URL] [--questions N] [--together N]: the small model that ships,
unless another folder is named, or an OpenAI-compatible host that is asked as `demur serve --engine openai` asks it.
One question after the other is asked with and without each signal in turn, and the differences of one question are
compared. `agreement` is of four samples more. A host tells how much of a prompt it had in its cache only where it
counts that (vLLM: `--enable-prompt-tokens-details`); else all of it counts as computed again.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.report import Spread, publish

from demur.answering import Answerer, RequestParams, UnresolvedRequest, new_id
from demur.answering.response import Answer
from demur.engine.base import Engine, Message
from demur.engine.vllm import VLLMEngine
from demur.manifest import Manifest
from demur.model import prepare
from demur.serving.engine_loaders.openai import OpenAILoader
from demur.settings import Settings

SIGNALS = ("verbalized", "answer_logprob", "p_true", "agreement")
SAMPLES = 5
ENGINE = {"dtype": "float32", "kv_cache_memory_bytes": 1 << 29, "enforce_eager": True, "max_num_seqs": 64}


@dataclass(frozen=True, slots=True)
class Asked:
    """One reply, and the milliseconds that it took."""

    answer: Answer
    milliseconds: float


FIGURES = ("prompt_tokens", "computed_again", "completion_tokens", "milliseconds")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one signal took beside one sample, question by question."""

    calls: int
    prompt_tokens: list[float]
    computed_again: list[float]
    completion_tokens: list[float]
    milliseconds: list[float]


def question(i: int) -> tuple[Message, ...]:
    return (Message(role="user", content=f"A shelf has {i % 7 + 3} rows of {i + 12} books. How many books are there?"),)


async def ask(answerer: Answerer, i: int, **params: Any) -> Asked:
    """Question i, always with the same seed, so that the samples are the same."""
    wanted = RequestParams(risk_threshold=0.0, seed=7, **params)
    began = time.perf_counter()
    active = answerer.open(UnresolvedRequest(question(i), wanted))
    final = await answerer.answer(active, answer_id=new_id("ans"))
    return Asked(final.answer, 1000 * (time.perf_counter() - began))


async def cost_of(answerer: Answerer, signal: str, questions: Sequence[int], most_tokens: int) -> Cost:
    """Each question twice without the signal, so that its prompt is in the cache, then once with it."""
    cost = Cost(0, [], [], [], [])
    samples = SAMPLES if signal == "agreement" else 1
    calls = samples - 1
    for i in questions:
        await ask(answerer, i, max_tokens=most_tokens)
        plain = await ask(answerer, i, max_tokens=most_tokens)
        shown = await ask(answerer, i, include_signals=[signal], samples=samples, max_tokens=most_tokens)
        told = (shown.answer.signals or {})[signal].cost
        calls = told.calls if told is not None else calls
        written = (shown.answer.usage.completion_tokens or 0) - (plain.answer.usage.completion_tokens or 0)
        cost.prompt_tokens.append(0 if told is None else told.prompt_tokens or 0)
        cost.computed_again.append(0 if told is None else (told.prompt_tokens or 0) - (told.cached_tokens or 0))
        cost.completion_tokens.append(written + (0 if told is None else told.completion_tokens or 0))
        cost.milliseconds.append(shown.milliseconds - plain.milliseconds)
    return Cost(calls, *(getattr(cost, name) for name in FIGURES))


async def throughput(answerer: Answerer, together: int, **params: Any) -> float:
    """Tokens per second of `together` questions at once."""
    began = time.perf_counter()
    asked = await asyncio.gather(*(ask(answerer, 100 + i, **params) for i in range(together)))
    return sum(one.answer.usage.completion_tokens or 0 for one in asked) / (time.perf_counter() - began)


async def load(model: str, upstream: str | None) -> tuple[Engine, Manifest]:
    """The engine that is measured, and what it serves."""
    if upstream is None:
        return await VLLMEngine.start(model, **ENGINE), Manifest.load(model)
    loaded = await OpenAILoader().load(Settings.model_validate({"engine": "openai", "upstreams": [upstream]}), {})
    return loaded.engine, loaded.manifest


async def measure(chosen: argparse.Namespace) -> tuple[dict[str, Cost], list[float]]:
    """The cost of each signal, and how many times as many tokens come without log-probabilities as with them."""
    engine, manifest = await load(chosen.model or str(prepare()), chosen.upstream)
    try:
        answerer = Answerer(engine, manifest, Settings(timeout=600))
        asked, most = range(chosen.questions), chosen.max_tokens
        costs = {signal: await cost_of(answerer, signal, asked, most) for signal in SIGNALS}
        ratios = list[float]()
        await throughput(answerer, chosen.together, max_tokens=most)
        for _ in range(5):
            without = await throughput(answerer, chosen.together, max_tokens=most)
            told = await throughput(answerer, chosen.together, max_tokens=most, include_signals=["answer_logprob"])
            ratios.append(told / without)
        return costs, ratios
    finally:
        await engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench signals")
    parser.add_argument("--model", help="a folder that vLLM loads")
    parser.add_argument("--upstream", help="an OpenAI-compatible host, as http://127.0.0.1:8001/v1")
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--together", type=int, default=32)
    parser.add_argument("--max-tokens", type=int, default=256)
    chosen = parser.parse_args()
    costs, ratios = asyncio.run(measure(chosen))
    rows, data = list[list[str]](), dict[str, Any]()
    for signal, cost in costs.items():
        figures = {name: Spread.of(getattr(cost, name)) for name in FIGURES}
        rows.append([signal, str(cost.calls), *(figure.text(".0f") for figure in figures.values())])
        data[signal] = {"calls": cost.calls, **{name: figure.json() for name, figure in figures.items()}}
    ratio = Spread.of(ratios)
    rows.append(["answer_logprob: tokens/s with / without", "", "", "", "", ratio.text(".3f")])
    data["answer_logprob"]["throughput_ratio"] = ratio.json()
    name = "signals" if chosen.upstream is None and chosen.model is None else "signals_other"
    title = f"{chosen.questions} questions, median (least to most); {chosen.together} at once for tokens/s"
    publish(
        name,
        title,
        ["", "further calls", "their prompt tokens", "computed again", "further tokens written", "added ms"],
        rows,
        data,
    )


if __name__ == "__main__":
    main()
