"""From the command to the first answer, beside vLLM's own server on the same model with the same engine settings.

python -m bench start [--model tiny|embedded] [--rounds 4]. One server is started at a time, in turn (A B B A), and
stopped when it has answered one short question; the page cache is warm, since the first start of each is not counted.
`import` is what Python takes for vLLM's engine alone, in a process of its own: the part that neither server can save.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.pairs import RoundMean, mean_of
from bench.record import keep
from bench.report import publish
from bench.server import setup_of
from bench.server.cases import Case
from bench.server.contenders import Setup, serving
from bench.server.load import Length, http_client, load

SHORT = Length(16)
CASE = Case(streamed=False, api="answers", contract="response", samples=1, concurrency=1)
IMPORT = "import vllm.v1.engine.async_llm"
PORT = 8413


@dataclass(frozen=True, slots=True)
class Started:
    """Seconds from the command until the server says that it is ready, and until its first answer is there."""

    ready: float
    answered: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench start", description="From the command to the first answer.")
    parser.add_argument("--model", choices=("tiny", "embedded"), default="embedded")
    parser.add_argument("--rounds", type=int, default=4)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        setup = setup_of(asked.model, Path(folder))
        found: dict[str, list[Started]] = {"demur": [], "vllm": []}
        for number in range(asked.rounds + 1):
            for name in ("demur", "vllm") if number % 2 else ("vllm", "demur"):
                done = start(name, setup, Path(folder))
                print(f"round {number}, {name}: {done.answered:.1f} s", file=sys.stderr, flush=True)
                if number:
                    found[name].append(done)
    report(found, [imported() for _ in range(asked.rounds)], asked)


def start(name: str, setup: Setup, work: Path) -> Started:
    """Start one server, ask it one question, stop it."""
    command = setup.demur(PORT) if name == "demur" else setup.vllm(PORT)
    began = time.monotonic()
    with ExitStack() as stack:
        server = stack.enter_context(serving(name, command, PORT, work / f"{name}.log", setup.environment))

        async def first() -> None:
            async with http_client() as client:
                await load(client, server, CASE, 1, SHORT, 1)

        asyncio.run(first())
        return Started(server.ready_after, time.monotonic() - began)


def imported() -> float:
    """Seconds that Python takes to import vLLM's engine."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True)
    return time.monotonic() - began


def report(found: dict[str, list[Started]], imports: Sequence[float], asked: argparse.Namespace) -> None:
    """Ours, theirs, and ours less theirs of the same round."""
    measured, rows = {"import": mean_of(imports, "s")}, list[list[str]]()
    for what in ("ready", "answered"):
        ours, theirs = ([getattr(one, what) for one in found[name]] for name in ("demur", "vllm"))
        each = [ours, theirs, [a - b for a, b in zip(ours, theirs, strict=True)]]
        named: dict[str, RoundMean] = {
            f"{what}: {name}": mean_of(values, "s") for name, values in zip(("ours", "vLLM", "more"), each, strict=True)
        }
        measured |= named
        rows.append([what, *(figure.text() for figure in named.values())])
    rows.append(["import of vLLM alone", measured["import"].text(), "", ""])
    columns = ["seconds until", "demur", "vLLM", "demur less vLLM"]
    publish(f"start-{asked.model}", f"start, {asked.model} model, {asked.rounds} rounds", columns, rows, vars(asked))
    keep(f"start, {asked.model} model", measured, vars(asked))


if __name__ == "__main__":
    main()
