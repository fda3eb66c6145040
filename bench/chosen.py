"""What the confidence of a chosen answer should be: candidates, measured on simulated populations.

python -m bench.chosen [--problems N]. The rules in demur.core.selection use what does best on the calibrated ones.
"""

import argparse
from collections.abc import Callable
from itertools import product
from math import exp, fsum, log

import numpy as np
from bench.populations import POPULATIONS, draw
from bench.report import publish

from demur.core.metrics import Rows, smece, tally
from demur.core.selection import RULES, Sample, SelectionRule, select

SIZES = (4, 16, 64)
CALIBRATED = tuple(name for name in POPULATIONS if name.startswith("calibrated"))
OTHERS = ("over-confident", "under-confident", "flattened")
KEYS = "abcdefghijklm"
SEED = 20_260_102

Members = list[float]
"""Stated confidences of the chosen group."""
Everybody = list[float]
"""Stated confidences of all samples of the vote."""


def log_odds(p: float) -> float:
    clipped = min(max(p, 0.01), 0.99)
    return log(clipped / (1 - clipped))


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


def mean(values: list[float]) -> float:
    return fsum(values) / len(values)


CANDIDATES: dict[str, Callable[[Members, Everybody], float]] = {
    "highest": lambda of, all_: max(of),
    "mean": lambda of, all_: mean(of),
    "mean of log odds": lambda of, all_: sigmoid(mean([log_odds(p) for p in of])),
    "pooled odds": lambda of, all_: sigmoid(fsum(log_odds(p) for p in of)),
    "noisy or": lambda of, all_: 1 - exp(fsum(log(1 - min(p, 0.99)) for p in of)),
    "noisy or, shared difficulty": lambda of, all_: 1 - (1 - min(mean(of), 0.99)) ** len(of) ** 0.5,
    "vote share": lambda of, all_: len(of) / len(all_),
    "share of confidence": lambda of, all_: fsum(of) / max(fsum(all_), 1e-9),
    "mean x vote share": lambda of, all_: mean(of) * len(of) / len(all_),
    "mean and vote share, averaged": lambda of, all_: (mean(of) + len(of) / len(all_)) / 2,
    "mean and share of confidence, averaged": lambda of, all_: (mean(of) + fsum(of) / max(fsum(all_), 1e-9)) / 2,
}


def measure(population: str, rule: SelectionRule, k: int, problems: int) -> dict[str, tuple[float, float]]:
    """Candidate -> (smECE, Brier score) over the chosen answers."""
    samples = draw(POPULATIONS[population], problems, k, np.random.default_rng(SEED))
    stated: dict[str, list[float]] = {name: [] for name in CANDIDATES}
    right: list[bool] = []
    for groups, confidences in zip(samples.groups.tolist(), samples.confidences.tolist(), strict=True):
        voters = [
            Sample(i, KEYS[g], KEYS[g], p, "value") for i, (g, p) in enumerate(zip(groups, confidences, strict=True))
        ]
        chosen = select(voters, rule).groups[0]
        right.append(chosen.key == KEYS[0])
        for name, candidate in CANDIDATES.items():
            stated[name].append(min(max(candidate([confidences[i] for i in chosen.members], confidences), 0.0), 1.0))
    return {name: _scores(values, right) for name, values in stated.items()}


def _scores(stated: list[float], right: list[bool]) -> tuple[float, float]:
    rows = Rows.of(stated, right)
    return float(smece(tally(rows))), float(np.mean((np.array(stated) - np.array(right)) ** 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=1_500, help="simulated problems a population")
    problems = parser.parse_args().problems
    results = {
        (population, rule, k): measure(population, rule, k, problems)
        for population, rule, k in product((*CALIBRATED, *OTHERS), RULES, SIZES)
    }
    for rule in RULES:
        rows = [
            [name, *(_averaged(results, rule, name, of) for of in (CALIBRATED, *((other,) for other in OTHERS)))]
            for name in CANDIDATES
        ]
        rows.sort(key=lambda row: row[1])
        title = f"Confidence of the answer chosen by {rule}: smECE / Brier over k = 4, 16, 64, {problems} problems each"
        columns = ["candidate", f"{len(CALIBRATED)} calibrated", *OTHERS]
        data = {
            name: {
                f"{population}, k = {k}": results[population, rule, k][name]
                for population, k in product((*CALIBRATED, *OTHERS), SIZES)
            }
            for name in CANDIDATES
        }
        publish(f"chosen_{rule}", title, columns, rows, data)


def _averaged(
    results: dict[tuple[str, SelectionRule, int], dict[str, tuple[float, float]]],
    rule: SelectionRule,
    name: str,
    populations: tuple[str, ...],
) -> str:
    scores = np.array([results[population, rule, k][name] for population, k in product(populations, SIZES)])
    error, brier = scores.mean(axis=0)
    return f"{error:.3f} / {brier:.4f}"


if __name__ == "__main__":
    main()
