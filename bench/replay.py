"""Voting replayed on the samples of a real run: what stopping saves and costs, and what the confidence should be.

python -m bench replay RUN [--orders N] [--seed N], RUN being the folder of a finished `demur evaluate FILE --samples
16`. Each question's samples arrive in several random orders. A flip is a vote whose winner, when it stopped, was not
the winner of all k.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np
from bench.chosen import CANDIDATES
from bench.report import publish
from scipy.stats import beta

from demur.core.metrics import Rows, smece, tally
from demur.core.selection import RULES, Sample, SelectionRule, select
from demur.core.stopping import Stopping, Vote
from demur.evaluation.errors import EvaluationError
from demur.evaluation.grade import Graded
from demur.evaluation.grades_file import read_graded

MODES: tuple[tuple[Stopping, float], ...] = (
    ("none", 0.01),
    ("decided", 0.01),
    ("confident", 0.01),
    ("confident", 0.05),
    ("confident", 0.25),
    ("confident", 0.5),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """The k samples of one question, and which of them are right. `id` is the place of a sample in `right`."""

    samples: tuple[Sample, ...]
    right: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """One vote when it stopped. `members` and `everybody` are the stated confidences of the winners and of all."""

    problem: int
    used: int
    flipped: bool
    right: bool
    members: tuple[float, ...]
    everybody: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """One rule and way to stop: votes are problems times orders, `flip_bound` is the 95 % upper one of a vote's."""

    rule: SelectionRule
    stopping: Stopping
    error_budget: float
    k: int
    problems: int
    votes: int
    accuracy: float
    used: float
    flips: int
    flip_bound: float
    without_confidence: int


def problems_of(graded: Iterable[Graded]) -> tuple[list[Problem], int]:
    """The problems that have all samples, all of them graded, and how many are left out. Raises ValueError."""
    by_id: dict[str, list[Graded]] = {}
    for one in graded:
        if one.key.risk_threshold is not None:
            raise ValueError("an explicit-risk run states no confidence to vote with")
        by_id.setdefault(one.key.problem, []).append(one)
    k = max(map(len, by_id.values()), default=0)
    if k < 2:
        raise ValueError("the run has one sample a question: ask with --samples 16 and without --selection")
    whole = [of for of in by_id.values() if len(of) == k and all(one.verdict.correct is not None for one in of)]
    if not whole:
        raise ValueError("no question has all of its samples graded")
    return [_problem(of) for of in whole], len(by_id) - len(whole)


def _problem(graded: Sequence[Graded]) -> Problem:
    samples = tuple(
        Sample(i, one.group, one.output.answer if one.group else None, one.output.confidence, one.output.state)
        for i, one in enumerate(graded)
    )
    return Problem(samples, tuple(bool(one.verdict.correct) for one in graded))


def replay(
    problem: Problem, number: int, order: Sequence[int], rule: SelectionRule, stopping: Stopping, error_budget: float
) -> Ended:
    """One vote over the samples in this order, until it may stop."""
    vote = Vote(rule, len(problem.samples), stopping, error_budget)
    for i in order:
        vote.add(problem.samples[i])
        if vote.over:
            break
    result, full = vote.result(), select(problem.samples, rule)
    chosen = result.groups[0] if result.groups else None
    members = () if chosen is None else tuple(_stated(problem.samples[i] for i in chosen.members))
    return Ended(
        problem=number,
        used=vote.drawn,
        flipped=(chosen.key if chosen else None) != (full.groups[0].key if full.groups else None),
        right=result.sample is not None and problem.right[result.sample.id],
        members=members,
        everybody=tuple(_stated(vote.samples)),
    )


def _stated(samples: Iterable[Sample]) -> list[float]:
    return [sample.confidence for sample in samples if sample.confidence is not None]


def replay_all(
    problems: Sequence[Problem],
    rule: SelectionRule,
    stopping: Stopping,
    error_budget: float,
    *,
    orders: int,
    seed: int,
) -> list[Ended]:
    """Every problem in `orders` random orders, the same ones for every rule and way to stop."""
    rng, k = np.random.default_rng(seed), len(problems[0].samples)
    return [
        replay(problem, number, rng.permutation(k).tolist(), rule, stopping, error_budget)
        for number, problem in enumerate(problems)
        for _ in range(orders)
    ]


def cost(ended: Sequence[Ended], k: int, rule: SelectionRule, stopping: Stopping, error_budget: float) -> Cost:
    """What these votes came to.

    The orders of one problem are no independent votes. The bound takes a problem for one vote that flips as often as
    its orders do on average: wide, and true however much they have in common.
    """
    problems, votes = len({one.problem for one in ended}), len(ended)
    flips = sum(one.flipped for one in ended)
    of_one = flips / votes * problems
    return Cost(
        rule=rule,
        stopping=stopping,
        error_budget=error_budget,
        k=k,
        problems=problems,
        votes=votes,
        accuracy=sum(one.right for one in ended) / votes,
        used=sum(one.used for one in ended) / votes,
        flips=flips,
        flip_bound=1.0 if of_one >= problems else float(beta.ppf(0.95, of_one + 1, problems - of_one)),
        without_confidence=sum(not one.members for one in ended),
    )


def scores(ended: Sequence[Ended]) -> dict[str, tuple[float, float]]:
    """Candidate -> (smECE, Brier score) over the chosen answers that have a stated confidence; empty without any."""
    stated = [one for one in ended if one.members]
    if not stated:
        return {}
    right = [one.right for one in stated]
    return {name: _scores(name, stated, right) for name in CANDIDATES}


def _scores(name: str, ended: Sequence[Ended], right: list[bool]) -> tuple[float, float]:
    values = [min(max(CANDIDATES[name](list(one.members), list(one.everybody)), 0.0), 1.0) for one in ended]
    rows = Rows.of(values, right, [one.problem for one in ended])
    return float(smece(tally(rows))), float(np.mean((np.array(values) - np.array(right)) ** 2))


def mode_name(stopping: Stopping, error_budget: float) -> str:
    return f"{stopping} {error_budget:g}" if stopping == "confident" else stopping


def show(run: str, problems: Sequence[Problem], left_out: int, orders: int, seed: int) -> None:
    """Replay every rule and way to stop, print the tables and write the JSON."""
    k = len(problems[0].samples)
    ended: dict[tuple[SelectionRule, tuple[Stopping, float]], list[Ended]] = {
        (rule, mode): replay_all(problems, rule, *mode, orders=orders, seed=seed)
        for rule, mode in product(RULES, MODES)
    }
    costs = {(rule, mode): cost(votes, k, rule, *mode) for (rule, mode), votes in ended.items()}
    about = {"run": run, "k": k, "problems": len(problems), "left_out": left_out, "orders": orders, "seed": seed}
    of = f"{run}: {len(problems)} problems ({left_out} left out), {orders} orders each"
    columns = ["rule, stopping", "accuracy %", f"samples of {k}", "flips %", "95 % upper bound"]
    rows = [[f"{rule}, {mode_name(*mode)}", *_cells(costs[rule, mode])] for rule, mode in costs]
    publish("replay", f"Votes replayed, {of}", columns, rows, {**about, "votes": [asdict(c) for c in costs.values()]})
    for rule in RULES:
        measured = {mode_name(*mode): scores(ended[rule, mode]) for mode in MODES}
        rows = [[name, *(_pair(by.get(name)) for by in measured.values())] for name in CANDIDATES]
        rows.sort(key=lambda row: row[1])
        title = f"Confidence of the answer chosen by {rule}: smECE / Brier, {of}"
        publish(f"replay_{rule}", title, ["candidate", *measured], rows, {**about, "candidates": measured})


def _cells(one: Cost) -> list[str]:
    flips, bound = 100 * one.flips / one.votes, 100 * one.flip_bound
    return [f"{100 * one.accuracy:.1f}", f"{one.used:.1f}", f"{flips:.2f}", f"{bound:.2f}"]


def _pair(pair: tuple[float, float] | None) -> str:
    return "–" if pair is None else f"{pair[0]:.3f} / {pair[1]:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench replay", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a finished demur evaluate with several samples a question")
    parser.add_argument("--orders", type=int, default=20, help="random orders of each question's samples")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.orders < 1:
        parser.error("--orders must be at least 1")
    try:
        problems, left_out = problems_of(read_graded(arguments.run))
    except (EvaluationError, ValueError) as error:
        raise SystemExit(f"bench replay: {arguments.run}: {error}") from None
    show(arguments.run.resolve().name, problems, left_out, arguments.orders, arguments.seed)


if __name__ == "__main__":
    main()
