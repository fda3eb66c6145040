"""Voting on simulated populations: what stopping saves and what it costs, every rule over k, how long a vote takes.

python -m bench.selection [--problems N]. A flip is a vote whose winner, when it stopped, was not the winner of all k.
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from math import isnan

import numpy as np
from bench.populations import POPULATIONS, Draw, draw, right_ones_late
from bench.report import publish
from scipy.stats import beta

from demur.answering.answer_equivalence import AnswerEquivalence, EquivalenceKey
from demur.core.equivalence import answer_key
from demur.core.scaling import Problem, scaling_curves
from demur.core.selection import RULES, Sample, SelectionRule, select
from demur.core.stopping import Stopping, Vote
from demur.core.vote_posterior import stopping_level
from demur.grading import Grader

SIZES = (16, 64)
SHOWN = ("calibrated", "calibrated, easy", "calibrated, hard", "calibrated, problem only")
SHOWN += ("over-confident", "under-confident", "half silent", "almost silent", "ties", "ties, coarse")
LATE = "calibrated, right answers late"
SHOWN += ("ties, rarely sure", "ties, mostly silent", LATE)
LAG = 0.5
"""Of right answers, in standard deviations of the time of arrival: the model of stopping does not hold here."""
MODES: tuple[tuple[Stopping, float], ...] = (
    ("decided", 0.01),
    ("confident", 0.01),
    ("confident", 0.05),
    ("confident", 0.1),
    ("confident", 0.25),
    ("confident", 0.5),
)
ANSWERS = (
    "1/2",
    r"\frac{1}{2}",
    "0.50",
    r"3\sqrt{2}",
    r"\sqrt{18}",
    "1,000",
    "1000.0",
    r"(2, \frac{\pi}{2})",
    "50\\%",
    "x^2+1",
)
KEYS = "abcdefghijklm"
SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class Row:
    """One rule, population, k and way to stop. Accuracies in percent, `flip_bound` the 95 % upper one."""

    population: str
    rule: SelectionRule
    k: int
    stopping: Stopping
    error_budget: float
    problems: int
    used: float
    saved: float
    flips: int
    flip_bound: float
    accuracy: float
    lost: float


def votes(samples: Draw) -> list[list[Sample]]:
    return [
        [_sample(i, KEYS[g], p) for i, (g, p) in enumerate(zip(groups, confidences, strict=True))]
        for groups, confidences in zip(samples.groups.tolist(), samples.confidences.tolist(), strict=True)
    ]


def _sample(i: int, key: str, p: float) -> Sample:
    return Sample(i, key, key, None, "missing") if isnan(p) else Sample(i, key, key, p, "value")


def run(samples: list[Sample], rule: SelectionRule, stopping: Stopping, error_budget: float) -> Vote:
    vote = Vote(rule, len(samples), stopping, error_budget)
    for sample in samples:
        vote.add(sample)
        if vote.over:
            break
    return vote


def measure(population: str, rule: SelectionRule, k: int, problems: int) -> list[Row]:
    problems *= 2 if population.startswith("ties") else 1  # these come closest to the budget
    rng = np.random.default_rng(SEED)
    samples = draw(POPULATIONS["calibrated" if population == LATE else population], problems, k, rng)
    drawn = votes(right_ones_late(samples, LAG, rng) if population == LATE else samples)
    full = [select(samples, rule).answer for samples in drawn]
    accuracy = 100 * full.count(KEYS[0]) / problems
    rows: list[Row] = []
    for stopping, budget in MODES:
        ended = [run(samples, rule, stopping, budget) for samples in drawn]
        early = [vote.result().answer for vote in ended]
        flips = sum(a != b for a, b in zip(early, full, strict=True))
        used = sum(vote.drawn for vote in ended) / problems
        bound = float(beta.ppf(0.95, flips + 1, problems - flips))
        lost = accuracy - 100 * early.count(KEYS[0]) / problems
        saved = 100 * (1 - used / k)
        rows.append(Row(population, rule, k, stopping, budget, problems, used, saved, flips, bound, accuracy, lost))
    return rows


def stopping(problems: int) -> None:
    """What each way to stop saves and costs."""
    jobs = list(product(SHOWN, RULES, SIZES))
    with ProcessPoolExecutor(2) as pool:
        futures = [pool.submit(measure, *job, problems) for job in jobs]
        results = [row for future in futures for row in future.result()]
    names = [f"{mode} {budget:g}" if mode == "confident" else mode for mode, budget in MODES]
    for k in SIZES:
        rows = [
            [f"{population}, {rule}", f"{of[0].accuracy:.1f}", *(_cell(row) for row in of)]
            for population, rule in product(SHOWN, RULES)
            if (of := [row for row in results if (row.population, row.rule, row.k) == (population, rule, k)])
        ]
        title = f"Stopping at k = {k}, {problems} problems: % samples saved, points lost, flips % (95 % upper bound)"
        data = [asdict(row) for row in results if row.k == k]
        publish(f"selection_{k}", title, ["population, rule", "accuracy %", *names], rows, data)


def _cell(row: Row) -> str:
    within = "" if row.flip_bound <= row.error_budget or row.stopping == "decided" else " !"
    flips = 100 * row.flips / row.problems
    return f"{row.saved:.0f}  {row.lost:+.1f}  {flips:.1f} ({100 * row.flip_bound:.1f}){within}"


def curves(problems: int) -> None:
    """Accuracy of every rule over k, expected over random subsets of 64 samples."""
    rows: list[list[str]] = []
    data: dict[str, dict[int, dict[str, float]]] = {}
    ks = (1, 2, 4, 8, 16, 32, 64)
    for population in ("calibrated", "calibrated, sharp", "calibrated, problem only", "over-confident"):
        samples = draw(POPULATIONS[population], problems, 64, np.random.default_rng(SEED))
        drawn = [
            Problem([KEYS[g] for g in groups], confidences, [g == 0 for g in groups])
            for groups, confidences in zip(samples.groups.tolist(), samples.confidences.tolist(), strict=True)
        ]
        points = scaling_curves(drawn, ks, subsets=128, seed=SEED)
        data[population] = {p.k: {name: 100 * float(of.mean()) for name, of in p.figures.items()} for p in points}
        for name in points[0].figures:
            rows.append([f"{population}, {name}@k", *(f"{data[population][k][name]:.1f}" for k in ks)])
    title = f"Accuracy in % over k: {problems} problems, up to 128 random subsets of 64 samples each"
    publish("selection_curves", title, ["population", *map(str, ks)], rows, data)


def latency(repeats: int = 300) -> None:
    """Processor time of one whole vote over 64 answers: reading them, counting, deciding after each, choosing."""
    stopping_level(64, 0.01)
    drawn = draw(POPULATIONS["calibrated"], repeats, 64, np.random.default_rng(SEED))
    rows: list[list[str]] = []
    data: dict[str, dict[str, float]] = {}
    for rule in RULES:
        taken: list[float] = []
        for groups, confidences in zip(drawn.groups.tolist(), drawn.confidences.tolist(), strict=True):
            start = time.process_time()
            vote = Vote(rule, 64, "confident", 0.01)
            for i, (g, p) in enumerate(zip(groups, confidences, strict=True)):
                answer = ANSWERS[(g + i % 2) % len(ANSWERS)]
                vote.add(Sample(i, answer_key(answer), answer, p, "value"))
            vote.result()
            taken.append(1e3 * (time.process_time() - start))
        data[rule] = _quantiles(taken)
        rows.append([rule, f"{data[rule]['median_ms']:.1f}", f"{data[rule]['p99_ms']:.1f}"])
    title = f"A vote over 64 answers, read, counted and judged after each: processor ms, {repeats} votes"
    publish("selection_latency", title, ["rule", "median", "99th percentile"], rows, data)


def words(vote: int) -> list[str]:
    """64 answers that need no algebra."""
    return [*(answer for answer in ANSWERS if answer != "x^2+1"), "twenty-one", "about 1.5 km", "Paris", f"{vote}"] * 5


def formulas(vote: int) -> list[str]:
    """64 answers, 8 distinct formulas of 4 values that no other vote holds."""
    n = vote + 2
    some = [
        (rf"\frac{{x^3-{n**3}}}{{x-{n}}}", f"x^2+{n}x+{n * n}"),
        (rf"\frac{{1}}{{x-{n}}}+\frac{{1}}{{x+{n}}}", rf"\frac{{2x}}{{x^2-{n * n}}}"),
        (rf"{n}\sin^2 x+{n}\cos^2 x+x", f"x+{n}"),
        (f"(x+{n})^2-x^2", f"{2 * n}x+{n * n}"),
    ]
    return [answer for pair in some for answer in pair] * 8


async def _served(answers: list[str], keys: AnswerEquivalence) -> tuple[float, float]:
    with keys.opened("", answers[0]) as key_of:
        return await _graded(answers, key_of)


async def _graded(answers: list[str], key_of: EquivalenceKey) -> tuple[float, float]:
    """Milliseconds that a whole vote takes, and those from its last answer to its result."""
    vote = Vote("majority", len(answers))
    began = last = time.perf_counter()
    for i, answer in enumerate(answers):
        last = time.perf_counter()
        vote.add(Sample(i, await key_of(answer), answer, 0.5, "value"))
    vote.result()
    ended = time.perf_counter()
    return 1e3 * (ended - began), 1e3 * (ended - last)


def _quantiles(milliseconds: Iterable[float]) -> dict[str, float]:
    times = list(milliseconds)
    return {"median_ms": float(np.median(times)), "p99_ms": float(np.quantile(times, 0.99))}


def graded_latency(repeats: int = 100) -> None:
    """Wall time of votes over 64 answers whose keys come from the grader, as they do when it is served: each answer is
    graded as it ends, so a caller waits for the last one only."""
    rows: list[list[str]] = []
    data: dict[str, dict[str, float]] = {}
    kinds: dict[str, Callable[[int], list[str]]] = {
        "numbers and words": words,
        "8 distinct formulas, first seen": formulas,
        "the same formulas, seen before": formulas,
        "the last of them is new": lambda vote: [*formulas(vote)[:63], rf"\frac{{x^{{7}}-{vote + 2}}}{{x+{vote + 3}}}"],
    }
    with Grader() as grader:
        for name, answers in kinds.items():
            taken = [asyncio.run(_served(answers(i)[:64], AnswerEquivalence(grader))) for i in range(repeats)]
            whole, last = (_quantiles(times) for times in zip(*taken, strict=True))
            data[name] = {f"whole_{q}": x for q, x in whole.items()} | {f"last_{q}": x for q, x in last.items()}
            rows.append([name, *(f"{median:.1f} / {p99:.1f}" for median, p99 in (whole.values(), last.values()))])
    title = f"A vote over 64 answers through the grader: wall ms, median / 99th percentile, {repeats} votes"
    publish("selection_graded_latency", title, ["answers", "all at once", "after the last answer"], rows, data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=1_000, help="simulated problems a population")
    problems = parser.parse_args().problems
    stopping(problems)
    curves(min(problems, 200))
    latency()
    graded_latency()


if __name__ == "__main__":
    main()
