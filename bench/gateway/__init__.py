"""What this server adds to a host's answers, beside the LiteLLM proxy and the host asked directly.

python -m bench gateway [--part loads|lengths|streams] offers requests at fixed rates (an open loop) to one process of
each over a scripted host that answers in 100 ms with 42 pieces, whole and streamed, with 1 and 8 samples (`n`
elsewhere); asks this server for longer answers; then it opens thousands of streams. Gateways take turns; added
latencies are those less the host's own of the same round. A gateway that is past its limit is offered no more of the
same. The loads take about an hour: each is kept as it ends, and a run that was stopped goes on there, under the same
options and code.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from bench import processor_time
from bench._resumed import Steps, digest
from bench.gateway import open_streams, ways
from bench.gateway.host import OWNERS, PIECES
from bench.gateway.open_loop import Round, offered
from bench.gateway.ways import Way
from bench.pairs import LEAST_PAIRS, RoundMean, mean_of
from bench.record import keep
from bench.report import publish

Case = tuple[float, bool, int]
"""Requests a second, whether streamed, samples."""
FULL_SECONDS, FULL_FAILURES = 1.0, 0.1
"""The median latency and the share of failures beyond which a gateway is offered no more."""
PIECES_A_SECOND = 2520.0
"""Of all longer answers together, so that a process has about as much to do with short ones as with long ones: one that
idles pays for waking up, which says nothing of how many it can answer."""
PACES = {"whole": (False, False), "streamed": (True, False), "streamed at 50/s": (True, True)}
"""How longer answers come: streamed or not, and whether at a model's pace, which makes each piece an event."""
Rounds = dict[Case, dict[str, list[Round]]]
"""By case and the name of the way."""


def main() -> None:
    asked = options()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        work = Path(folder)
        direct = stack.enter_context(ways.host(work, asked.host))
        if asked.part in ("all", "loads"):
            loads(direct, work, asked)
        if asked.part in ("all", "lengths"):
            lengths(direct, work, asked)
        if asked.part in ("all", "streams"):
            streams(work, asked)


def options() -> argparse.Namespace:
    """What a run measures."""
    parser = argparse.ArgumentParser(prog="python -m bench gateway", description="What a gateway adds.")
    parser.add_argument("--part", choices=("all", "loads", "lengths", "streams"), default="all")
    parser.add_argument("--rates", type=float, nargs="+", default=[5, 60, 200, 400], help="requests a second")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=LEAST_PAIRS)
    parser.add_argument("--samples", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--lengths", type=int, nargs="+", default=[PIECES, 300], help="pieces of an answer")
    parser.add_argument("--streams", type=int, nargs="+", default=[2000, 10_000], help="open at once")
    parser.add_argument("--host", choices=OWNERS, default=OWNERS[0], help="what the host does for fewer events")
    parser.add_argument("--without-litellm", action="store_true", help="this server and the host alone")
    return parser.parse_args()


def loads(direct: Way, work: Path, asked: argparse.Namespace) -> None:
    """Every rate, whole and streamed, one gateway after the other in each round."""
    steps, found = steps_of(asked), Rounds()
    with ExitStack() as stack:
        gateways = [stack.enter_context(ways.demur(work))]
        if not asked.without_litellm:
            gateways.append(stack.enter_context(ways.litellm(work)))
        for case in product(sorted(asked.rates), (False, True), asked.samples):
            offered_to = [way for way in gateways if not is_full(found, way.name, case)]
            if not offered_to:
                continue

            def measured(
                case: Case = case, every: Sequence[Way] = (direct, *offered_to)
            ) -> dict[str, list[dict[str, float]]]:
                by_name = asyncio.run(rounds(every, case, asked))
                return {name: [asdict(one) for one in done] for name, done in by_name.items()}

            kept: dict[str, list[dict[str, Any]]] = steps.run(_named(case), measured)
            found[case] = {name: [Round(**one) for one in done] for name, done in kept.items()}
            print(_named(case), file=sys.stderr, flush=True)
    report_loads(found, asked)
    steps.end()


def is_full(found: Rounds, name: str, case: Case) -> bool:
    """Whether a gateway was past its limit at a lower rate of the same requests: more would show nothing, for hours."""
    rate, streamed, samples = case
    before = [
        done[name]
        for (lower, *kind), done in found.items()
        if lower < rate and kind == [streamed, samples] and name in done
    ]
    return any(
        statistics.median(one.p50 for one in rounds) > FULL_SECONDS
        or statistics.fmean(one.failures / one.requests for one in rounds) > FULL_FAILURES
        for rounds in before
    )


def steps_of(asked: argparse.Namespace) -> Steps:
    """The loads measured before under the same options, by the same code."""
    import demur

    code = digest(Path(__file__).parent, Path(processor_time.__file__), Path(str(demur.__file__)).parent)
    options = {name: value for name, value in vars(asked).items() if name not in ("part", "streams", "lengths")}
    return Steps("gateway", options | {"litellm": ways.LITELLM, "sources": code})


async def rounds(every: Sequence[Way], case: Case, asked: argparse.Namespace) -> dict[str, list[Round]]:
    """One load on each way in turn, the host itself first, round after round; one of a second before is not counted."""
    rate, streamed, samples = case
    by_name: dict[str, list[Round]] = {way.name: [] for way in every}
    for number in range(asked.rounds + 1):
        for way in every if number % 2 else every[::-1]:
            seconds = asked.seconds if number else 1.0
            done = await offered(way, every[0], rate, seconds, streamed=streamed, samples=samples)
            if number:
                by_name[way.name].append(done)
    return by_name


def _named(case: Case) -> str:
    rate, streamed, samples = case
    return f"{rate:g}/s, {'streamed' if streamed else 'whole'}, samples {samples}"


def figures(name: str, mine: Sequence[Round], direct: Sequence[Round]) -> dict[str, RoundMean]:
    pairs = list(zip(mine, direct, strict=True))
    return {
        f"{name}: added p50": mean_of([1e3 * (a.p50 - b.p50) for a, b in pairs], "ms"),
        f"{name}: added p99": mean_of([1e3 * (a.p99 - b.p99) for a, b in pairs], "ms"),
        f"{name}: CPU a request": mean_of([one.cpu_ms for one in mine], "ms"),
        f"{name}: memory": mean_of([one.memory_mib for one in mine], "MiB"),
        f"{name}: failures": mean_of([one.failures / one.requests for one in mine], "share"),
        f"{name}: host busy": mean_of([one.host_busy for one in mine], "share"),
    }


def report_loads(found: Rounds, asked: argparse.Namespace) -> None:
    measured, rows = dict[str, RoundMean](), list[list[str]]()
    for case, by_name in found.items():
        for name in (name for name in by_name if name != "direct"):
            each = figures(name, by_name[name], by_name["direct"])
            measured |= {f"{_named(case)}: {what}": figure for what, figure in each.items()}
            rows.append([_named(case), name, *(figure.text() for figure in each.values())])
    columns = [
        "case",
        "gateway",
        "added p50, ms",
        "added p99, ms",
        "CPU a request, ms",
        "memory, MiB",
        "failed",
        "host busy",
    ]
    publish("gateway", f"gateways over one host, LiteLLM {ways.LITELLM}", columns, rows, vars(asked))
    keep("gateway", measured, {**vars(asked), "litellm": ways.LITELLM})


def lengths(direct: Way, work: Path, asked: argparse.Namespace) -> None:
    """What a longer answer costs this server: what each piece adds, and what does not depend on them."""
    measured, rows = dict[str, RoundMean](), list[list[str]]()
    with ways.demur(work) as way:
        for how in PACES:
            for pieces in asked.lengths:
                done = asyncio.run(one_length(way, direct, asked, how, pieces))
                name = f"{how}, {pieces} pieces"
                measured[f"{name}: CPU a request"] = mean_of([one.cpu_ms for one in done], "ms")
                rows.append([name, measured[f"{name}: CPU a request"].text()])
    publish("gateway-lengths", "longer answers over one host", ["answers", "CPU a request, ms"], rows, vars(asked))
    keep("gateway, lengths", measured, vars(asked))


async def one_length(way: Way, host: Way, asked: argparse.Namespace, how: str, pieces: int) -> list[Round]:
    """Rounds of answers of one length; the first one, of a second, is not counted."""
    found, (streamed, slowly) = list[Round](), PACES[how]
    for number in range(asked.rounds + 1):
        seconds = asked.seconds if number else 1.0
        done = await offered(
            way, host, PIECES_A_SECOND / pieces, seconds, streamed=streamed, samples=1, pieces=pieces, slowly=slowly
        )
        found += [done] if number else []
    return found


def streams(work: Path, asked: argparse.Namespace) -> None:
    """A fresh server for each number of streams, so that none profits from what another left."""
    measured, rows = dict[str, RoundMean](), list[list[str]]()
    for wanted in asked.streams:
        count = open_streams.most_streams(wanted)
        with ways.demur(work, upstreams=-(-count // 1000)) as way:
            asyncio.run(open_streams.held(way, min(50, count)))  # what the first requests load is not theirs
            done = asyncio.run(open_streams.held(way, count))
        named = {
            "memory each, kB": done.kilobytes,
            "first event p50, s": done.first_p50,
            "first event p99, s": done.first_p99,
            "closed after, s": done.freed_seconds,
            "kept each, kB": done.kept_kilobytes,
        }
        measured |= {f"{count} streams: {name}": mean_of([value], "") for name, value in named.items()}
        rows.append([str(count), *(f"{value:.3g}" for value in named.values())])
        columns = ["streams", *named]
        publish("gateway-streams", "open streams over one host", columns, rows, vars(asked))
    keep("gateway, open streams", measured, vars(asked))


if __name__ == "__main__":
    main()
