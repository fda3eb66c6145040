"""How many processes a GPU node needs in front of it, worked out from what an answer was measured to cost.

A process of Python uses one core. It is planned at `BUSY` of that, past which those that wait make the slowest answers
much slower. A streamed answer costs with each of its pieces, a whole one hardly does with its length.
"""

import math
from collections.abc import Mapping
from typing import Any

from bench.gateway.host import PIECES
from bench.tables.markdown import conditions, figures, number, table

Record = Mapping[str, Any]
BUSY = 0.6
"""The share of a core that a process is planned at."""
TOKENS = 300
"""Of an answer."""
NODES = (1_000, 5_000, 20_000, 50_000)
"""Tokens a second that a node writes."""
LOADED = "60/s"
"""The load at which a gateway's cost is read: busy, and all is answered."""
TOGETHER = "samples 1, 32 at once"


def processes(cores: float) -> int:
    """How many take so much processor time."""
    return max(1, math.ceil(cores / BUSY))


def over_hosts(record: Record) -> str:
    """Processes of `demur serve --engine openai` in front of hosts that write so many tokens a second."""
    costs, streams = figures(record, "gateway"), figures(record, "gateway, open streams")
    whole = costs[f"{LOADED}, whole, samples 1: demur: CPU a request"].value / 1e3
    piece = costs[f"{LOADED}, streamed, samples 1: demur: CPU a request"].value / 1e3 / PIECES
    each = streams["2000 streams: memory each, kB"].value
    rows = list[list[str]]()
    for node in NODES:
        answers = node / TOKENS
        needed = [answers * whole, node * piece]
        rows.append(
            [f"{node:,}", number(answers), *(f"{number(cores)}: {processes(cores)}" for cores in needed)],
        )
    columns = ["tokens a second of the hosts", "answers a second", "whole, cores: processes", "streamed"]
    more = f"answers of {TOKENS} tokens, a process planned at {BUSY:.0%} of a core"
    return table(columns, rows, conditions(record, "gateway", more, f"{number(each)} kB an open stream"))


def own_engine(record: Record) -> str:
    """The API process of `demur serve --model` beside an engine that writes so many tokens a second."""
    found = figures(record, "server, tiny model")
    costs = [found[f"{how}, answers, response, {TOGETHER}: CPU a token"].value / 1e3 for how in ("whole", "streamed")]
    rows = [[f"{node:,}", *(f"{number(node * cost)}: {processes(node * cost)}" for cost in costs)] for node in NODES]
    columns = ["tokens a second of the engine", "whole, cores: processes", "streamed"]
    more = f"a process planned at {BUSY:.0%} of a core"
    return table(columns, rows, conditions(record, "server, tiny model", more))
