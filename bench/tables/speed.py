"""The tables of docs/benchmarks.md that come from rounds in pairs: the server, the gateway, open streams, the start."""

import re
from collections.abc import Mapping
from typing import Any

from bench.gateway import PIECES_A_SECOND
from bench.tables.markdown import conditions, figures, number, ratio, table, text

Record = Mapping[str, Any]
CASE = re.compile(
    r"(?P<how>whole|streamed), (?P<api>\w+), (?P<contract>\w+), samples (?P<k>\d+), (?P<together>\d+) at once"
)
LOAD = re.compile(r"(?P<rate>[\d.]+)/s, (?P<how>whole|streamed), samples (?P<k>\d+): (?P<name>\w+): CPU a request")


def server(record: Record, model: str, streamed: bool | None = None) -> str:
    """This server beside vLLM's, a row for each case of whole or streamed replies, or of both."""
    benchmark = f"server, {model} model"
    found = figures(record, benchmark)
    rows = list[list[str]]()
    for parts in sorted(map(_case, {name.partition(": ")[0] for name in found}), key=_by_numbers):
        case = parts[0]
        if streamed is not None and (parts["how"] == "streamed") != streamed:
            continue
        how = "" if streamed is not None else f"{parts['how']}, "
        ratios = (f"{case}: {what}, ours / vLLM's" for what in ("throughput", "CPU a token", "first event"))
        cpu = (number(found[f"{case}: CPU a token{whose}"].value) for whose in ("", ", vLLM"))
        rows.append(
            [
                f"{how}{parts['api']}, {parts['contract']}",
                parts["k"],
                parts["together"],
                *(ratio(found[name]) for name in ratios),
                " / ".join(cpu),
            ]
        )
    columns = ["API, contract", "samples", "at once", "throughput", "CPU a token", "first event", "CPU a token, ms"]
    measured = record[benchmark]["conditions"]
    reserved, pairs = measured["reserved_cores"], measured["pairs"]
    said = f"{reserved} of the cores reserved for the API process" if reserved else "no core reserved"
    return table(columns, rows, conditions(record, benchmark, said, f"{pairs} pairs of rounds, ours / vLLM's"))


def _case(name: str) -> re.Match[str]:
    found = CASE.fullmatch(name)
    assert found is not None, name
    return found


def gateway(record: Record) -> str:
    """What each gateway adds to its host, by load."""
    found = figures(record, "gateway")
    rows = list[list[str]]()
    for parts in sorted(filter(None, map(LOAD.fullmatch, found)), key=_by_numbers):
        name = parts[0]
        of = name.removesuffix("CPU a request")
        each = (text(found[of + what]) for what in ("added p50", "added p99", "CPU a request"))
        failed, memory, busy = (found[of + what] for what in ("failures", "memory", "host busy"))
        load = [f"{parts['rate']}/s", parts["how"], parts["k"], parts["name"]]
        rows.append([*load, *each, f"{memory.value:.0f}", f"{failed.value:.1%}", f"{busy.value:.0%}"])
    columns = ["offered", "reply", "samples", "gateway", "added p50, ms", "added p99, ms", "CPU a request, ms"]
    measured = record["gateway"]["conditions"]
    more = f"{measured['rounds']} rounds of {measured['seconds']:g} s, LiteLLM {measured['litellm']}"
    return table([*columns, "MiB", "failed", "host busy"], rows, conditions(record, "gateway", more))


def _by_numbers(parts: re.Match[str]) -> tuple[tuple[str, float], ...]:
    """What rows are sorted by: words as words, numbers as numbers."""
    told = parts.groupdict()
    order = [name for name in ("how", "api", "contract", "k", "rate", "together", "name") if name in told]
    return tuple(("", float(told[name])) if name in ("k", "rate", "together") else (told[name], 0.0) for name in order)


def lengths(record: Record) -> str:
    """What longer answers over a host cost."""
    found = figures(record, "gateway, lengths")
    rows = [[name.removesuffix(": CPU a request"), text(figure)] for name, figure in found.items()]
    measured = record["gateway, lengths"]["conditions"]
    more = f"{measured['rounds']} rounds of {measured['seconds']:g} s at {PIECES_A_SECOND:,.0f} pieces a second in all"
    return table(["answer", "CPU a request, ms"], rows, conditions(record, "gateway, lengths", more))


def open_streams(record: Record) -> str:
    """Thousands of streams held open."""
    found = figures(record, "gateway, open streams")
    numbers = list(dict.fromkeys(name.partition(": ")[0] for name in found))
    columns = ["", *numbers]
    kinds = dict.fromkeys(name.partition(": ")[2] for name in found)
    rows = [[what, *(number(found[f"{count}: {what}"].value) for count in numbers)] for what in kinds]
    return table(columns, rows, conditions(record, "gateway, open streams", "one run"))


def start(record: Record) -> str:
    """Seconds until a server is ready and has answered."""
    benchmark = "start, embedded model"
    found = figures(record, benchmark)
    rows = [
        [what, *(text(found[f"{what}: {name}"]) for name in ("ours", "vLLM", "more"))] for what in ("ready", "answered")
    ]
    rows.append(["import of vLLM alone", text(found["import"]), "", ""])
    more = f"{record[benchmark]['conditions']['rounds']} starts of each"
    return table(["seconds until", "demur", "vLLM", "demur less vLLM"], rows, conditions(record, benchmark, more))
