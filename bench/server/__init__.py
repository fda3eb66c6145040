"""This server against vLLM's own API server: same model, prompts and sampling, in turn (A B B A ...).

Greedy samples of the tiny random model never end by themselves, so that both servers generate the same number of
tokens, which is checked. It is so small that what a server adds is not hidden behind it; a core is reserved for the API
process, or the engine's spinning threads would starve both servers. The embedded model runs on all cores, as served by
default, and ends when it likes: there only requests are the same.

Both servers run at once, one load at a time. A pass over all cases measures one pair of neighbouring rounds of each,
and both servers are started anew for each pass, in turn first: of two equal servers one may be faster for as long as it
runs, which no number of rounds would show. So every pair of a case has a start of its own, and the interval, a
bootstrap over pairs, holds what starts and the hours of a shared machine do. A round has as many requests as the faster
of the two answers in `--seconds`. CPU time is that of the API process alone: it is the figure that repeats.

All cases take about two hours. Each pass of each is kept as it ends: a run that was stopped goes on there, and
`--only` measures some of the cases and reports all that are measured so far, as long as neither the options nor the
code of the server changes.
"""

import argparse
import asyncio
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench import processor_time
from bench._resumed import Steps, digest
from bench.pairs import LEAST_PAIRS, RoundMean, mean_of, ratio_of, verdict
from bench.record import keep
from bench.report import publish
from bench.server.cases import CONTRACTS, Case, cases
from bench.server.contenders import Contender, Setup, serving
from bench.server.load import Length, Load, http_client, load

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from tiny_model import make_tiny_model

Servers = tuple[Contender, Contender]
"""Ours and vLLM's own."""
Pair = tuple[Load, Load]
"""Ours and theirs, of neighbouring rounds."""
TINY_ENDS = (0, 2)
"""The tiny model's end tokens: all of its samples have `max_tokens`."""
PROBE = 2
"""Requests for each one at a time, of the load that warms both up and of the one that tells how fast they are then."""


def main() -> None:
    asked = options()
    wanted = list(cases(tuple(asked.concurrency), tuple(asked.samples), tuple(asked.contracts)))
    if not any(asked.only in case.name for case in wanted):
        raise SystemExit(f"bench: no case has {asked.only!r} in its name")
    steps = steps_of(asked)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        setup = setup_of(asked.model, work)
        length = Length(asked.tokens, setup.end_tokens)
        pairs = compare(Match(partial(both, setup, work), asked, length), wanted, steps)
    report(pairs, setup, asked)
    if len(pairs) == len(wanted):
        steps.end()


def steps_of(asked: argparse.Namespace) -> Steps:
    """The cases measured before under the same options, by the same code."""
    import demur

    code = digest(Path(__file__).parent, Path(processor_time.__file__), Path(str(demur.__file__)).parent)
    options = {name: value for name, value in vars(asked).items() if name != "only"}
    return Steps(f"server-{asked.model}", options | {"sources": code})


def options() -> argparse.Namespace:
    """What a run measures."""
    parser = argparse.ArgumentParser(prog="python -m bench server", description="This server beside vLLM's own.")
    parser.add_argument("--model", choices=("tiny", "embedded"), default="tiny")
    parser.add_argument("--pairs", type=int, default=LEAST_PAIRS, help="of rounds, ours and theirs")
    parser.add_argument("--seconds", type=float, default=5.0, help="a round takes at least")
    parser.add_argument("--tokens", type=int, default=128, help="max_tokens of each sample")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 8, 32, 128])
    parser.add_argument("--samples", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--contracts", nargs="+", default=list(CONTRACTS), choices=CONTRACTS)
    parser.add_argument("--only", default="", help="cases whose name holds this, such as 'whole, answers'")
    return parser.parse_args()


def setup_of(model: str, work: Path) -> Setup:
    """The model that ships, on all cores, or one made in `work` that leaves a core to the API process."""
    if model == "tiny":
        return Setup(make_tiny_model(work / "tiny"), "float32", 1, TINY_ENDS)
    from demur.serving.engine_loaders.vllm import prepare_embedded

    return Setup(Path(prepare_embedded()), "bfloat16", 0)


@contextmanager
def both(setup: Setup, work: Path, turn: int) -> Iterator[Servers]:
    """Ours and vLLM's own; which of them is started first alternates with `turn`."""
    commands = {"demur": setup.demur(8411), "vllm": setup.vllm(8412)}
    with ExitStack() as running:
        started = dict[str, Contender]()
        for name in list(commands)[:: -1 if turn % 2 else 1]:
            port, log = 8411 + list(commands).index(name), work / f"{name}.log"
            started[name] = running.enter_context(serving(name, commands[name], port, log, setup.environment))
        yield started["demur"], started["vllm"]


@dataclass(frozen=True, slots=True)
class Match:
    """How the two servers are started for a pass, and how they are compared."""

    start: Callable[[int], AbstractContextManager[Servers]]
    asked: argparse.Namespace
    length: Length


def compare(match: Match, wanted: Sequence[Case], steps: Steps) -> dict[Case, list[Pair]]:
    """Pairs of loads by case, of those asked for and those measured before, where there are as many as asked for."""
    asked, found = match.asked, {case: list[Pair]() for case in wanted}
    for turn in range(asked.pairs):
        names = {case: f"{case.name}, pass {turn + 1}" for case in wanted}
        missing = [case for case, name in names.items() if asked.only in case.name and name not in steps]
        with match.start(turn) if missing else nullcontext() as servers:
            for number, case in enumerate(wanted):
                name, done = names[case], found[case]
                if case not in missing and name not in steps:
                    continue
                first = 1 + 10**6 * number + 10**5 * turn
                measure = partial(as_json, match, servers, case, done, first)
                before = ", measured before" if name in steps else ""
                one, other = steps.run(name, measure)
                done.append((Load(**one), Load(**other)))
                step = f"{turn * len(wanted) + number + 1} of {asked.pairs * len(wanted)}"
                print(f"{step}: {name}{before}", file=sys.stderr, flush=True)
    return {case: done for case, done in found.items() if len(done) == asked.pairs}


def as_json(match: Match, servers: Servers | None, case: Case, done: Sequence[Pair], first: int) -> Any:
    """The next pair of one case, as it is kept."""
    assert servers is not None, "a pass with something to measure has started them"
    return [asdict(one) for one in asyncio.run(paired(match, servers, case, done, first))]


async def paired(match: Match, servers: Servers, case: Case, done: Sequence[Pair], first: int) -> Pair:
    """The next pair of rounds of one case, with as many requests as those `done` before. Which server is asked first
    changes every other time, since which is started first changes each time. Questions are numbered from `first` on.

    Raises SystemExit where the two do not generate as many tokens.
    """
    probe = PROBE * case.concurrency
    order = servers if len(done) // 2 % 2 else servers[::-1]
    async with http_client() as client:
        for each in servers:  # the very first answers are slower than those after them
            await load(client, each, case, probe, match.length, first)
        if done:
            requests = done[0][0].requests
        else:
            tried = [await load(client, each, case, probe, match.length, first + probe) for each in servers]
            fastest = max(probe / one.seconds for one in tried)
            requests = max(case.concurrency, math.ceil(fastest * match.asked.seconds))
        at = first + 2 * probe
        by_name = {each.name: await load(client, each, case, requests, match.length, at) for each in order}
    pair = (by_name["demur"], by_name["vllm"])
    check_tokens(pair, case, match.asked)
    return pair


def check_tokens(pair: Pair, case: Case, asked: argparse.Namespace) -> None:
    """The random model never ends a sample, so that all of them have `max_tokens`; prompts are the same in any case."""
    ours, theirs = pair
    if case.samples == 1 and ours.prompt_tokens != theirs.prompt_tokens:
        told = f"{ours.prompt_tokens} tokens of prompts where vLLM's server counts {theirs.prompt_tokens}"
        raise SystemExit(f"bench: {case.name}: {told}")
    for one in pair:
        expected = one.requests * case.samples * asked.tokens
        if asked.model == "tiny" and one.tokens != expected:
            raise SystemExit(f"bench: {case.name}: {one.tokens} tokens where {expected} were to be generated")


def figures(case: Case, pairs: Sequence[Pair]) -> dict[str, RoundMean]:
    """By name, the case before it."""

    def ratio(what: str) -> RoundMean:
        ours, theirs = ([float(getattr(pair[side], what)) for pair in pairs] for side in (0, 1))
        return ratio_of(ours, theirs)

    found = {
        "throughput, ours / vLLM's": ratio("throughput"),
        "CPU a token, ours / vLLM's": ratio("cpu_per_token"),
        "first event, ours / vLLM's": ratio("first_event"),
        "CPU a token": mean_of([ours.cpu_per_token * 1e3 for ours, _ in pairs], "ms"),
        "CPU a request": mean_of([ours.cpu_per_request * 1e3 for ours, _ in pairs], "ms"),
        "CPU a token, vLLM": mean_of([theirs.cpu_per_token * 1e3 for _, theirs in pairs], "ms"),
        "tokens a second": mean_of([ours.throughput for ours, _ in pairs], "1/s"),
    }
    return {f"{case.name}: {name}": figure for name, figure in found.items()}


def report(
    pairs: dict[Case, list[Pair]],
    setup: Setup,
    asked: argparse.Namespace,
) -> None:
    """A table, and the record."""
    measured, rows = dict[str, RoundMean](), list[list[str]]()
    for case, done in pairs.items():
        found = figures(case, done)
        measured |= found
        throughput, cpu, first, ours, _, theirs, _ = found.values()
        each = [f"{ratio.text()}: {verdict(ratio)}" for ratio in (throughput, cpu, first)]
        rows.append([case.name, *each, f"{ours.value:.4f} / {theirs.value:.4f}"])
    columns = ["case", "throughput ratio", "CPU a token, ratio", "first event, ratio", "CPU a token, ms"]
    conditions = {name: value for name, value in vars(asked).items() if name != "only"}
    conditions |= {"reserved_cores": setup.reserved_cores, "finished": time.strftime("%Y-%m-%d")}
    title = (
        f"demur / vLLM's API server, {asked.model} model, {setup.reserved_cores} cores reserved, {asked.pairs} pairs"
    )
    publish(f"server-{asked.model}", title, columns, rows, conditions)
    keep(f"server, {asked.model} model", measured, conditions)


if __name__ == "__main__":
    main()
