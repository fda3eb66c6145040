"""Tables of the documentation are made from the record of the benchmarks, and say what the record lacks."""

from itertools import product

import pytest
from bench import tables
from bench.pairs import RoundMean
from bench.record import BASELINE, read
from bench.tables.markdown import figures, number
from bench.tables.sizing import processes, seconds_for


def recorded(figures: dict[str, float], **conditions: object) -> dict[str, object]:
    named = {name: RoundMean(value, value, value, 8, "").json() for name, value in figures.items()}
    return {"machine": "2 cores", "conditions": conditions, "figures": named}


def record() -> dict[str, object]:
    server, gateway = dict[str, float](), dict[str, float]()
    for how in ("whole", "streamed"):
        case = f"{how}, answers, response, samples 1, 32 at once"
        for what, value in (("throughput", 1.5), ("CPU a token", 0.5), ("first event", 1.0)):
            server[f"{case}: {what}, ours / vLLM's"] = value
        server |= {f"{case}: CPU a token": 0.02, f"{case}: CPU a token, vLLM": 0.04}
    for how, (what, value) in product(
        ("whole", "streamed"),
        (
            ("added p50", 1.25),
            ("added p99", 7),
            ("CPU a request", 2.1),
            ("memory", 90),
            ("failures", 0),
            ("host busy", 0.3),
        ),
    ):
        gateway[f"60/s, {how}, samples 1: demur: {what}"] = value
    return {
        "server, tiny model": recorded(server, reserved_cores=1, pairs=8),
        "server, embedded model": recorded(server, reserved_cores=0, pairs=8),
        "gateway": recorded(gateway, rounds=8, seconds=5.0, litellm="1.2.3"),
        "gateway, lengths": recorded(
            {
                f"{how}, {pieces} pieces: CPU a request": cost
                for how, costs in (("whole", (1.0, 2.0)), ("streamed", (2.0, 8.0)), ("streamed at 50/s", (3.0, 9.0)))
                for pieces, cost in zip((42, 342), costs, strict=True)
            },
            rounds=8,
            seconds=5.0,
        ),
        "gateway, open streams": recorded({"2000 streams: memory each, kB": 40, "2000 streams: closed after, s": 0.5}),
        "start, embedded model": recorded(
            {"import": 10}
            | {f"{what}: {whose}": 20 for what in ("ready", "answered") for whose in ("ours", "vLLM", "more")},
            rounds=4,
        ),
    }


@pytest.mark.parametrize("name", tables.TABLES)
def test_every_table_has_a_header_rows_and_the_machine(name) -> None:
    lines = tables.TABLES[name](record()).splitlines()
    widths = {line.count("|") for line in lines if line.startswith("|")}
    assert len(widths) == 1
    assert len(lines) >= 5
    assert lines[-1].startswith("On 2 cores")


def test_a_page_keeps_what_stands_around_its_tables() -> None:
    page = "before\n\n<!-- table: start -->\nold\n<!-- end of table -->\n\nafter\n"
    made = tables.filled(page, record())
    assert made.startswith("before\n\n<!-- table: start -->")
    assert made.endswith("<!-- end of table -->\n\nafter\n")
    assert "old" not in made
    assert tables.filled(made, record()) == made


@pytest.mark.parametrize(
    ("name", "recorded", "told"),
    [("stat", record(), "no table is called 'stat'"), ("gateway", {}, "'gateway' needs .*python -m bench gateway")],
)
def test_what_there_is_not_is_named(name, recorded, told) -> None:
    with pytest.raises(SystemExit, match=told):
        tables.filled(f"<!-- table: {name} -->\n<!-- end of table -->", recorded)


def test_an_answer_costs_by_its_length() -> None:
    costs = figures(record(), "gateway, lengths")
    assert seconds_for(costs, "streamed", 192) == pytest.approx(0.005)
    assert seconds_for(costs, "streamed at 50/s", 192) == pytest.approx(0.006)
    assert seconds_for(costs, "whole", 42) == pytest.approx(0.001)


def test_a_process_is_planned_below_a_core() -> None:
    assert [processes(cores) for cores in (0.01, 0.6, 0.61, 6)] == [1, 1, 2, 10]


@pytest.mark.parametrize(
    ("value", "told"),
    [(0.012345, "0.0123"), (1.0, "1.00"), (17.26, "17.3"), (123456, "123,456"), (-0.5, "-0.500"), (0, "0")],
)
def test_figures_have_three_digits(value, told) -> None:
    assert number(value) == told


def test_the_pages_hold_the_baseline() -> None:
    pages = [page.read_text() for page in sorted(tables.DOCS.glob("*.md"))]
    if not BASELINE.exists():
        assert not any("<!-- table: " in page for page in pages)
        return
    kept = read(BASELINE)
    assert [page[:40] for page in pages if tables.filled(page, kept) != page] == []
