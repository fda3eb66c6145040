"""How the benchmark beside vLLM's server spreads its rounds over a run, with servers that only count."""

import asyncio
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bench.server as bench
import psutil
import pytest
from bench._resumed import Steps
from bench.server.cases import Case
from bench.server.contenders import Contender, Setup
from bench.server.load import Length, Load, ask, http_client

TOKENS = 4
ONE, FOUR = (Case(streamed=False, api="answers", contract="response", samples=1, concurrency=n) for n in (1, 4))
Asked = tuple[str, int, int, int]
"""Server, requests at once, requests, number of the first."""


@pytest.fixture
def asked(monkeypatch) -> list[Asked]:
    """Every load that either server had."""
    told = list[Asked]()

    async def load(client: Any, contender: Contender, case: Case, requests: int, length: Length, first: int) -> Load:
        told.append((contender.name, case.concurrency, requests, first))
        return Load(requests / 10, requests * TOKENS, requests, 0.1, 0.1, 7)

    monkeypatch.setattr(bench, "load", load)
    return told


def match(pairs: int = 3, only: str = "", starts: list[int] | None = None) -> bench.Match:
    """`starts` gets the number of each pass for which the servers are started."""
    ours, theirs = (Contender(name, "http://127.0.0.1:1", psutil.Process(), 0.0) for name in ("demur", "vllm"))
    options = Namespace(pairs=pairs, seconds=2.0, tokens=TOKENS, model="tiny", only=only)

    @contextmanager
    def start(turn: int) -> Iterator[bench.Servers]:
        if starts is not None:
            starts.append(turn)
        yield ours, theirs

    return bench.Match(start, options, Length(TOKENS))


def rounds(asked: list[Asked]) -> list[tuple[str, int]]:
    """Without the loads that warm up."""
    return [(name, at_once) for name, at_once, requests, _ in asked if requests == 20]


def test_a_pass_measures_one_pair_of_each_case(asked, tmp_path: Path) -> None:
    """Pairs that shared a start of the servers would not be independent of each other."""
    starts = list[int]()
    found = bench.compare(match(pairs=4, starts=starts), [ONE, FOUR], Steps("server", {}, tmp_path))
    theirs_first, ours_first = ["vllm", "demur"], ["demur", "vllm"]
    expected = [(name, n) for pair in (theirs_first,) * 2 + (ours_first,) * 2 for n in (1, 4) for name in pair]
    assert rounds(asked) == expected
    assert starts == [0, 1, 2, 3]
    assert {case: len(pairs) for case, pairs in found.items()} == {ONE: 4, FOUR: 4}
    questions = [{*range(first, first + requests)} for name, _, requests, first in asked if name == "demur"]
    assert len(set[int]().union(*questions)) == sum(map(len, questions))


def test_both_servers_are_started_anew_for_each_pass_that_lacks_something(asked, tmp_path: Path) -> None:
    starts = list[int]()
    for _ in range(2):
        bench.compare(match(only=ONE.name, starts=starts), [ONE, FOUR], Steps("server", {}, tmp_path))
        assert starts == [0, 1, 2]


def test_which_server_is_started_first_alternates(monkeypatch, tmp_path: Path) -> None:
    """One that is faster by its start alone stays so for as long as it runs."""
    started = list[str]()

    @contextmanager
    def serving(name: str, command: list[str], port: int, *_: Any) -> Iterator[Contender]:
        assert str(port) in command
        started.append(name)
        yield Contender(name, f"http://127.0.0.1:{port}", psutil.Process(), 0.0)

    monkeypatch.setattr(bench, "serving", serving)
    for turn in range(3):
        with bench.both(Setup(tmp_path, "float32", 1), tmp_path, turn) as (ours, theirs):
            assert (ours.name, theirs.name) == ("demur", "vllm")
    assert started == ["demur", "vllm", "vllm", "demur", "demur", "vllm"]


def test_a_run_that_was_stopped_goes_on_with_the_passes_it_lacks(asked, tmp_path: Path) -> None:
    bench.compare(match(only=ONE.name), [ONE, FOUR], Steps("server", {}, tmp_path))
    assert {at_once for _, at_once in rounds(asked)} == {1}
    asked.clear()
    found = bench.compare(match(), [ONE, FOUR], Steps("server", {}, tmp_path))
    assert {at_once for _, at_once in rounds(asked)} == {4}
    assert {case: len(pairs) for case, pairs in found.items()} == {ONE: 3, FOUR: 3}


def test_a_case_that_is_not_complete_is_not_reported(asked, monkeypatch, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    steps = Steps("server", {}, tmp_path)
    run, ended = steps.run, list[str]()

    def until_second_pass(step: str, work: Any) -> Any:
        if step.endswith("pass 2"):
            raise Stopped
        ended.append(step)
        return run(step, work)

    monkeypatch.setattr(steps, "run", until_second_pass)
    with pytest.raises(Stopped):
        bench.compare(match(), [ONE, FOUR], steps)
    assert len(ended) == 2
    found = bench.compare(match(only=FOUR.name), [ONE, FOUR], Steps("server", {}, tmp_path))
    assert list(found) == [FOUR]


def test_a_connection_that_breaks_is_told_with_its_server() -> None:
    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def asked_once() -> None:
        async with await asyncio.start_server(close, "127.0.0.1", 0) as server, http_client() as client:
            base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            await ask(client, Contender("vllm", base, psutil.Process(), 0.0), FOUR, "q", Length(TOKENS))

    with pytest.raises(SystemExit, match=rf"vllm broke off, {FOUR.name}: \w+Error.* 0 pieces"):
        asyncio.run(asked_once())
