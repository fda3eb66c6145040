"""Grouping real answers: 100 MATH problems, 8 samples each, with their authors' verdicts.

python -m bench.grouping [FILE]. FILE, or ksample_math_100x8.jsonl in the folder DEMUR_BENCH_DATA names, holds one
problem a line: gold, responses, correct (QwenLM/Qwen2.5-Math, evaluation example).
Answers are read from the whole responses.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from bench.report import publish

from demur.core.equivalence import answer_key, same_answer
from demur.core.reader import read
from demur.core.scaling import Problem, scaling_curves
from demur.core.selection import Sample
from demur.core.stopping import Stopping, Vote
from demur.grading import Grader

NAME = "ksample_math_100x8.jsonl"
KS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Solved:
    """One problem: what was read from each sample, and whether its authors counted it as right."""

    gold: str
    answers: list[str | None]
    recorded: list[bool]


def load(path: Path) -> list[Solved]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Solved(row["gold"], [read(text, "response").answer for text in row["responses"]], row["correct"])
        for row in rows
    ]


def vote(keys: list[str | None], stopping: Stopping, error_budget: float = 0.05) -> Vote:
    ballot = Vote("majority", len(keys), stopping, error_budget)
    for i, key in enumerate(keys):
        ballot.add(Sample(i, key, key, None, "missing"))
        if ballot.over:
            break
    return ballot


def measure(problems: list[Solved], key: Callable[[str], str | None], grader: Grader) -> dict[str, float]:
    """Groups, Majority and stopping under one way to compare answers."""
    taken: list[float] = []
    grouped: list[list[str | None]] = []
    for problem in problems:
        start = time.perf_counter()
        grouped.append([None if answer is None else key(answer) for answer in problem.answers])
        taken.append(1e3 * (time.perf_counter() - start))
    valid = [[grader.correct(answer, problem.gold) for answer in problem.answers] for problem in problems]
    full = [vote(keys, "none").result().answer for keys in grouped]
    figures = {
        "groups a problem": float(np.mean([len({key for key in keys if key}) for keys in grouped])),
        "ms a problem, median": float(np.median(taken)),
        "ms a problem, highest": max(taken),
    }
    drawn = [Problem(keys, [None] * len(keys), verdicts) for keys, verdicts in zip(grouped, valid, strict=True)]
    for point in scaling_curves(drawn, KS):
        figures[f"majority@{point.k} %"] = 100 * float(point.figures["majority"].mean())
    for stopping in ("decided", "confident"):
        ended = [vote(keys, stopping) for keys in grouped]
        figures[f"{stopping}: samples used"] = float(np.mean([ballot.drawn for ballot in ended]))
        figures[f"{stopping}: other winner"] = sum(b.result().answer != f for b, f in zip(ended, full, strict=True))
    return figures


def agreement(problems: list[Solved], grader: Grader) -> dict[str, float]:
    """Our verdicts against the recorded ones, and the relation of a vote against that of grading."""
    samples = [(p.gold, answer, right) for p in problems for answer, right in zip(p.answers, p.recorded, strict=True)]
    pairs = [
        (a, b) for p in problems for a, b in combinations([answer for answer in p.answers if answer is not None], 2)
    ]
    apart = sum(grader.same(a, b) != (grader.key(a) == grader.key(b)) for a, b in pairs)
    return {
        "answers": len(samples),
        "unreadable": sum(answer is None for _, answer, _ in samples),
        "verdicts unlike the recorded": sum(grader.correct(answer, gold) != right for gold, answer, right in samples),
        "pairs of one problem": len(pairs),
        "pairs same by reading alone": sum(same_answer(a, b) for a, b in pairs),
        "pairs graded unlike grouped": apart,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help=f"the samples; default: {NAME} in $DEMUR_BENCH_DATA")
    path = parser.parse_args().file or Path(os.environ.get("DEMUR_BENCH_DATA", ".")) / NAME
    if not path.is_file():
        print(f"grouping: skipped, there is no {path}; name the file, or its folder in DEMUR_BENCH_DATA")
        return
    problems = load(path)
    with Grader() as grader:
        ways: dict[str, Callable[[str], str | None]] = {
            "as written": lambda answer: answer,
            "by reading": answer_key,
            "by value, first time": grader.key,
            "by value, remembered": grader.key,
        }
        results = {name: measure(problems, key, grader) for name, key in ways.items()}
        checked = agreement(problems, grader)
    figures = list(next(iter(results.values())))
    rows = [[figure, *(f"{results[way][figure]:.4g}" for way in results)] for figure in figures]
    title = f"Grouping {len(problems)} x {len(problems[0].answers)} answers; stopping with error budget 0.05"
    publish("grouping", title, ["", *results], rows, results)
    publish(
        "grouping_agreement", "Verdicts and pairs", ["", "count"], [[k, str(v)] for k, v in checked.items()], checked
    )


if __name__ == "__main__":
    main()
