"""How many processes a GPU node needs in front of it, worked out from what an answer was measured to cost.

A process of Python uses one core. It is planned at `BUSY` of that, past which those that wait make the slowest answers
much slower. An answer costs something by itself and something with each of its pieces, which is told from two lengths.
"""

import math
from collections.abc import Mapping
from typing import Any

from bench.pairs import RoundMean
from bench.tables.markdown import conditions, figures, number, table

Record = Mapping[str, Any]
BUSY = 0.6
"""The share of a core that a process is planned at."""
TOKENS = 300
"""Of an answer."""
NODES = (1_000, 5_000, 20_000, 50_000)
"""Tokens a second that a node writes."""
TOGETHER = "samples 1, 32 at once"


def processes(cores: float) -> int:
    """How many take so much processor time."""
    return max(1, math.ceil(cores / BUSY))


def over_hosts(record: Record) -> str:
    """Processes of `demur serve --engine openai` in front of hosts that write so many tokens a second."""
    costs, streams = figures(record, "gateway, lengths"), figures(record, "gateway, open streams")
    each = next(figure.value for name, figure in streams.items() if name.endswith("memory each, kB"))
    rows = list[list[str]]()
    for node in NODES:
        answers = node / TOKENS
        needed = [answers * seconds_for(costs, how, TOKENS) for how in ("whole", "streamed at 50/s")]
        rows.append([f"{node:,}", number(answers), *(f"{number(cores)}: {processes(cores)}" for cores in needed)])
    columns = ["tokens a second of the hosts", "answers a second", "whole, cores: processes", "streamed"]
    more = f"answers of {TOKENS} tokens, a process planned at {BUSY:.0%} of a core"
    return table(columns, rows, conditions(record, "gateway, lengths", more, f"{number(each)} kB an open stream"))


def seconds_for(costs: Mapping[str, RoundMean], how: str, pieces: int) -> float:
    """Processor seconds of an answer of so many pieces, on the line through the shortest and the longest measured."""
    known = sorted(
        (int(name.split(", ")[1].split()[0]), figure.value / 1e3)
        for name, figure in costs.items()
        if name.startswith(f"{how}, ")
    )
    (short, least), (long, most) = known[0], known[-1]
    a_piece = (most - least) / (long - short)
    return least + a_piece * (pieces - short)


def own_engine(record: Record) -> str:
    """The API process of `demur serve --model` beside an engine that writes so many tokens a second."""
    found = figures(record, "server, tiny model")
    costs = [found[f"{how}, answers, response, {TOGETHER}: CPU a token"].value / 1e3 for how in ("whole", "streamed")]
    rows = [[f"{node:,}", *(f"{number(node * cost)}: {processes(node * cost)}" for cost in costs)] for node in NODES]
    columns = ["tokens a second of the engine", "whole, cores: processes", "streamed"]
    more = f"a process planned at {BUSY:.0%} of a core"
    return table(columns, rows, conditions(record, "server, tiny model", more))
