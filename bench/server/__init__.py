"""This server against vLLM's own API server: same tiny model, prompts and sampling, in turn (A B A B ...).

The model is random and greedy samples of it never end by themselves, so both servers generate exactly the same number
of tokens; it is so small that what a server adds is not hidden behind the model. Both run all the time, one request
load at a time. CPU time and memory are those of the API process alone: the engine runs in processes of its own.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from bench.report import Spread, publish

from demur import prompts

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from tiny_model import make_tiny_model

CONCURRENCIES = (1, 8, 32)
ROUNDS = int(os.environ.get("DEMUR_BENCH_ROUNDS", "7"))
REQUESTS_EACH = {1: 8, 8: 32, 32: 96}
MAX_TOKENS = 64
QUESTION = "What is {a} times {b}? Reason {a} times about the number {b} before you say it."
STARTUP_SECONDS = 600
ENGINE_ARGS = {"max_model_len": 2048, "max_num_seqs": 32, "enforce_eager": True}


@dataclass(frozen=True, slots=True)
class Contender:
    """A running server and how to ask it."""

    name: str
    base: str
    process: psutil.Process

    def body(self, question: str, *, stream: bool) -> dict[str, object]:
        common: dict[str, object] = {"max_tokens": MAX_TOKENS, "temperature": 0, "stream": stream}
        if self.name == "demur":
            return common | {"question": question, "risk_threshold": 0.5}
        return common | {"model": "tiny", "messages": prompts.messages(question, "response")}

    @property
    def url(self) -> str:
        return f"{self.base}/v1/answers" if self.name == "demur" else f"{self.base}/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Load:
    """What one load of requests showed."""

    seconds: float
    tokens: int
    requests: int
    cpu_seconds: float
    first_event: Spread


@contextlib.contextmanager
def serving(name: str, command: list[str], port: int, log: Path) -> Iterator[Contender]:
    """Start a server, wait until it answers, stop it in the end."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    base = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + STARTUP_SECONDS
        while not _healthy(base):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"bench: {name} did not start:\n{log.read_text()[-3000:]}")
            time.sleep(1)
        yield Contender(name, base, psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait(60)


def _healthy(base: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{base}/health", timeout=2).status_code == 200
    return False


async def ask(client: httpx.AsyncClient, contender: Contender, question: str) -> tuple[float, int]:
    """One streamed answer: seconds to the first event that carries data, and tokens generated."""
    body = contender.body(question, stream=True)
    if contender.name != "demur":
        body["stream_options"] = {"include_usage": True}
    start, first, tokens = time.perf_counter(), 0.0, 0
    async with client.stream("POST", contender.url, json=body) as response:
        response.raise_for_status()
        async for payload in _payloads(response):
            first = first or time.perf_counter() - start
            tokens = (payload.get("usage") or {}).get("completion_tokens") or tokens
    return first, tokens


async def _payloads(response: httpx.Response) -> AsyncIterator[dict[str, object]]:
    async for line in response.aiter_lines():
        if line.startswith("data: {"):
            yield json.loads(line[6:])


async def load(client: httpx.AsyncClient, contender: Contender, concurrency: int, round_: int) -> Load:
    """As many requests as `REQUESTS_EACH` says, so many at a time; each round asks other questions."""
    gate = asyncio.Semaphore(concurrency)

    async def one(i: int) -> tuple[float, int]:
        async with gate:
            return await ask(client, contender, QUESTION.format(a=1000 * round_ + i, b=i + concurrency))

    before, start = _cpu(contender), time.perf_counter()
    answers = await asyncio.gather(*(one(i) for i in range(REQUESTS_EACH[concurrency])))
    seconds = time.perf_counter() - start
    firsts, tokens = zip(*answers, strict=True)
    return Load(seconds, sum(tokens), len(tokens), _cpu(contender) - before, Spread.of(firsts))


def _cpu(contender: Contender) -> float:
    times = contender.process.cpu_times()
    return times.user + times.system


async def compare(ours: Contender, theirs: Contender) -> dict[int, list[tuple[Load, Load]]]:
    """Pairs of loads (ours, theirs) by concurrency; which goes first alternates."""
    pairs: dict[int, list[tuple[Load, Load]]] = {concurrency: [] for concurrency in CONCURRENCIES}
    limits = httpx.Limits(max_connections=64)
    async with httpx.AsyncClient(timeout=300, limits=limits, trust_env=False) as client:
        for round_ in range(ROUNDS + 1):
            for concurrency in CONCURRENCIES:
                order = (ours, theirs) if round_ % 2 else (theirs, ours)
                done = {c.name: await load(client, c, concurrency, round_) for c in order}
                if round_:  # the first round warms both up
                    pairs[concurrency].append((done["demur"], done["vllm"]))
            print(f"round {round_} of {ROUNDS}", file=sys.stderr, flush=True)
    return pairs


def figures(pairs: list[tuple[Load, Load]]) -> dict[str, Spread]:
    return {
        "throughput_ratio": Spread.of([(a.tokens / a.seconds) / (b.tokens / b.seconds) for a, b in pairs]),
        "tokens_per_second": Spread.of([a.tokens / a.seconds for a, _ in pairs]),
        "added_first_event_ms": Spread.of([(a.first_event.median - b.first_event.median) * 1e3 for a, b in pairs]),
        "first_event_ms": Spread.of([a.first_event.median * 1e3 for a, _ in pairs]),
        "cpu_ms_per_request": Spread.of([a.cpu_seconds / a.requests * 1e3 for a, _ in pairs]),
        "vllm_cpu_ms_per_request": Spread.of([b.cpu_seconds / b.requests * 1e3 for _, b in pairs]),
        "cpu_ms_per_token": Spread.of([a.cpu_seconds / a.tokens * 1e3 for a, _ in pairs]),
        "vllm_cpu_ms_per_token": Spread.of([b.cpu_seconds / b.tokens * 1e3 for _, b in pairs]),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        model = str(make_tiny_model(work / "tiny"))
        args = [part for name, value in ENGINE_ARGS.items() for part in ("--engine-arg", f"{name}={json.dumps(value)}")]
        demur = [
            sys.executable,
            "-m",
            "demur",
            "serve",
            "--model",
            model,
            "--port",
            "8411",
            "--force-contract",
            "never",
        ]
        vllm = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model, "--port", "8412"]
        vllm += [
            "--host",
            "127.0.0.1",
            "--served-model-name",
            "tiny",
            "--max-model-len",
            "2048",
            "--max-num-seqs",
            "32",
        ]
        vllm += [
            "--enforce-eager",
            "--dtype",
            "float32",
            "--gpu-memory-utilization",
            "0.1",
            "--disable-uvicorn-access-log",
        ]
        # The same engine under both: as much cache, and both leave as many cores to the compute threads.
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
        os.environ.setdefault("VLLM_CPU_NUM_OF_RESERVED_CPU", "0")
        with (
            serving("demur", [*demur, *args], 8411, work / "demur.log") as ours,
            serving("vllm", vllm, 8412, work / "vllm.log") as theirs,
        ):
            pairs = asyncio.run(compare(ours, theirs))
            memory = {c.name: c.process.memory_info().rss / 2**20 for c in (ours, theirs)}
    report(pairs, memory)


def report(pairs: dict[int, list[tuple[Load, Load]]], memory: dict[str, float]) -> None:
    measured = {concurrency: figures(done) for concurrency, done in pairs.items()}
    rows = [
        [name.replace("_", " "), *(measured[c][name].text() for c in CONCURRENCIES)]
        for name in measured[CONCURRENCIES[0]]
    ]
    extra = memory["demur"] - memory["vllm"]
    rows.append(
        ["API process, MiB: ours / vLLM's", f"{memory['demur']:.0f} / {memory['vllm']:.0f}", f"{extra:+.0f}", ""]
    )
    columns = ["figure: median (min to max)", *(f"{c} concurrent" for c in CONCURRENCIES)]
    data = {str(c): {name: f.json() for name, f in spread.items()} for c, spread in measured.items()}
    title = f"demur against vLLM's API server, {ROUNDS} rounds in turn, {MAX_TOKENS} tokens each"
    publish("server", title, columns, rows, {"by_concurrency": data, "memory_mib": memory})


if __name__ == "__main__":
    main()
