"""The real grading process: formulas by value, hostile formulas, threads, asyncio, and a worker that dies."""

import asyncio
import csv
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from demur.core.equivalence import answer_key, same_answer
from demur.grading import Grader, GraderError, TookTooLong
from demur.grading.grader import LIMIT
from demur.grading.process import Process

DATA = Path(__file__).parents[1] / "data" / "equivalence"
TAME_BUT_ENDLESS = [r"99^{999}^{999}x", r"x^{999!}", r"\lfloor 99^{999x} \rfloor", "^".join("x" * 40)]
"""They pass the screen, and nobody waits for their value."""


def pairs() -> list[tuple[str, str, str]]:
    with open(DATA / "pairs.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(row["verdict"], row["a"], row["b"]) for row in rows]


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as grader:
        yield grader


@pytest.mark.parametrize(("verdict", "a", "b"), pairs())
def test_every_pair_of_the_table_in_both_orders(grader: Grader, verdict: str, a: str, b: str) -> None:
    assert grader.same(a, b) is (verdict == "same")
    assert grader.same(b, a) is (verdict == "same")


PIECES = [
    "x",
    "y",
    "2",
    "1/2",
    "+",
    "-",
    "=",
    "<",
    r"\le ",
    r"\ne ",
    "(",
    ")",
    "[",
    "]",
    ",",
    r"\cup ",
    r"\infty ",
    "^2",
    r"\frac{1}{x}",
]
PIECES += [
    " km",
    " m",
    " h ",
    " min",
    "°C",
    "%",
    "$",
    "März",
    "marzo ",
    "2020",
    " 5",
    ".",
    ":30",
    " PM",
    "|",
    r"\sqrt{2}",
    r"\pi ",
    "3,5",
]
ANSWERS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join)


@settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(ANSWERS, ANSWERS)
def test_any_two_answers_are_the_same_in_both_orders_or_in_neither(grader: Grader, a: str, b: str) -> None:
    assert grader.same(a, b) is grader.same(b, a)
    assert grader.key(a) is None or grader.same(a, a)


MISREAD = [("11_2", "11"), ("12:30", "12"), ("1e3", "1"), ("1e3", "3e"), ("2c", "2"), ("2ab", "2"), ("no", "on")]
MISREAD += [("listen", "silent"), ("2024-03-05", "2016"), ("pi/3", r"\frac{ip}{3}"), ("{3, 4}", "(4, 3)")]
ABSORBED = [("10^{20}+x", "10^{20}+y"), ("x^{999}", "x^{998}"), ("x^{-999}", "x^{-998}"), ("e^{-99}x", "e^{-99}x^2")]
ABSORBED += [(r"\binom{999}{500}^{999}", r"y+\binom{999}{500}^{999}"), (r"10^{30}+\pi", "10^{30}"), ("a+b", "a+c")]


@pytest.mark.parametrize(("a", "b"), [*MISREAD, *ABSORBED])
def test_what_algebra_alone_would_get_wrong(grader: Grader, a: str, b: str) -> None:
    assert not grader.same(a, b)
    assert not grader.same(b, a)
    assert grader.key(a) != grader.key(b)


def test_a_decimal_is_the_number_it_writes_and_no_rounding_of_another(grader: Grader) -> None:
    assert not grader.same("0.333333", r"\frac{1}{3}")
    assert not grader.same("1.414214", r"\sqrt{2}")
    assert grader.same("0.5x", r"\frac{x}{2}")


def test_numbers_have_one_key_whoever_works_them_out(grader: Grader) -> None:
    assert grader.key(r"\log_{2} 8") == answer_key("3")
    assert grader.key(r"\sin 30^\circ") == answer_key("0.5")
    assert grader.key(r"2\sin 60^\circ") == answer_key(r"\sqrt{3}")


@pytest.mark.parametrize("formula", TAME_BUT_ENDLESS, ids=lambda formula: formula[:12])
def test_an_endless_formula_is_compared_as_written(grader: Grader, formula: str) -> None:
    assert grader.key(formula) == answer_key(formula)
    assert grader.same(formula, f"${formula}$")
    assert not grader.same(formula, "2x+1")
    assert grader.same("2x+1", "1+2x")


def test_a_tower_that_got_past_the_screen_is_stopped_and_the_worker_goes_on(grader: Grader) -> None:
    with pytest.raises(TookTooLong):
        grader.ask("canonical", "9^{9^{9^{9}}}")
    assert grader.ask("canonical", "3^{2}x")[0] == grader.ask("canonical", "9x")[0]


def test_hostile_answers_poison_no_vote_in_any_order(grader: Grader) -> None:
    honest = ["(x-1)(x+1)", "x^2-1", r"\frac{1}{2}", "0.5"]
    answers = [honest[0], *TAME_BUT_ENDLESS, honest[1], "9^{9^9}", "{" * 50_000 + "}" * 50_000, *honest[2:]]
    for shift in range(0, len(answers), 3):
        rotated = answers[shift:] + answers[:shift]
        groups = dict(zip(rotated, grader.group(rotated), strict=True))
        assert groups[honest[0]] == groups[honest[1]]
        assert groups[honest[2]] == groups[honest[3]]
        assert len(set(groups.values())) == len(answers) - 2


def test_formulas_are_grouped_alike_in_every_order(grader: Grader) -> None:
    answers = ["2k+1", "1+2k", "k+k+1", r"\frac{4k+2}{2}", "2k"]
    for order in itertools.permutations(answers):
        groups = dict(zip(order, grader.group(order), strict=True))
        assert len({groups[answer] for answer in answers[:4]}) == 1
        assert groups["2k"] != groups["2k+1"]


COSTLY = [r"\frac{x^3-1}{x-1}", "x^2+x+1", r"\frac{1}{x-1}+\frac{1}{x+1}", r"\frac{2x}{x^2-1}"]


@pytest.mark.parametrize("shift", [0, 4])
def test_endless_formulas_take_no_time_from_honest_ones_after_them(shift: int) -> None:
    """Nothing is known beforehand: each order has a grader of its own."""
    answers = [*TAME_BUT_ENDLESS, *COSTLY]
    rotated = answers[shift:] + answers[:shift]
    with Grader() as fresh:
        groups = dict(zip(rotated, fresh.group(rotated), strict=True))
    assert groups[COSTLY[0]] == groups[COSTLY[1]]
    assert groups[COSTLY[2]] == groups[COSTLY[3]]
    assert len(set(groups.values())) == len(answers) - 2


def test_an_answer_of_many_endless_formulas_costs_as_much_as_a_few(grader: Grader) -> None:
    endless = [f"x^{{9{i}!}}" for i in range(10, 70)]
    start = time.perf_counter()
    key = grader.key(", ".join(endless))
    taken = time.perf_counter() - start
    assert taken < len(endless) * LIMIT / 2
    assert key == answer_key(", ".join(endless)) == grader.key(", ".join(endless))


def test_what_took_too_long_is_remembered_as_such(grader: Grader) -> None:
    for _ in range(2):
        with pytest.raises(TookTooLong):
            grader.ask("canonical", "7^{7^{7^{7}}}")


def test_any_thread_may_grade(grader: Grader) -> None:
    with ThreadPoolExecutor(8) as threads:
        verdicts = list(threads.map(lambda i: grader.same(f"{i}x+{i}", f"{i}(x+1)"), range(2, 34)))
    assert all(verdicts)


def test_asyncio_is_not_held_up(grader: Grader) -> None:
    async def main() -> tuple[list[bool], bool]:
        beats = asyncio.Event()
        asyncio.get_running_loop().call_soon(beats.set)
        grading = [asyncio.ensure_future(grader.run(grader.same, f"{i}y+{i}", f"{i}(y+1)")) for i in range(2, 10)]
        await beats.wait()
        beat_first = not all(future.done() for future in grading)
        return await asyncio.gather(*grading), beat_first

    assert asyncio.run(main()) == ([True] * 8, True)


def test_several_accepted_answers_and_dictionaries(grader: Grader) -> None:
    truth = {"target": [r"x^2-1", "none"], "solution": "It factors."}
    assert grader.correct("(x+1)(x-1)", truth)
    assert grader.correct("None.", truth)
    assert not grader.correct("x^2+1", truth)
    assert not grader.correct(None, truth)


def test_a_worker_that_is_killed_is_replaced(grader: Grader) -> None:
    os.kill(grader.pids[0], signal.SIGKILL)
    assert grader.same("3z", "z+2z")


def test_a_grader_that_is_not_running_says_so() -> None:
    grader = Grader()
    grader.close()
    assert grader.same("1/2", "0.5")  # needs no algebra
    with pytest.raises(GraderError, match="start"):
        grader.same("2x", "x+x")
    with pytest.raises(GraderError, match="start"):
        asyncio.run(grader.run(grader.same, "1/2", "0.5"))


def test_a_grader_needs_at_least_one_worker() -> None:
    with pytest.raises(ValueError, match="workers"):
        Grader(workers=0)


def test_closing_ends_every_process() -> None:
    grader = Grader(workers=2)
    grader.start()
    pids = grader.pids
    assert len(pids) == 2
    grader.close()
    grader.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    with pytest.raises(GraderError, match="start"):
        grader.same("2x", "x+x")


def test_neither_the_core_nor_the_grader_imports_sympy_here() -> None:
    check = "import sys, demur.core.equivalence, demur.grading; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0


def test_without_algebra_formulas_are_compared_as_written() -> None:
    assert same_answer("x^{2} + 1", "x^2+1")
    assert not same_answer("x^2+1", "1+x^2")


def test_closing_does_not_wait_for_a_worker_that_hangs() -> None:
    grader = Grader().start()
    [pid] = grader.pids
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(grader.key, r"\frac{x}{3}+\sqrt{5}")
        while grader.pids:  # until the worker is in use
            time.sleep(0.001)
        grader.close()
        with pytest.raises(GraderError):
            asked.result(timeout=5)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_machine_that_is_too_busy_is_not_called_a_missing_package():
    with pytest.raises(GraderError, match="had 0 seconds: is the machine very busy"):
        Process().wait_until_ready(seconds=0.0)
